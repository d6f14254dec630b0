package flow

import (
	"dbg/arch"
	"dbg/code"
)

// Limits of a Flow.
const (
	MaxText   = 1 << 20 // bytes of a function that are read
	MaxInsns  = 1 << 18 // instructions that are applied, in total
	maxWays   = 1 << 12
	maxFrames = 1 << 12 // different frames; functions usually have tens
	maxCalls  = 16
)

// Flow follows the code of one function. It can be reused for another function, and then reuses
// its memory. It must be used by one goroutine at a time.
type Flow struct {
	m     *machine
	base  uint64
	text  []byte
	unit  uint // bytes per unit, as a shift
	units []unit

	frames []Frame
	ids    map[Frame]uint16

	ways    []way // LIFO
	behind  []way // after calls
	last    []way // after calls, at addresses that are also jump targets: such a call rarely returns
	count   int
	starts  int // how often Follow was called
	callSPs []Seen
	jumps   []Seen
	tally   Tally
}

// unit is the state of an address: a byte on x86, a word on arm64.
type unit struct {
	frame uint16 // index in frames plus 1, or 0 if not reached
	flags uint8
	n     uint8 // length of the instruction
}

const (
	target uint8 = 1 << iota // a branch leads here
	weak                     // reached only from the code after a call, not by a jump
	wide                     // has been widened
	ends                     // control does not continue after this
)

// way is a path that has reached an address.
type way struct {
	at   uint32
	weak bool
	back bool // it has just jumped backwards
	State
}

// Seen is a state at a call, or at a jump with an unknown target.
type Seen struct {
	PC    uint64
	Size  int // size of the instruction, in bytes
	Count int
	State State
	frame uint16
}

// Tally counts the results of a Flow.
type Tally struct {
	Insns     int
	Conflicts int // paths that reached an address in a different state than an earlier path
	Returns   int // returns in the state that callers expect
	Wrong     int // returns, and jumps out of the function, in another state
	Unknown   int // bytes that are not an instruction, and limits reached
	Lost      int // jumps to unknown targets, in a state other than at a function's first instruction
}

// Reset starts the analysis of another function.
func (f *Flow) Reset(a *arch.Arch, base uint64, text []byte) {
	if len(text) > MaxText {
		text = text[:MaxText]
	}
	f.m, f.base, f.text = machineOf(a), base, text
	switch f.unit = 0; f.m {
	case arm64:
		f.unit = 2
	case riscv64:
		f.unit = 1
	}
	n := len(text) >> f.unit
	if cap(f.units) < n {
		f.units = make([]unit, n)
	}
	f.units = f.units[:n]
	clear(f.units)
	f.frames = f.frames[:0]
	clear(f.ids)
	if f.ids == nil || len(f.ids) > 1000 {
		f.ids = map[Frame]uint16{}
	}
	f.ways, f.behind, f.last = f.ways[:0], f.behind[:0], f.last[:0]
	f.callSPs, f.jumps, f.count, f.tally = f.callSPs[:0], f.jumps[:0], 0, Tally{}
	f.starts = 0
	f.sweep()
}

func (f *Flow) decode(at uint32) code.Insn {
	in := code.Decode(f.m.arch, f.text[at<<f.unit:])
	if f.m == amd64 && in.Next == code.Call && in.Imm == 0 { // the code reads its own address, and pops it
		in.Next, in.Op, in.Kills = code.Onward, code.Push, 0
	}
	return in
}

// sweep finds the targets of branches, by decoding all instructions in order, from the first byte
// on.
func (f *Flow) sweep() {
	n := uint32(len(f.units))
	for at := uint32(0); at < n; {
		in := f.decode(at)
		if in.Next == code.Bad || in.Len == 0 {
			at++
			continue
		}
		next := at + uint32(in.Len)>>f.unit
		if in.Next == code.Jump || in.Next == code.Branch {
			if to, ok := f.target(next, in.Imm); ok {
				f.units[to].flags |= target
			}
		}
		at = next
	}
}

