package sframe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"dbg/arch"
)

// Config holds the inputs of a table.
type Config struct {
	Data []byte // .sframe
	Addr uint64 // its address, in the file's address space
}

// Flags of the header (section 2.1.3).
const (
	FlagSorted       = 1 // the FDEs are sorted by address
	FlagFramePointer = 2 // all functions preserve the frame pointer; versions 1 and 2
	FlagPCRel        = 4 // a function's address is relative to its own field, not to the section
)

// ABI is the processor and its ABI (section 2.2.1).
type ABI uint8

// The ABIs.
const (
	AArch64Big    ABI = 1
	AArch64Little ABI = 2
	AMD64         ABI = 3
	S390X         ABI = 4
)

// registers are the DWARF numbers of the registers that the format names by their role.
type registers struct {
	sp, fp, ra arch.Reg // ra is the return address column of call frame information
}

var registersOf = [...]registers{
	AArch64Big:    {31, 29, 30},
	AArch64Little: {31, 29, 30},
	AMD64:         {7, 6, 16},
	S390X:         {15, 11, 14},
}

func (a ABI) valid() bool { return a >= AArch64Big && a <= S390X }

func (a ABI) bigEndian() bool { return a == AArch64Big || a == S390X }

// String returns the name of the ABI.
func (a ABI) String() string {
	if !a.valid() {
		return fmt.Sprintf("ABI %d", uint8(a))
	}
	return [...]string{"", "AArch64, big-endian", "AArch64", "AMD64", "s390x"}[a]
}

// Header is the header of a section (section 2.2).
type Header struct {
	Version   uint8 // 1 to 3
	Flags     uint8
	ABI       ABI
	FixedFP   int8   // offset of the saved frame pointer from the CFA in all rows, or 0
	FixedRA   int8   // offset of the return address from the CFA in all rows, or 0
	Auxiliary int    // size of the auxiliary header
	FDEs      int    // number of FDEs
	FREs      uint32 // number of FREs, according to the header
}

// Table is one .sframe section. Several goroutines may use it.
type Table struct {
	Config
	Header
	order byteOrder
	fdes  int    // offset of the first FDE in the section
	fres  []byte // the FREs
	freAt int    // offset of fres in the section
	index atomic.Pointer[index]
}

// byteOrder is the byte order of a section. Its methods are those of binary.ByteOrder, but are inlined.
type byteOrder bool

const (
	littleEndian byteOrder = false
	bigEndian    byteOrder = true
)

func (o byteOrder) Uint16(b []byte) uint16 {
	if o {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (o byteOrder) Uint32(b []byte) uint32 {
	if o {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (o byteOrder) Uint64(b []byte) uint64 {
	if o {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// ErrNotCovered reports that no row covers the address.
var ErrNotCovered = errors.New("no entry covers this address")

// Error is a defect of the section.
type Error struct {
	Offset int // in the section
	What   string
}

func (e *Error) Error() string { return fmt.Sprintf(".sframe entry at 0x%x: %s", e.Offset, e.What) }

func defect(off int, format string, args ...any) error {
	return &Error{off, fmt.Sprintf(format, args...)}
}

const (
	magic      = 0xdee2
	headerSize = 28
)

// fdeSizes are the sizes of an FDE by version: 17 bytes in version 1, 20 in version 2 (section 1.3), 16
// for the index of version 3 (section 2.3.1).
var fdeSizes = [...]int{1: 17, 2: 20, 3: 16}

// New makes a table. It reads the header only. The error is an Error.
func New(c Config) (*Table, error) {
	t := &Table{Config: c}
	if len(c.Data) < headerSize {
		return nil, defect(0, "the header has %d of %d bytes", len(c.Data), headerSize)
	}
	switch {
	case binary.LittleEndian.Uint16(c.Data) == magic:
		t.order = littleEndian
	case binary.BigEndian.Uint16(c.Data) == magic:
		t.order = bigEndian
	default:
		return nil, defect(0, "the magic number 0x%04x is not 0xdee2", binary.LittleEndian.Uint16(c.Data))
	}
	return t, t.readHeader()
}

// knownFlags are the flags by version (section 2.1.3).
var knownFlags = [...]uint8{
	1: FlagSorted | FlagFramePointer,
	2: FlagSorted | FlagFramePointer | FlagPCRel,
	3: FlagSorted | FlagPCRel,
}

func (t *Table) readHeader() error {
	b := t.Data
	t.Header = Header{Version: b[2], Flags: b[3], ABI: ABI(b[4]), FixedFP: int8(b[5]), FixedRA: int8(b[6]),
		Auxiliary: int(b[7]), FREs: t.order.Uint32(b[12:])}
	switch {
	case t.Version < 1 || t.Version > 3:
		return defect(2, "version %d is not known", t.Version)
	case t.Flags&^knownFlags[t.Version] != 0:
		return defect(3, "the flags 0x%x are not known in version %d", t.Flags&^knownFlags[t.Version], t.Version)
	case !t.ABI.valid():
		return defect(4, "%v is not known", t.ABI)
	case t.ABI.bigEndian() != bool(t.order):
		return defect(4, "the section has the wrong byte order for %v", t.ABI)
	case t.ABI == AMD64 && t.FixedRA == 0:
		return defect(6, "the place of the return address is missing")
	}
	start := uint64(headerSize + t.Auxiliary)
	size := uint64(len(b))
	fdes, n := start+uint64(t.order.Uint32(b[20:])), uint64(t.order.Uint32(b[8:]))
	fres, length := start+uint64(t.order.Uint32(b[24:])), uint64(t.order.Uint32(b[16:]))
	switch {
	case fdes > size || n*uint64(fdeSizes[t.Version]) > size-fdes:
		return defect(20, "%d FDEs at 0x%x are outside of the section", n, fdes)
	case fres > size || length > size-fres:
		return defect(24, "the FREs from 0x%x to 0x%x are outside of the section", fres, fres+length)
	}
	t.fdes, t.FDEs = int(fdes), int(n)
	t.freAt, t.fres = int(fres), b[fres:fres+length:fres+length]
	return nil
}

// Name returns the name of the section.
func (t *Table) Name() string { return ".sframe" }

// Entries returns the number of FDEs.
func (t *Table) Entries() int { return t.FDEs }
