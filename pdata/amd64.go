package pdata

import (
	"errors"
	"fmt"

	"dbg/arch"
)

// Flags of unwind information ("x64 exception handling", UNWIND_INFO).
const (
	flagExceptionHandler   = 1
	flagTerminationHandler = 2
	flagChained            = 4
	flagLarge              = 8 // version 3: the size of the prologue and its offsets have 16 bits
)

// x64 unwind codes ("x64 exception handling", UNWIND_CODE).
const (
	uwopPushNonvol    = 0
	uwopAllocLarge    = 1
	uwopAllocSmall    = 2
	uwopSetFPReg      = 3
	uwopSaveNonvol    = 4
	uwopSaveNonvolFar = 5
	uwopEpilog        = 6 // version 2; in version 1 an obsolete code
	uwopSpare         = 7
	uwopSaveXMM       = 8
	uwopSaveXMMFar    = 9
	uwopPushMachFrame = 10
)

// amd64Regs are the DWARF numbers of the registers in machine order.
var amd64Regs = [16]arch.Reg{arch.RAX, arch.RCX, arch.RDX, arch.RBX, arch.RSP, arch.RBP, arch.RSI, arch.RDI,
	arch.R8, arch.R9, arch.R10, arch.R11, arch.R12, arch.R13, arch.R14, arch.R15}

// operation is an operation of a prologue or epilogue of x64. at is the offset from the start, in
// bytes, from which on it has been executed.
type operation struct {
	code uint8 // uwopPushNonvol and so on; the large forms are not used
	reg  uint8 // in machine order; 16 to 31 are those of APX
	at   int
	n    int64 // size of an allocation, offset of a saved register; for uwopPushMachFrame 1 with an error code
}

// unwindInfo is the unwind information of one entry of x64.
type unwindInfo struct {
	version, flags uint8
	prologue       int // its size in bytes
	frameReg       uint8
	frameOffset    int64 // the frame register is the stack pointer plus this; from 0 to 240
	operations     []operation
	epilogues      []epilogue // version 3
	after          uint32     // the RVA of what follows the codes: a handler, or the entry that this is chained to
}

func (u *unwindInfo) chained() bool { return u.flags&flagChained != 0 }

// maxChain is the number of chained entries that are followed. Compilers chain one or two.
const maxChain = 32

// readInfo reads the unwind information at an RVA.
func (t *Table) readInfo(rva uint32) (*unwindInfo, error) {
	h := t.record(rva, 4)
	if h == nil {
		return nil, fmt.Errorf("the unwind information at RVA 0x%x is not in the image", rva)
	}
	u := &unwindInfo{version: h[0] & 7, flags: h[0] >> 3, prologue: int(h[1])}
	size := 2 * int(h[2])
	body := t.record(rva+4, size)
	if body == nil && size > 0 {
		return nil, fmt.Errorf("the %d bytes of unwind codes at RVA 0x%x are not in the image", size, rva+4)
	}
	u.after = rva + 4 + uint32(size+3)&^3
	var err error
	switch u.version {
	case 1, 2:
		u.frameReg, u.frameOffset = h[3]&15, int64(h[3]>>4)*16
		err = u.readCodes(body)
	case 3:
		err = u.readV3(h, body)
	default:
		err = fmt.Errorf("unsupported version %d of the unwind information at RVA 0x%x", u.version, rva)
	}
	return u, err
}

// readCodes reads the codes of versions 1 and 2.
func (u *unwindInfo) readCodes(b []byte) error {
	for len(b) > 0 {
		o := operation{at: min(int(b[0]), u.prologue), code: b[1] & 15, reg: b[1] >> 4}
		slots := u.slots(o.code, o.reg)
		if slots == 0 {
			return fmt.Errorf("unknown unwind code %d in version %d", o.code, u.version)
		}
		if len(b) < 2*slots {
			return fmt.Errorf("unwind code %d needs %d slots, and %d are left", o.code, slots, len(b)/2)
		}
		switch slots {
		case 2:
			o.n = int64(u16(b, 2))
		case 3:
			o.n = int64(u32(b, 2))
		}
		b = b[2*slots:]
		if o.code == uwopEpilog || o.code == uwopSpare {
			continue // the instructions say more, see epilogues.go
		}
		if err := o.normalize(slots); err != nil {
			return err
		}
		u.operations = append(u.operations, o)
	}
	return nil
}