// target returns the unit that is the target of a branch, if it is in the function.
func (f *Flow) target(next uint32, rel int32) (uint32, bool) {
	to := int64(next)<<f.unit + int64(rel)
	if to < 0 || to >= int64(len(f.units))<<f.unit {
		return 0, false
	}
	return uint32(to >> f.unit), true
}

// Follow follows all paths from an address in a state, through code that has not been reached
// before.
func (f *Flow) Follow(pc uint64, s State) {
	if at := (pc - f.base) >> f.unit; at < uint64(len(f.units)) {
		f.starts++
		f.ways = append(f.ways, way{at: uint32(at), State: s})
		f.run()
	}
}

func (f *Flow) run() {
	var w way
	for {
		for _, stack := range []*[]way{&f.ways, &f.behind, &f.last} {
			if n := len(*stack); n > 0 {
				w, *stack = (*stack)[n-1], (*stack)[:n-1]
				break
			}
			if stack == &f.last {
				return
			}
		}
		f.follow(&w)
	}
}

// follow follows one path to its end.
func (f *Flow) follow(w *way) {
	frame := f.number(&w.State)
	var compared code.Insn
	for frame != 0 {
		if int(w.at) >= len(f.units) {
			return // it runs past the function's end: a call does not return
		}
		u := &f.units[w.at]
		if u.frame != 0 && !f.arrive(u, w, &frame) {
			return
		}
		if f.count++; f.count > MaxInsns {
			f.tally.Unknown++
			return
		}
		u.frame = frame
		if u.flags &^= weak; w.weak {
			u.flags |= weak
		}
		in := f.decode(w.at)
		if in.Next == code.Bad || in.Len == 0 {
			f.tally.Unknown++
			return
		}
		u.n = in.Len
		here := w.at
		w.back = false
		w.at += uint32(in.Len) >> f.unit
		if in.Next != code.Onward && in.Next != code.Call && in.Next != code.CallFar {
			if !f.leave(w, &in, here, frame, compared) {
				return
			}
			if in.Cond == code.NotEqual && compared.Op == code.Compare {
				w.equal(&compared)
				frame = f.number(&w.State)
			}
			if in.Kills == 0 {
				compared = code.Insn{}
				continue
			}
		}
		compared = in
		if in.Next == code.Call || in.Next == code.CallFar {
			f.call(w, &in, here, frame)
			return
		}
		w.Apply(&in)
		if f.m.touches(&in) || !f.simple(frame) {
			frame = f.number(&w.State)
		}
	}
}

// touches reports whether an instruction may change a simple frame. All other instructions only
// change temporary values.
func (m *machine) touches(in *code.Insn) bool {
	if in.Kills&m.keeps != 0 || in.KillD != 0 {
		return true
	}
	switch in.Op {
	case code.Nothing, code.Compare:
		return false
	case code.Add, code.AddReg, code.SubReg, code.Const, code.ConstPart:
		return m.kept(in.Dst)
	case code.Load, code.Store:
		return in.Wrap != code.Keep || m.kept(in.Dst) || m.kept(in.Src)
	}
	return true
}

func (m *machine) kept(n uint8) bool {
	return n < 32 && m.keeps&(1<<n) != 0 || n >= code.D0 && n != code.None
}

// simple reports whether a frame depends only on the stack pointer or only on the frame pointer.
func (f *Flow) simple(frame uint16) bool {
	b := f.frames[frame-1].CFA.Base
	return b == f.m.arch.SP || b == f.m.arch.FP
}

func (f *Flow) pc(at uint32) uint64 { return f.base + uint64(at)<<f.unit }

// number returns the number of the state's frame, plus 1, or 0 if there are too many.
func (f *Flow) number(s *State) uint16 {
	var frame Frame
	s.Frame(&frame)
	for n := len(f.frames); n > max(len(f.frames)-12, 0); n-- { // most functions have no more
		if f.frames[n-1] == frame {
			return uint16(n)
		}
	}
	if len(f.frames) > 12 {
		if n, ok := f.ids[frame]; ok {
			return n
		}
	}
	if len(f.frames) >= maxFrames {
		f.tally.Unknown++
		return 0
	}
	f.frames = append(f.frames, frame)
	n := uint16(len(f.frames))
	f.ids[frame] = n
	return n
}
