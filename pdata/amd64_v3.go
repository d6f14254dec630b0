package pdata

import (
	"errors"
	"fmt"
)

// Version 3 of x64's unwind information ("Exception Handling Unwind Information V3", a preview of
// May 2026). It describes epilogues in full, so that no instruction has to be read.

// epilogue is an epilogue that version 3 describes.
type epilogue struct {
	start      int  // offset in the function
	last       int  // offset of its last instruction, from its start
	toParent   bool // it ends with a jump to the entry to which this one is chained
	operations []operation

	first     int // offset of its first operation in the pool
	inherited bool
}

// Flags of an epilogue descriptor.
const (
	epilogueToParent = 1
	epilogueLarge    = 2
)

var errV3Short = errors.New("the payload of version 3 is too short")

// payload is a cursor over the payload of version 3.
type payload struct {
	b   []byte
	bad bool
}

func (p *payload) byte() int { return p.number(1) }

// number reads an unsigned number of one or two bytes.
func (p *payload) number(size int) int {
	if len(p.b) < size {
		p.bad, p.b = true, nil
		return 0
	}
	v := int(p.b[0])
	if size == 2 {
		v = int(u16(p.b, 0))
	}
	p.b = p.b[size:]
	return v
}

// offsets reads the offsets of count instructions.
func (p *payload) offsets(count int, large bool) []int {
	size := 1
	if large {
		size = 2
	}
	if count*size > len(p.b) {
		p.bad = true
		return nil
	}
	list := make([]int, count)
	for i := range list {
		list[i] = p.number(size)
	}
	return list
}

// readV3 reads the payload after a header.
func (u *unwindInfo) readV3(h, b []byte) error {
	p := payload{b: b}
	large := u.flags&flagLarge != 0
	if large {
		u.prologue |= p.byte() << 8
	}
	offsets := p.offsets(int(h[3]&31), large)
	u.epilogues = make([]epilogue, h[3]>>5)
	steps := make([][]int, len(u.epilogues))
	for i := range u.epilogues {
		if err := u.readEpilogue(&p, i, steps); err != nil {
			return err
		}
	}
	if p.bad {
		return errV3Short
	}
	var err error
	if u.operations, err = readWODs(p.b, 0, offsets, 1); err != nil {
		return err
	}
	for i := range u.epilogues {
		e := &u.epilogues[i]
		// In an epilogue an operation is undone as long as its instruction has not been executed.
		if e.operations, err = readWODs(p.b, e.first, steps[i], 0); err != nil {
			return err
		}
	}
	return nil
}

// readEpilogue reads descriptor i. steps[i] are the offsets of its instructions.
func (u *unwindInfo) readEpilogue(p *payload, i int, steps [][]int) error {
	e := &u.epilogues[i]
	head := p.byte()
	e.start = int(int16(p.number(2)))
	flags, count := head&7, head>>3
	if i > 0 {
		e.start += u.epilogues[i-1].start
	}
	if count == 0 {
		if i == 0 {
			return errors.New("the first epilogue inherits from none")
		}
		last := &u.epilogues[i-1]
		e.last, e.toParent, e.first, e.inherited, steps[i] = last.last, last.toParent, last.first, true, steps[i-1]
		return nil
	}
	large := flags&epilogueLarge != 0
	e.toParent = flags&epilogueToParent != 0
	e.first = p.number(2)
	if large {
		e.last = p.number(2)
	} else {
		e.last = p.byte()
	}
	steps[i] = p.offsets(count, large)
	return nil
}

// readWODs reads operations of the pool from an offset on, one for each instruction's offset.
// after is added to the offsets.
func readWODs(pool []byte, from int, offsets []int, after int) ([]operation, error) {
	if from > len(pool) {
		return nil, errV3Short
	}
	b := pool[from:]
	list := make([]operation, 0, len(offsets))
	for _, at := range offsets {
		o, more, size, err := readWOD(b)
		if err != nil {
			return nil, err
		}
		b = b[size:]
		o.at = at + after
		list = append(list, o)
		if more != noReg {
			o.reg = more
			list = append(list, o)
		}
	}
	return list, nil
}

// noReg means that an operation pushes one register only.
const noReg = 0xff

