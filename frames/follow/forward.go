package follow

import (
	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
	"dbg/target"
)

// forward holds what the code from a function's start shows about each PC that it leads to.
//
// It follows all paths, depth first, and reads each instruction once. So the result for a PC does
// not depend on the order of queries. A path that reaches a call waits until the others have ended:
// the call may not return, and other paths may lead to the instruction after it. The targets of
// jumps through tables come last: see fromJumps. It reads only as far as the queries need.
type forward struct {
	arch      *arch.Arch
	thumb     bool
	sim       simulation
	start     uint64
	lo, hi    uint64
	reached   map[uint64]reachedAt
	afterTrap map[uint64]*Rule // after an instruction that ends its path; used if no other path leads there
	rules     map[flow.Frame]*Rule
	frame     flow.Frame // the frame of last
	last      *Rule
	epoch     uint64

	// Pending paths. Each group is used when the one before is empty.
	at      codePath
	going   bool // at has not ended
	paths   []codePath
	waiting []codePath // after calls
	unsure  []codePath // after calls that seem not to return
	jumps   []codePath // after jumps through tables
	tails   []codePath // after jumps to unknown targets, where the function has no frame

	// State of jumps through tables: see fromJumps.
	jump    jumpState
	framed  bool   // some instruction has a frame
	led     uint64 // all lower addresses were reached
	leading bool   // the current paths begin at cases

	pops map[uint64]int32  // i386: see calleePops
	data map[uint64]uint64 // ARM: the number of data bytes at an address
}

// reachedAt is an instruction that a path has reached.
type reachedAt struct {
	rule *Rule
	read int   // number of instructions read before it
	size uint8 // in bytes; 0 if it is undecodable
	led  bool  // only a jump through a table leads here
}

// codePath is the end of a path: the next instruction, and the state before it.
type codePath struct {
	pc uint64
	flow.State
	depend int  // number of next instructions that depend on Thumb's IT
	pushed bool // the last instruction pushed a word
	unsure bool // the path goes through a call that seems not to return
}

// Reasons why there is no rule for a PC. NotFollowed means that the stack pointer was set to a
// value that is unrelated to the frame.
var (
	notReached  = &Rule{Why: "the instructions from the function's start do not lead to PC"}
	NotFollowed = &Rule{Why: "cannot follow the stack pointer from the function's start to PC"}
)

// newForward returns a forward that begins at a function's first instruction and stays between lo
// and hi. The start of a function in Thumb code is odd.
func newForward(r Reader, start, lo, hi uint64) *forward {
	a := r.Arch
	thumb := a == arch.ARM && start&1 != 0
	if thumb {
		start--
	}
	f := &forward{arch: a, thumb: thumb, sim: simulation{Reader: r}, start: start, lo: lo, hi: hi, going: true,
		reached: map[uint64]reachedAt{}, rules: map[flow.Frame]*Rule{}}
	f.at = entryAt(a, start)
	return f
}

// entryAt returns the path at a function's first instruction.
func entryAt(a *arch.Arch, pc uint64) codePath { return codePath{pc: pc, State: flow.Entry(a)} }

// decode decodes the instruction at f.at.
func (f *forward) decode(text []byte) code.Insn {
	if !f.thumb {
		return code.Decode(f.arch, text)
	}
	in := code.DecodeThumb(text)
	if n, is := in.IsIT(); is {
		f.at.depend = n
	} else if f.at.depend > 0 {
		f.at.depend--
		in.Conditional()
	}
	return in
}

// ruleAt returns the rule at pc, and the number of instructions that it takes to determine it. That
// includes instructions that were read before, so that a limit on them does not depend on earlier
// queries.
func (f *forward) ruleAt(pc uint64) (*Rule, int) {
	if r := f.reached[pc]; r.rule != nil {
		return r.rule, r.read
	}
	if f.more() {
		f.run(pc)
		if r := f.reached[pc]; r.rule != nil {
			return r.rule, r.read
		}
	}
	if r := f.afterTrap[pc]; r != nil {
		return r, f.sim.count
	}
	return notReached, f.sim.count
}

