package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"

	"dbg/arch"
	"dbg/frames"
	"dbg/image"
	"dbg/internal/fault"
	"dbg/symbols"
	"dbg/target"
)

// stopCache holds results about the current stop. It is dropped when the program continues, or when
// its memory or registers are changed.
type stopCache struct {
	walks        map[target.ThreadID]*walk
	spare        *walk             // used by callerOf
	recent       []target.ThreadID // the threads in walks, the latest last
	maps         []target.Mapping
	mapsRead     bool
	threadsFresh bool
	calls        map[place][]symbols.Call // recursion needs the same places again and again
	variables    map[*symbols.Call][]*symbols.Variable
	stack        stackCache
	tails        map[tailKey]tailAnswer
}

// callsAt returns the chain of calls at a place.
func (s *Session) callsAt(at place) []symbols.Call {
	const most = 10_000
	calls, ok := s.cache.calls[at]
	if !ok {
		calls = at.sym.CallsAt(at.addr)
		if s.cache.calls == nil || len(s.cache.calls) > most {
			s.cache.calls, s.cache.variables = map[place][]symbols.Call{}, map[*symbols.Call][]*symbols.Variable{}
		}
		s.cache.calls[at] = calls
	}
	return calls
}

// keepFrames is the number of frames of a thread that stay in memory with their registers. Deeper
// frames, which are rare but real (runaway recursion), are found by another walk when they are
// needed. So a million frames cost time, but no gigabytes.
const keepFrames = 4096

// keepInAll is the same limit for all threads together. With a thousand threads, only the latest
// walks are kept, and the others are repeated.
const keepInAll = keepFrames

// walk is the backtrace of one thread, as far as it was requested.
type walk struct {
	s      *Session
	thread target.ThreadID
	regs   arch.Registers
	walk   *frames.Walk
	next   func() (*frames.Frame, error, bool)
	stop   func()
	kept   []Frame // the first keepFrames levels
	queue  []Frame // levels of the last machine frame that were not handed out yet
	last   Frame   // the outermost level of the last machine frame
	count  int     // the number of levels that pull has returned
	end    *frames.End
	gone   bool // drop was called
}

// drop ends a walk. It does nothing for nil.
func (w *walk) drop() {
	if w != nil && !w.gone {
		w.stop()
		w.gone = true
	}
}

// newWalk starts a backtrace.
func (s *Session) newWalk(t target.ThreadID) (*walk, error) {
	regs, err := s.tgt.Registers(t)
	if err != nil {
		return nil, err
	}
	w := &walk{s: s, thread: t, regs: regs}
	w.walk = s.unwinder().Walk(&w.regs)
	w.next, w.stop = iter.Pull2(func(yield func(*frames.Frame, error) bool) {
		fault.Protect() // this runs on a goroutine of its own
		w.through(yield)
	})
	return w, nil
}

// through yields the machine frames of a walk. Past a called function's return it goes on with the
// registers that the thread had before.
func (w *walk) through(yield func(*frames.Frame, error) bool) {
	base := 0
	for depth := 0; ; depth++ {
		var below *call
		last := 0
		for f, err := range w.walk.Frames(context.Background()) {
			if err != nil {
				yield(f, err)
				return
			}
			if base > 0 {
				f = f.Clone()
				f.Index += base
			}
			last = f.Index
			if sp, ok := f.Regs.SP(); ok && len(w.s.calls) > 0 {
				below = w.s.callBelow(w.thread, f.PC, sp)
			}
			if !yield(f, nil) {
				return
			}
			if below != nil {
				break
			}
		}
		if below == nil || depth > len(w.s.calls) {
			return
		}
		base = last + 1
		record := w.walk.Record
		w.walk = w.s.unwinder().Walk(&below.regs)
		w.walk.Record = record
	}
}

// pull returns the next level, or false at the end.
func (w *walk) pull() (Frame, bool) {
	if len(w.queue) == 0 {
		if w.end != nil {
			return Frame{}, false
		}
		mf, err, ok := w.next()
		if !ok || err != nil {
			w.finish(err)
			return Frame{}, false
		}
		w.queue = w.levels(mf.Clone(), w.count)
	}
	f := w.queue[0]
	w.queue = w.queue[1:]
	w.count++
	if len(w.kept) < keepFrames && f.Level == len(w.kept) {
		w.kept = append(w.kept, f)
	}
	return f, true
}