// readWOD reads one winding operation descriptor. For one that pushes two registers, o is undone
// first, then the push of more.
func readWOD(b []byte) (o operation, more uint8, size int, err error) {
	size = wodSize(b)
	if size == 0 || size > len(b) {
		return o, noReg, 0, errWOD(b)
	}
	o.reg, more = b[0]>>3, noReg
	switch b[0] & 7 {
	case 4:
		o.code = uwopPushNonvol
		return o, more, size, nil
	case 5, 6:
		o.code = uwopSaveNonvol
		o.n = displacement(b, size, 8)
		return o, more, size, nil
	case 7:
		// Register is pushed first, Register+1 lies below it.
		if o.code, more = uwopPushNonvol, o.reg; o.reg == 31 {
			return o, noReg, 0, errWOD(b)
		}
		o.reg++
		return o, more, size, nil
	}
	o.reg = b[0] >> 4
	switch b[0] & 15 {
	case 8:
		o.code, o.n = uwopAllocLarge, 8*int64(o.reg)+8
		return o, more, size, nil
	case 9, 10:
		o.code = uwopSaveXMM
		o.n = displacement(b, size, 16)
		return o, more, size, nil
	}
	switch {
	case b[0]&63 == 0x20: // PUSH2 pushes the first register, then the second below it
		o.code, o.reg, more = uwopPushNonvol, b[1]>>3, b[0]>>6|b[1]&7<<2
	case b[0] == 0:
		o.code, o.reg, o.n = uwopSetFPReg, b[1]&15, 16*int64(b[1]>>4)
	case b[0] == 1:
		o.code, o.n = uwopAllocLarge, int64(u32(b, 1))
	case b[0] == 2:
		o.code, o.n = uwopAllocLarge, 8*int64(u16(b, 1))
	case b[0] == 3:
		// The specification leaves the numbers of these frames to the operating system.
		return o, more, 0, fmt.Errorf("a canonical frame of type %d, whose layout is not documented", b[1])
	}
	return o, more, size, nil
}

// displacement reads the 16-bit scaled or 32-bit unscaled offset of a saved register.
func displacement(b []byte, size int, scale int64) int64 {
	if size == 5 {
		return int64(u32(b, 1))
	}
	return scale * int64(u16(b, 1))
}

// wodSize returns the size of a descriptor in bytes, or 0 for an unknown one.
func wodSize(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] & 7 {
	case 4, 7:
		return 1
	case 5:
		return 5
	case 6:
		return 3
	}
	switch b[0] & 15 {
	case 8:
		return 1
	case 9:
		return 5
	case 10:
		return 3
	}
	switch {
	case b[0]&63 == 0x20, b[0] == 0, b[0] == 3:
		return 2
	case b[0] == 1:
		return 5
	case b[0] == 2:
		return 3
	}
	return 0
}

func errWOD(b []byte) error {
	if len(b) == 0 {
		return errV3Short
	}
	return fmt.Errorf("unknown or truncated winding operation 0x%02x", b[0])
}

// describedEpilogues replaces the rows of the epilogues that version 3 describes.
func (b *builder) describedEpilogues(list []*unwindInfo) error {
	u := list[0]
	size := int(b.entry.Hi - b.entry.Lo)
	var found []codedRow
	for i := range u.epilogues {
		e := &u.epilogues[i]
		start := e.start
		if u.epilogues[0].start < 0 {
			start += size
		}
		if start < 0 || start+e.last >= size {
			return fmt.Errorf("epilogue %d is not inside the function", i)
		}
		// A row begins after each instruction with an operation; the last instruction has one byte at least.
		for at := 0; at <= e.last; {
			next := e.last + 1
			for _, o := range e.operations {
				if o.at >= at {
					next = min(next, o.at+1)
				}
			}
			r := codedRow{lo: b.entry.Lo + uint64(start+at), hi: b.entry.Lo + uint64(start+next)}
			if err := b.epilogueRow(list, e, at, &r); err != nil {
				return err
			}
			found = append(found, r)
			at = next
		}
	}
	return b.overlay(found)
}

// epilogueRow fills the row at an offset of a described epilogue.
func (b *builder) epilogueRow(list []*unwindInfo, e *epilogue, at int, r *codedRow) error {
	b.state.start(b.t.config.Arch)
	left := e.operations
	for len(left) > 0 && left[0].at < at {
		left = left[1:]
	}
	b.state.sp = initialSP(left, b.state.sp)
	for i := range left {
		if err := b.undoOne(list[0], &left[i], b.state.sp); err != nil {
			return err
		}
	}
	if e.toParent {
		for _, u := range list[1:] {
			if err := b.undo(u, 1<<30); err != nil {
				return err
			}
		}
	}
	b.fillAMD64(&r.row)
	return nil
}
