package emulate

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// place is where an operand is. The values from 0 to 15 are the general registers.
type place uint8

const (
	rax place = 0
	rcx place = 1
	rdx place = 2
	rsp place = 4
	rbp place = 5
	rsi place = 6
	rdi place = 7

	highByte    place = 16 // AH, CH, DH, BH
	memoryPlace place = 20 // the memory operand
	absolute    place = 21 // the memory at Op.imm
	immediate   place = 22 // Op.imm
	distance    place = 23 // a branch target: Op.imm bytes after the next instruction
	nowhere     place = 24
)

// Values of Op.base and Op.index beside the registers.
const (
	ripBase = 0xfe
	noBase  = 0xff
)

// mask returns the bits of an operand of size bytes.
func mask(size uint8) uint64 { return ^uint64(0) >> (64 - 8*size) }

// address returns the address of the memory operand in r, where the instruction begins at r.RIP.
func (o *Op) address(r *Regs, p place) uint64 {
	addr := o.offset(r)
	if p == absolute {
		addr = o.imm
	}
	switch o.segment {
	case fsSegment:
		addr += r.FSBase
	case gsSegment:
		addr += r.GSBase
	}
	return addr
}

// offset returns the address of the memory operand without its segment, as LEA computes it.
func (o *Op) offset(r *Regs) uint64 {
	addr := uint64(int64(o.disp))
	switch o.base {
	case noBase:
	case ripBase:
		addr += r.RIP + uint64(o.length)
	default:
		addr += r.GPR[o.base&15]
	}
	if o.index != noBase {
		addr += r.GPR[o.index&15] << o.scale
	}
	if o.addr32 {
		addr = uint64(uint32(addr))
	}
	return addr
}

// read returns the operand at p, zero-extended.
func (o *Op) read(r *Regs, m Memory, p place, size uint8) (uint64, error) {
	switch {
	case p < highByte:
		return r.GPR[p] & mask(size), nil
	case p < memoryPlace:
		return r.GPR[p-highByte] >> 8 & 0xff, nil
	case p == memoryPlace || p == absolute:
		return load(m, o.address(r, p), size)
	case p == immediate:
		return o.imm & mask(size), nil
	}
	return 0, nil
}

// write sets the operand at p. A register's upper bits stay, except that 32 bits clear the upper
// half: SDM volume 1, 3.4.1.1.
func (o *Op) write(r *Regs, m Memory, p place, size uint8, value uint64) error {
	switch {
	case p < highByte:
		setRegister(&r.GPR[p], size, value)
	case p < memoryPlace:
		reg := &r.GPR[p-highByte]
		*reg = *reg&^0xff00 | value&0xff<<8
	case p == memoryPlace || p == absolute:
		return store(m, o.address(r, p), size, value)
	}
	return nil
}

func setRegister(reg *uint64, size uint8, value uint64) {
	if size >= 4 {
		*reg = value & mask(size)
		return
	}
	*reg = *reg&^mask(size) | value&mask(size)
}

// buffers holds the bytes that Memory reads and writes: a buffer on the stack would be allocated
// anew for each call of an interface.
var buffers = sync.Pool{New: func() any { return new([8]byte) }}

func load(m Memory, addr uint64, size uint8) (uint64, error) {
	buf := buffers.Get().(*[8]byte)
	err := m.ReadMemory(addr, buf[:size])
	value := binary.LittleEndian.Uint64(buf[:]) & mask(size)
	buffers.Put(buf)
	if err != nil {
		return 0, fmt.Errorf("emulate: read %d bytes at %#x: %w", size, addr, err)
	}
	return value, nil
}

func store(m Memory, addr uint64, size uint8, value uint64) error {
	buf := buffers.Get().(*[8]byte)
	binary.LittleEndian.PutUint64(buf[:], value)
	err := m.WriteMemory(addr, buf[:size])
	buffers.Put(buf)
	if err != nil {
		return fmt.Errorf("emulate: write %d bytes at %#x: %w", size, addr, err)
	}
	return nil
}