// size returns the amount of stored data, in map entries and paths.
func (f *forward) size() int {
	return len(f.reached) + len(f.afterTrap) + len(f.paths) + len(f.waiting) + len(f.unsure) + len(f.jumps) + len(f.tails)
}

// run continues until it has read the instruction at an address, or until all paths have ended.
func (f *forward) run(to uint64) {
	var buf [aheadBytes]byte
	var text []byte
	at := &f.at
	for {
		if !f.going {
			if len(f.paths) == 0 {
				f.paths, f.waiting = f.waiting, nil
			}
			if len(f.paths) == 0 {
				f.paths, f.unsure = f.unsure, nil
			}
			if len(f.paths) == 0 && !f.fromJumps() {
				f.rules = nil
				return
			}
			*at, text, f.going = f.paths[len(f.paths)-1], nil, true
			f.paths = f.paths[:len(f.paths)-1]
		}
		here := at.pc
		if was := f.reached[here]; here < f.lo || here >= f.hi || was.rule != nil || f.data[here] > 0 {
			f.going = false
			if f.leading && !at.unsure && was.rule != nil && was.rule != f.rule(&at.State) {
				f.contradicted()
			}
			continue
		}
		now := reachedAt{f.rule(&at.State), f.sim.count, 0, f.leading}
		f.reached[here] = now
		f.framed = f.framed || now.rule != f.reached[f.start].rule
		if f.sim.count++; f.sim.count > startInstructions {
			f.going, f.paths, f.waiting, f.unsure = false, nil, nil, nil
			f.jump, f.jumps, f.tails = jumpsUnlike, nil, nil
			continue
		}
		if len(text) < 15 {
			text = f.sim.Read(here, buf[:])
		}
		in := f.decode(text)
		if f.going = in.Next != code.Bad && in.Len > 0 && !omitted(text); f.going {
			now.size = in.Len
			f.reached[here] = now
			own := text[:in.Len]
			at.pc, text = here+uint64(in.Len), text[in.Len:]
			if f.arch == arch.ARM {
				f.noteLiteral(here, own)
			}
			if f.arch == arch.ARM && f.tableJump(own) {
				if here == to && !f.leading {
					return
				}
				continue
			}
			if in.Next == code.Call && f.arch == arch.I386 {
				f.sim.pcThunk(&in, at.pc)
			}
			text = f.follow(&in, text)
		}
		if here == to && !f.leading {
			return
		}
	}
}

// follow applies an instruction; f.at is already after it, and text begins there. It returns the
// text that begins at f.at, or nil.
func (f *forward) follow(in *code.Insn, text []byte) []byte {
	at := &f.at
	switch in.Next {
	case code.Return:
		f.going = false
		return text
	case code.Trap:
		if f.afterTrap == nil {
			f.afterTrap = map[uint64]*Rule{}
		}
		if f.afterTrap[at.pc] == nil {
			f.afterTrap[at.pc] = f.rule(&at.State)
		}
		f.going = false
		return text
	case code.Jump, code.Indirect:
		if to := f.sim.leadsTo(in, at.pc); to != 0 {
			at.pc, text = to, nil
		} else {
			f.tableOrTail()
		}
		return text
	case code.Call, code.CallFar:
		at.Apply(in)
		if f.arch == arch.I386 && in.Next == code.Call {
			at.Free(f.calleePops(at.pc + uint64(int64(in.Imm))))
		}
		if f.arch == arch.I386 && at.pushed && f.argumentsStay(text) {
			if f.going = false; len(f.unsure) < maxPaths {
				at.unsure = true
				f.unsure = append(f.unsure, *at)
			}
		} else if len(f.waiting) < maxPaths {
			f.waiting = append(f.waiting, *at)
			f.going = false
		}
		return text
	case code.Branch:
		if len(f.paths) < maxPaths {
			other := *at
			other.pc += uint64(int64(in.Imm))
			f.paths = append(f.paths, other)
		}
	}
	at.Apply(in)
	at.pushed = in.Op == code.Push
	return text
}

// maxCallee limits how many instructions calleePops reads.
const maxCallee = 400

