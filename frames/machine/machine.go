package machine

import (
	"bytes"
	"encoding/binary"

	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// Machine holds what the strategies know about one architecture's code: calls, linkage stubs,
// function entries and exits, frame records and signal trampolines. x86.go, arm64.go, arm.go and
// riscv.go have one each, with the same fields in the same order. A strategy that has no field for
// an architecture does not work there.
//
// The functions get code as bytes: before ends at an address, and at begins there. Both may be
// shorter than an instruction.
type Machine struct {
	// FollowsCall reports whether a call instruction ends at pc.
	FollowsCall func(before []byte, pc target.Addr, space Permissions) Verdict

	// callTarget returns the address that the call before pc has in its instruction, or 0.
	callTarget func(before []byte, pc target.Addr) target.Addr

	// CallSlot returns the address of the slot through which the call before pc goes, or 0. The
	// instruction contains that address (-fno-plt).
	CallSlot func(before []byte, pc target.Addr) target.Addr

	// StubSlot returns the address of the slot through which the linkage stub at addr jumps, or 0.
	StubSlot func(at []byte, addr target.Addr) target.Addr

	// PushedInStub returns how many words a linkage stub has pushed. It is nil on machines with a
	// link register, where stubs push nothing.
	PushedInStub func(before, at []byte) (words int, ok bool)

	// EntryOrExit recognizes the first and last instructions of functions. There, the frame has
	// at most one word: the frame pointer. On machines with a link register it has none.
	EntryOrExit func(before, at []byte) (pushedFP, ok bool)

	Records       []FrameRecord // the layouts of frame records, the most common first
	trampolines   []Trampoline
	ShadowPointer arch.Reg // points past the last word of a shadow call stack, or NoReg

	// TrustTrampoline is set if vDSOs had wrong tables at their signal trampolines. Then the
	// instructions are asked before the table.
	TrustTrampoline bool

	// SignalFrame finds the stack pointer at a trampoline with the frame pointer fp. stack reads
	// the words of the stack. It is nil if the frame pointer does not lead there.
	SignalFrame func(t *Trampoline, fp uint64, stack row.Words) (sp uint64, ok bool)

	// CodeAddress removes from a code address all bits that are not part of the address, where
	// their number is not configured. It is nil if there are no such bits.
	CodeAddress func(v uint64) uint64
}

// FrameRecord is the layout of the two words of the frame pointer chain. Offsets are from the frame
// pointer.
type FrameRecord struct {
	Reg   arch.Reg
	Saved int64 // the caller's frame pointer
	RA    int64 // the return address
	Top   int64 // end of the record
	IsCFA bool  // the record is the frame's last part: its top is the CFA
}

// Trampoline is code to which a signal handler returns, and the place where the kernel has saved
// the registers when it runs. It is not needed if the C library or the vDSO has a table
// (augmentation S); musl, Go and old kernels have none.
type Trampoline struct {
	code []byte
	// starts are the offsets in code of the instructions: the PC may be at any of them. popped is
	// how far SP has moved by then.
	starts []int
	popped []int64

	Regs    []arch.Reg // in the order of the saved words; NoReg is skipped
	At      int64      // offset of the first word from SP at the first instruction, or from *(SP+Through)
	Through int64      // 0 means not through a pointer
}

// Verdict is the answer to a question that the bytes may not decide.
type Verdict uint8

const (
	Unknown Verdict = iota // too few bytes
	No                     // certainly not
	Yes                    // perhaps by chance on x86, whose instructions can't be read backwards
)

// Permissions reports which memory of the process is executable. Space of package frames implements
// it.
type Permissions interface {
	Executable(addr target.Addr) bool
}

// Of returns the machine of an architecture. For an unknown one it has no functions.
func Of(a *arch.Arch) *Machine {
	switch a {
	case arch.AMD64:
		return &amd64
	case arch.I386:
		return &i386
	case arch.ARM64:
		return &arm64
	case arch.ARM:
		return &arm
	case arch.RISCV64:
		return &riscv64
	}
	return &Machine{ShadowPointer: arch.NoReg}
}

// TrampolineAt recognizes a signal trampoline by its instructions: PC is at the first one or, if
// precise is set, at a later one: a thread may be stopped there. popped is how far SP has moved by
// then. t is nil if there is none; the caller must not change it.
func (m *Machine) TrampolineAt(before, at []byte, precise bool) (t *Trampoline, popped int64) {
	for i := range m.trampolines {
		t := &m.trampolines[i]
		for j, n := range t.starts {
			if j > 0 && !precise {
				break
			}
			if bytes.HasPrefix(at, t.code[n:]) && bytes.HasSuffix(before, t.code[:n]) {
				if t.popped != nil {
					popped = t.popped[j]
				}
				return t, popped
			}
		}
	}
	return nil, 0
}

// DirectCall returns the address that the call before pc has in its instruction, or 0.
func (m *Machine) DirectCall(before []byte, pc target.Addr) target.Addr {
	if m.callTarget == nil {
		return 0
	}
	return m.callTarget(before, pc)
}

// registersFrom lists n registers.
func registersFrom(first arch.Reg, n int) (list []arch.Reg) {
	for i := range n {
		list = append(list, first+arch.Reg(i))
	}
	return list
}

func has(b []byte, code ...byte) bool { return bytes.HasPrefix(b, code) }

// word32 returns the little-endian word at b[i], or 0 if b is too short. i may be negative.
func word32(b []byte, i int) uint32 {
	if i < 0 || i+4 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint32(b[i:])
}

// relative returns the 32-bit displacement at b[i], sign-extended.
func relative(b []byte, i int) target.Addr { return target.Addr(int64(int32(word32(b, i)))) }