// finish records why there are no more frames, and releases the memory of the walk.
func (w *walk) finish(err error) {
	end := w.walk.End()
	if err != nil {
		end = frames.End{Reason: frames.Failed, Err: err}
	}
	w.end = &end
	w.stop()
	w.walk, w.next, w.stop = nil, nil, func() {}
}

// walkOf returns a thread's walk for this stop.
func (s *Session) walkOf(t target.ThreadID) (*walk, error) {
	if err := s.needStopped(); err != nil {
		return nil, err
	}
	if w := s.cache.walks[t]; w != nil {
		return w, nil
	}
	if !s.hasThread(t) {
		return nil, fmt.Errorf("%w: %d", target.ErrNoThread, t)
	}
	w, err := s.newWalk(t)
	if err != nil {
		return nil, err
	}
	if s.cache.walks == nil {
		s.cache.walks = map[target.ThreadID]*walk{}
	}
	s.limitWalks()
	s.cache.walks[t], s.cache.recent = w, append(s.cache.recent, t)
	return w, nil
}

// limitWalks drops old walks to make room for another one.
func (s *Session) limitWalks() {
	kept := 0
	for i := len(s.cache.recent) - 1; i >= 0; i-- {
		if kept += 1 + len(s.cache.walks[s.cache.recent[i]].kept); kept <= keepInAll {
			continue
		}
		for _, t := range s.cache.recent[:i+1] {
			s.cache.walks[t].drop()
			delete(s.cache.walks, t)
		}
		s.cache.recent = slices.Clone(s.cache.recent[i+1:])
		return
	}
}

// dropCache drops the cached results about the stop.
func (s *Session) dropCache() {
	s.dropWalks()
	s.cache = stopCache{}
	s.views.Changed()
	s.stops++
}

// dropWalks drops all backtraces. An unfinished walk has a coroutine, which stop ends.
func (s *Session) dropWalks() {
	for _, w := range s.cache.walks {
		w.drop()
	}
	s.cache.spare.drop()
	s.cache.walks, s.cache.recent, s.cache.spare = nil, nil, nil
}

// ErrNoFrame means that the backtrace is not that deep.
var ErrNoFrame = errors.New("no frame at that level")

// frame returns one level of a thread's backtrace.
func (s *Session) frame(t target.ThreadID, level int) (Frame, error) {
	if level < 0 {
		return Frame{}, ErrNoFrame
	}
	w, err := s.walkOf(t)
	if err != nil {
		return Frame{}, err
	}
	if level < len(w.kept) {
		return w.kept[level], nil
	}
	if level < w.count { // the walk is beyond it and did not keep it: walk again
		if w, err = s.newWalk(t); err != nil {
			return Frame{}, err
		}
		defer w.drop()
	}
	for {
		if err := s.ctx.Err(); err != nil {
			return Frame{}, err
		}
		f, ok := w.pull()
		if !ok {
			return Frame{}, ErrNoFrame
		}
		if f.Level == level {
			return f, nil
		}
	}
}

// EachFrame calls yield with the levels of a thread's backtrace from start on, until yield returns
// false. It returns why the walk ended, or nil if yield ended it. yield must not call the session.
func (s *Session) EachFrame(t target.ThreadID, start int, yield func(*Frame) bool) (*frames.End, error) {
	return s.eachFrame(t, start, false, yield)
}

// eachFrame is EachFrame. With evidence, it makes a walk of its own.
func (s *Session) eachFrame(t target.ThreadID, start int, evidence bool, yield func(*Frame) bool) (*frames.End, error) {
	return ask(s, func() (*frames.End, error) {
		w, err := s.walkOf(t)
		if err != nil {
			return nil, err
		}
		if evidence {
			if w, err = s.newWalk(t); err != nil {
				return nil, err
			}
			w.walk.Record = true
			defer w.drop()
		}
		level := start
		for ; level < len(w.kept); level++ {
			if !yield(&w.kept[level]) {
				return nil, nil
			}
		}
		if level < w.count {
			if w, err = s.newWalk(t); err != nil {
				return nil, err
			}
			defer w.drop()
		}
		for {
			if err := s.ctx.Err(); err != nil {
				return nil, err
			}
			f, ok := w.pull()
			if !ok {
				return w.end, nil
			}
			if f.Level >= level && !yield(&f) {
				return nil, nil
			}
		}
	})
}

