package session

import (
	"errors"

	"dbg/image"
	"dbg/symbols"
	"dbg/target"
	"dbg/target/kinds"
)

// AttachBriefly attaches to a process so that it is stopped for as short a time as possible.
// Reading debug information takes longer than everything else. So the process is stopped twice:
// first only to collect its PCs. Then it runs while the debug information for these is read. The
// second stop is the real attach: it finds most of the code of the first stop, and reads only what
// is new.
func (s *Session) AttachBriefly(pid int) error {
	return s.try(func() error {
		if s.tgt != nil {
			return errors.New("a program is already being debugged")
		}
		p, err := s.openProcess(kinds.Spec{Attach: &kinds.Attach{PID: pid}})
		if err != nil {
			return err
		}
		s.tgt, s.proc = p, p
		s.setState(IsStopped)
		s.space = &space{s: s}
		places := s.places()
		err = p.Close()
		s.forgetTarget()
		if err != nil {
			return err
		}
		for at := range places {
			at.read()
		}
		if p, err = s.openProcess(kinds.Spec{Attach: &kinds.Attach{PID: pid}}); err != nil {
			return err
		}
		s.adopt(p, p)
		return nil
	})
}

// place is an address in a file's code where a frame was seen.
type place struct {
	sym  *symbols.Module
	addr image.Addr
}

// places unwinds all threads without symbols, and returns the places of their frames.
func (s *Session) places() map[place]bool {
	const (
		deepest = 256     // frames of a thread: deeper frames mostly repeat
		most    = 100_000 // all places together
	)
	out := map[place]bool{}
	pcs := make([]target.Addr, deepest)
	s.refreshModulesQuietly()
	for _, t := range s.tgt.Threads() {
		regs, err := s.tgt.Registers(t.ID)
		if err != nil {
			continue
		}
		for _, pc := range pcs[:s.unwinder().Walk(&regs).Trace(pcs)] {
			if m := s.modules.find(pc); m != nil && m.Symbols != nil && len(out) < most {
				out[place{m.Symbols, m.fileAddr(pc)}] = true
			}
		}
	}
	return out
}

// refreshModulesQuietly updates the modules without publishing events.
func (s *Session) refreshModulesQuietly() {
	s.quiet = true
	s.refreshModules()
	s.quiet = false
}

// read makes the file's symbols read the information that a backtrace needs for the place.
func (at place) read() {
	calls := at.sym.CallsAt(at.addr)
	for i := range calls {
		for _, v := range at.sym.LocalsOf(&calls[i], at.addr) {
			if v.Param {
				v.Locate(at.addr)
				if v.Type != nil {
					v.Type.Strip()
				}
			}
		}
	}
	if len(calls) == 0 {
		at.sym.SymbolAt(at.addr)
	}
}
