package session

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"dbg/target"
	"dbg/target/elfcore"
)

// CoreOptions specifies what GenerateCore writes.
type CoreOptions struct {
	// IgnoreFilter ignores /proc/PID/coredump_filter and uses the kernel's default.
	IgnoreFilter bool
	// Excluded includes memory that the program excluded with madvise(MADV_DONTDUMP).
	Excluded bool
}

// GenerateCore writes a core file of the stopped process. The file appears when it is complete.
func (s *Session) GenerateCore(path string, opt CoreOptions) (elfcore.Written, error) {
	return ask(s, func() (elfcore.Written, error) {
		if err := s.needProcess(); err != nil {
			return elfcore.Written{}, err
		}
		c, err := s.coreContents(opt)
		if err != nil {
			return elfcore.Written{}, err
		}
		return elfcore.Write(s.ctx, path, c)
	})
}

// coreContents collects what a core file has.
func (s *Session) coreContents(opt CoreOptions) (*elfcore.Contents, error) {
	regions, ok1 := s.tgt.(target.RegionReader)
	states, ok2 := s.tgt.(target.StateReader)
	auxv, ok3 := s.tgt.(target.AuxvReader)
	if !ok1 || !ok2 || !ok3 {
		return nil, errors.New("this target can't be written to a core file")
	}
	c := &elfcore.Contents{Memory: s.tgt, Auxv: auxv.AuxvBytes(), Filter: elfcore.DefaultFilter, Excluded: opt.Excluded, Touched: regions.Touched}
	var err error
	if c.Process, err = s.processInfo(); err != nil {
		return nil, err
	}
	if c.Regions, err = regions.Regions(); err != nil {
		return nil, err
	}
	if text, err := s.procFile("coredump_filter"); err == nil && !opt.IgnoreFilter {
		if v, err := strconv.ParseUint(strings.TrimSpace(string(text)), 16, 32); err == nil {
			c.Filter = elfcore.Filter(v)
		}
	}
	for _, t := range s.tgt.Threads() {
		st, err := states.ThreadState(t.ID)
		if err != nil {
			return nil, err
		}
		w := elfcore.WrittenThread{ID: t.ID, State: st}
		if t.Signal != nil {
			w.Signal = t.Signal.Number
		}
		c.Threads = append(c.Threads, w)
	}
	// Readers show the first thread: the one that stopped the process.
	s.ctl.mu.Lock()
	first := s.ctl.stop.Thread
	s.ctl.mu.Unlock()
	if i := slices.IndexFunc(c.Threads, func(t elfcore.WrittenThread) bool { return t.ID == first }); i > 0 {
		t := c.Threads[i]
		c.Threads = slices.Insert(slices.Delete(c.Threads, i, i+1), 0, t)
	}
	return c, nil
}