// Backtrace returns count levels from start on, or all of them if count is 0. It is not an error if
// there are fewer.
func (s *Session) Backtrace(t target.ThreadID, start, count int) (Backtrace, error) {
	var bt Backtrace
	end, err := s.EachFrame(t, start, func(f *Frame) bool {
		if count > 0 && len(bt.Frames) == count {
			return false
		}
		bt.Frames = append(bt.Frames, *f)
		return true
	})
	bt.End = end
	return bt, err
}

// Frame returns one level of a thread's backtrace.
func (s *Session) Frame(t target.ThreadID, level int) (Frame, error) {
	return ask(s, func() (Frame, error) { return s.frame(t, level) })
}

// SelectFrame selects a frame of the selected thread.
func (s *Session) SelectFrame(level int) (Frame, error) {
	return ask(s, func() (Frame, error) {
		f, err := s.frame(s.selected, level)
		if err == nil {
			s.level = level
		}
		return f, err
	})
}

// SelectedFrame returns the selected frame.
func (s *Session) SelectedFrame() (Frame, error) {
	return ask(s, func() (Frame, error) { return s.frame(s.selected, s.level) })
}

// levels returns the levels of the next machine frame and, before them, those of the tail calls
// that led to the previous one.
func (w *walk) levels(mf *frames.Frame, level int) []Frame {
	base := survivors{whole: true}
	if sp, ok := mf.Regs.SP(); ok && w.s.callBelow(w.thread, mf.PC, sp) != nil {
		f := Frame{Level: level, Machine: mf, PC: mf.PC, Strategy: mf.Strategy.String(), Trust: mf.Trust.String(), FunctionName: dummyName, Dummy: true, outside: w.last.outside}
		w.last = f
		return []Frame{f}
	}
	if w.last.Dummy || w.last.outside {
		own := w.s.expand(mf, level)
		for i := range own {
			own[i].walk, own[i].outside = w, true
		}
		w.last = own[len(own)-1]
		return own
	}
	if w.last.Machine != nil {
		base = w.last.survivors.outward(w.last.Machine, mf)
	}
	own := w.s.expand(mf, level)
	for i := range own {
		own[i].walk, own[i].survivors = w, base
	}
	if level == 0 {
		own = w.s.withoutHidden(w.thread, own)
	}
	var tails []Frame
	if w.last.Machine != nil {
		tails = w.s.tailFrames(&w.last, &own[0])
		for i := range own {
			own[i].Level += len(tails)
		}
		for i := range tails {
			tails[i].walk = w
		}
	}
	w.last = own[len(own)-1]
	return append(tails, own...)
}

// expand returns the levels of one machine frame: the inlined calls at its PC, innermost first, and
// the function that contains them.
func (s *Session) expand(mf *frames.Frame, level int) []Frame {
	base := Frame{Level: level, Machine: mf, PC: mf.PC, Strategy: mf.Strategy.String(), Trust: mf.Trust.String(), Attempts: mf.Attempts, ShowPC: true}
	base.Module = s.modules.find(mf.LookupPC())
	if base.Module != nil && base.Module.Symbols != nil {
		base.lookup = base.Module.fileAddr(mf.LookupPC())
	}
	return s.expandCalls(base, !mf.PCIsReturnAddress)
}

// lineBefore returns the last line before code of line 0, in the function that is innermost there.
// Compilers write line 0 for code that they add to a statement, for example after a call in it.
func (m *Module) lineBefore(a image.Addr, calls []symbols.Call) symbols.Position {
	for len(calls) > 0 {
		lr, ok := m.Symbols.LineAt(a)
		if !ok || lr.Line != 0 {
			return lr.Position
		}
		a = lr.Lo - 1
		if before := m.Symbols.CallsAt(a); len(before) != len(calls) || !before[0].Function.Is(calls[0].Function) {
			break
		}
	}
	return symbols.Position{}
}

