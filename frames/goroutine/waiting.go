package goroutine

import (
	"encoding/binary"

	"dbg/arch"
	"dbg/target"
)

// Offsets in the structures of Go's runtime, in bytes.
const (
	stackLo = 0  // g.stack.lo
	stackHi = 8  // g.stack.hi
	gM      = 48 // g.m
	schedSP = 56 // g.sched.sp
	schedPC = 64 // g.sched.pc

	mG0 = 0 // m.g0

	// m.curg follows arrays whose sizes have changed between versions.
	curgFirst, curgLast = 160, 216

	// The g of a thread that executes Go code is in R14, and always in a word of its thread-local
	// storage: the last one, or an earlier one if the program also has thread-local storage of C.
	tlsSlots = 128
)

// memory is the process's memory.
type memory struct{ target.Memory }

// Waiting returns the saved PC and SP of the goroutine whose thread uses the scheduler's stack at
// sp. regs are the registers of the thread. It returns false if there is no such goroutine, or if
// the structures are not consistent.
func Waiting(in target.Memory, regs *arch.Registers, sp uint64) (pc, to uint64, ok bool) {
	mem := memory{in}
	m := mem.thread(regs, sp)
	if m == 0 {
		return 0, 0, false
	}
	g0 := mem.word(m + mG0)
	for at := m + curgFirst; at <= m+curgLast; at += 8 {
		g := mem.word(at)
		if g == 0 || g == g0 || mem.word(g+gM) != m {
			continue
		}
		pc, to = mem.word(g+schedPC), mem.word(g+schedSP)
		return pc, to, pc != 0 && mem.onStackOf(g, to)
	}
	return 0, 0, false
}

// thread returns the runtime's descriptor of the thread with these registers, whose scheduler's
// stack contains sp, or 0.
func (mem memory) thread(regs *arch.Registers, sp uint64) uint64 {
	check := func(g uint64) uint64 {
		if g == 0 || g%8 != 0 {
			return 0
		}
		m := mem.word(g + gM)
		g0 := mem.word(m + mG0)
		if m == 0 || g0 == 0 || mem.word(g0+gM) != m || !mem.onStackOf(g0, sp) {
			return 0
		}
		return m
	}
	if g, known := regs.Get(arch.R14); known {
		if m := check(g); m != 0 {
			return m
		}
	}
	fs, known := regs.Get(arch.FSBase)
	if !known || fs < 8*tlsSlots {
		return 0
	}
	for i := range uint64(tlsSlots) {
		if m := check(mem.word(fs - 8*(i+1))); m != 0 {
			return m
		}
	}
	return 0
}

// onStackOf reports whether an address is on a goroutine's stack.
func (mem memory) onStackOf(g, at uint64) bool {
	return mem.word(g+stackLo) <= at && at < mem.word(g+stackHi)
}

// word returns a word of memory, or 0 if it is unreadable.
func (mem memory) word(at uint64) uint64 {
	const page = 4096
	var b [8]byte
	if at < page || at > 1<<47 {
		return 0
	}
	if n, _ := mem.ReadMemory(target.Addr(at), b[:]); n < len(b) {
		return 0
	}
	return binary.LittleEndian.Uint64(b[:])
}