// slots returns the number of words that a code has, or 0 for an unknown code.
func (u *unwindInfo) slots(code, info uint8) int {
	switch code {
	case uwopPushNonvol, uwopAllocSmall, uwopSetFPReg, uwopPushMachFrame:
		return 1
	case uwopSaveNonvol, uwopSaveXMM:
		return 2
	case uwopSaveNonvolFar, uwopSaveXMMFar:
		return 3
	case uwopAllocLarge:
		switch info {
		case 0:
			return 2
		case 1:
			return 3
		}
	case uwopEpilog:
		if u.version == 2 {
			return 1
		}
	}
	return 0
}

// normalize scales the number of an operation and replaces the far forms of codes by the near ones.
func (o *operation) normalize(slots int) error {
	switch o.code {
	case uwopAllocSmall:
		o.code, o.n = uwopAllocLarge, 8*int64(o.reg)+8
	case uwopAllocLarge:
		if slots == 2 {
			o.n *= 8
		}
	case uwopSaveNonvol:
		o.n *= 8
	case uwopSaveXMM:
		o.n *= 16
	case uwopSaveNonvolFar:
		o.code = uwopSaveNonvol
	case uwopSaveXMMFar:
		o.code = uwopSaveXMM
	case uwopPushMachFrame:
		if o.reg > 1 {
			return fmt.Errorf("unknown kind %d of a machine frame", o.reg)
		}
		o.n = int64(o.reg)
	}
	return nil
}

// infos returns the unwind information of an entry, followed by that of the entries to which it is
// chained.
func (t *Table) infos(rva uint32) ([]*unwindInfo, error) {
	var list []*unwindInfo
	for range maxChain {
		// An odd address is that of another entry of the table, which is used instead.
		if rva&1 != 0 {
			b := t.record(rva&^1, amd64EntrySize)
			if b == nil {
				return nil, fmt.Errorf("the entry at RVA 0x%x is not in the image", rva&^1)
			}
			rva = u32(b, 8)
			continue
		}
		u, err := t.readInfo(rva)
		if err != nil {
			return nil, err
		}
		list = append(list, u)
		if !u.chained() {
			return list, nil
		}
		b := t.record(u.after, amd64EntrySize)
		if b == nil {
			return nil, fmt.Errorf("the chained entry at RVA 0x%x is not in the image", u.after)
		}
		rva = u32(b, 8)
	}
	return nil, fmt.Errorf("more than %d chained entries", maxChain)
}

// amd64 makes the rows of an entry of x64.
func (b *builder) amd64() error {
	list, err := b.t.infos(b.entry.Unwind)
	if err != nil {
		return err
	}
	u := list[0]
	size := b.entry.Hi - b.entry.Lo
	// The rows of the prologue begin where an operation has been executed; the last row is the body's.
	at := 0
	for {
		r, err := b.amd64Row(list, at)
		if err != nil {
			return err
		}
		next := int(min(size, 1<<31-1))
		for _, o := range u.operations {
			if o.at > at {
				next = min(next, o.at)
			}
		}
		b.add(b.entry.Lo+uint64(at), b.entry.Lo+uint64(next), r)
		if at = next; uint64(at) >= size || at == 1<<31-1 {
			break
		}
	}
	if u.version == 3 {
		return b.describedEpilogues(list)
	}
	return b.codedEpilogues(list)
}

var errSteps = errors.New("undoing its operations takes too long")