// expandCalls returns the levels of a frame whose other fields are set. exact means that its PC is
// the address of the next instruction.
func (s *Session) expandCalls(base Frame, exact bool) []Frame {
	m := base.Module
	if m == nil || m.Symbols == nil {
		if name, lo, ok := s.perfName(base.Machine.LookupPC()); ok {
			base.FunctionName, base.Offset = name, uint64(base.PC-lo)
		}
		return []Frame{base}
	}
	calls := s.callsAt(place{m.Symbols, base.lookup})
	if len(calls) == 0 {
		if name, off, ok := m.Symbols.SymbolAt(base.lookup); ok {
			base.FunctionName, base.Offset = name, off+uint64(base.PC-m.processAddr(base.lookup))
		}
		return []Frame{base}
	}
	out := make([]Frame, len(calls))
	for i := range calls {
		f := base
		f.Level = base.Level + i
		f.call = &calls[i]
		f.Function = calls[i].Function
		f.FunctionName = f.Function.Name
		f.Offset = uint64(base.PC - m.processAddr(f.Function.Lo))
		if f.Position = calls[i].Position; i == 0 && f.Position.Line == 0 {
			f.Position = m.lineBefore(base.lookup, calls)
		}
		f.Inlined = calls[i].Inlined
		if f.Inlined {
			f.Strategy = "inline"
		}
		// At the start of a line, or in a call that was inlined, an address is of no use.
		if i > 0 {
			f.ShowPC = false
		} else if exact && f.Position.Line != 0 {
			if lr, ok := m.Symbols.LineAt(base.lookup); ok && lr.Lo == base.lookup {
				f.ShowPC = false
			}
		}
		out[i] = f
	}
	return out
}

// HasSource reports whether the frame's line is known.
func (f *Frame) HasSource() bool { return f.Position.Line != 0 && f.Position.File != "" }

// holder returns the module that contains an address. It also uses the module's segments:
// zero-initialised memory (.bss) is not mapped from a file, so the module's own mappings may end
// before it.
func (l *moduleList) holder(a target.Addr) *Module {
	if m := l.find(a); m != nil {
		return m
	}
	i := sort.Search(len(l.all), func(i int) bool { return l.all[i].Hi > a })
	if i == 0 || l.all[i-1].file == nil {
		return nil
	}
	m := l.all[i-1]
	for _, seg := range m.file.Segments() {
		if fa := m.fileAddr(a); fa >= seg.Lo && fa < seg.Hi {
			return m
		}
	}
	return nil
}

// symbolize returns the symbol at an address: a function or a data symbol of the program.
func (s *Session) symbolize(a target.Addr) (string, uint64, bool) {
	if s.tgt == nil && s.exeFile != nil { // not started: addresses are the file's
		if name, off, ok := s.exeFile.SymbolAt(imageAddr(uint64(a))); ok {
			return name, off, true
		}
		return s.exeFile.ObjectAt(imageAddr(uint64(a)))
	}
	m := s.modules.holder(a)
	if m == nil || m.Symbols == nil {
		name, lo, ok := s.perfName(a)
		return name, uint64(a - lo), ok
	}
	fa := m.fileAddr(a)
	if name, off, ok := m.Symbols.SymbolAt(fa); ok {
		return name, off, true
	}
	return m.Symbols.ObjectAt(fa)
}

// Symbolize returns the symbol at an address: "main", 4.
func (s *Session) Symbolize(a target.Addr) (name string, off uint64, ok bool) {
	s.do(func() { name, off, ok = s.symbolize(a) })
	return
}

// position returns the source line of a process address.
func (s *Session) position(a target.Addr) (symbols.LineRange, *Module, bool) {
	if s.tgt == nil && s.exeFile != nil { // not started: addresses are the file's
		lr, ok := s.exeFile.LineAt(imageAddr(uint64(a)))
		return lr, nil, ok && lr.Line != 0
	}
	m := s.modules.find(a)
	if m == nil || m.Symbols == nil {
		return symbols.LineRange{}, m, false
	}
	lr, ok := m.Symbols.LineAt(m.fileAddr(a))
	return lr, m, ok && lr.Line != 0
}