// calleePops returns the size of the arguments that a function on i386 pops, in bytes. It is four
// if the function returns a structure, whose address its caller pushed. The function's return
// instruction contains the number.
func (f *forward) calleePops(fn uint64) int32 {
	if n, known := f.pops[fn]; known {
		return n
	}
	var buf [aheadBytes]byte
	var text []byte
	pops := int32(0)
	for pc, i := fn&0xffffffff, 0; i < maxCallee; i++ {
		if len(text) < 15 {
			text = f.sim.Read(pc, buf[:])
		}
		in := code.Decode(f.arch, text)
		if in.Len == 0 || omitted(text) {
			break
		}
		if in.Next == code.Return {
			if in.Len == 3 && text[0] == 0xc2 { // RET imm16
				pops = int32(text[1]) | int32(text[2])<<8
			}
			break
		}
		pc, text = pc+uint64(in.Len), text[in.Len:]
	}
	if f.pops == nil {
		f.pops = map[uint64]int32{}
	}
	f.pops[fn] = pops
	return pops
}

// argumentsStay reports whether the code after a call leaves the arguments on the stack. Then the
// call may not return, and the code after it may be another part of the function.
func (f *forward) argumentsStay(text []byte) bool {
	var buf [16]byte
	if len(text) < len(buf) {
		text = f.sim.Read(f.at.pc, buf[:])
	}
	in := f.decode(text)
	return !flow.MachineOf(f.arch).FreesStack(&in)
}

// pcThunk turns a call of i386's functions that return their own return address (mov (%esp),%reg;
// ret) into a load. Such a function preserves all other registers, and GCC relies on that.
func (s *simulation) pcThunk(in *code.Insn, next uint64) {
	var buf [16]byte
	b := s.Read((next+uint64(int64(in.Imm)))&0xffffffff, buf[:])
	if len(b) >= 4 && b[0] == 0x8b && b[1]&0xc7 == 0x04 && b[2] == 0x24 && b[3] == 0xc3 {
		in.Next, in.Kills = code.Onward, 1<<(b[1]>>3&7)
	}
}

// leadsTo returns the target of a jump, or 0 if it is unknown.
func (s *simulation) leadsTo(in *code.Insn, next uint64) uint64 {
	switch {
	case in.Next == code.Jump:
		return next + uint64(int64(in.Imm))
	case in.Base == code.RIP:
		s.slots = true
		to := s.Slot(target.Addr(next + uint64(int64(in.Imm))))
		if s.Memory.Executable(to) {
			return uint64(to)
		}
	}
	return 0
}

// rule returns the rule for a state, relative to the registers at that point. Equal states share a
// rule.
func (f *forward) rule(at *flow.State) *Rule {
	var frame flow.Frame
	at.Frame(&frame)
	if f.last != nil && frame == f.frame {
		return f.last
	}
	r := f.rules[frame]
	if r == nil {
		r = ruleOf(f.arch, &frame)
		f.rules[frame] = r
	}
	f.frame, f.last = frame, r
	return r
}

// ruleOf converts a frame to a rule.
func ruleOf(a *arch.Arch, f *flow.Frame) *Rule {
	if !f.CFA.Known() {
		return NotFollowed
	}
	cfa := Location{Base: f.CFA.Base, Through: f.CFA.Through, Word: int64(f.CFA.Word), Off: int64(f.CFA.Off)}
	r := &Rule{CFA: cfa, Other: noPlace}
	if f.HasSP { // the stack pointer is known most often
		if r.CFA.Base != a.SP {
			r.Other = r.CFA
		}
		r.CFA = Location{Base: a.SP, Off: int64(f.SP)}
	}
	for i := range flow.Slots(a) {
		switch at := f.At[i]; {
		case f.Lost&(1<<i) != 0:
			r.Regs[i].Kind = Lost
		case f.Saved&(1<<i) == 0:
		case at.Base == arch.NoReg:
			r.Regs[i] = Saved{InFrame, Location{Off: int64(at.Off)}}
		default:
			r.Regs[i] = Saved{InStack, Location{Base: at.Base, Off: int64(at.Off)}}
		}
	}
	return r
}
