package orc

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Reg is a base register, with the numbers of versions 1 to 3 (ORC_REG_*).
type Reg uint8

const (
	Undefined Reg = iota // not changed, or no entry
	PrevSP               // the caller's stack pointer
	DX
	DI
	BP
	SP
	R10
	R13
	BPIndirect // the word at RBP plus the offset
	SPIndirect // the word at RSP, plus the offset
	AX

	invalid = 15
)

// regsOfV4 maps the numbers of version 4.
var regsOfV4 = [16]Reg{Undefined, AX, DX, SP, BP, DI, R10, R13, PrevSP, SPIndirect, BPIndirect,
	invalid, invalid, invalid, invalid, invalid}

// Type is how an entry finds the return address.
type Type uint8

const (
	Gap         Type = iota // nothing is known
	EndOfStack              // there is no caller
	Call                    // it is below the caller's stack pointer
	Regs                    // it is in a struct pt_regs at the address
	RegsPartial             // it is in the part of a struct pt_regs that the processor pushes
	badType
)

// entrySize is the number of bytes of an entry of .orc_unwind, ipSize of one of .orc_unwind_ip.
const (
	entrySize = 6
	ipSize    = 4
)

// Entry is one entry.
type Entry struct {
	Lo, Hi   uint64 // addresses of the code, from Lo up to but not including Hi
	Index    int    // number of the entry in the section
	SPOffset int16
	BPOffset int16
	SP, BP   Reg
	Type     Type
	Signal   bool // the caller was interrupted: its PC is no return address
	End      bool // the bit of versions 1 and 2
}

// decode decodes the six bytes of an entry. Lo, Hi and Index stay as they are.
func (e *Entry) decode(v Version, b []byte) {
	_ = b[5]
	e.SPOffset, e.BPOffset = int16(binary.LittleEndian.Uint16(b)), int16(binary.LittleEndian.Uint16(b[2:]))
	e.SP, e.BP = regOf(v, b[4]&15), regOf(v, b[4]>>4)
	flags := b[5]
	e.End = false
	switch v {
	case V1:
		e.Type, e.End = Call+Type(flags&3), flags&4 != 0
		e.Signal = e.Type != Call
		flags >>= 3
	case V2:
		e.Type, e.Signal, e.End = Call+Type(flags&3), flags&4 != 0, flags&8 != 0
		flags >>= 4
	default:
		e.Type, e.Signal = Type(flags&7), flags&8 != 0
		flags >>= 4
	}
	if v <= V2 && e.SP == Undefined {
		if e.Type = Gap; e.End {
			e.Type = EndOfStack
		}
	}
	if flags != 0 {
		e.Type = badType
	}
}

func regOf(v Version, n byte) Reg {
	if v >= V4 {
		return regsOfV4[n]
	}
	if Reg(n) > SPIndirect {
		return invalid
	}
	return Reg(n)
}

var (
	errBadType = errors.New("its type is unknown")
	errBadSP   = errors.New("its register for SP is unknown")
	errBadBP   = errors.New("its register for RBP is unknown")
)

// check returns an error if the kernel would not use the entry.
func (e *Entry) check() error {
	switch {
	case e.Type >= badType:
		return errBadType
	case e.Type == Gap, e.Type == EndOfStack:
		return nil
	case e.SP == Undefined, e.SP == PrevSP, e.SP == invalid:
		return errBadSP
	case e.BP != Undefined && e.BP != PrevSP && e.BP != BP:
		return errBadBP
	}
	return nil
}

// Error is a defect of an entry.
type Error struct {
	Index int
	Err   error
}

func (e *Error) Error() string { return fmt.Sprintf(".orc_unwind entry %d: %v", e.Index, e.Err) }
func (e *Error) Unwrap() error { return e.Err }
