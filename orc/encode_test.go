package orc

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// encoder writes the sections of a table.
type encoder struct {
	version Version
	ipAddr  uint64
	ip      []byte
	unwind  []byte
}

// numbers has the register numbers of version 4.
var numbers = map[Reg]byte{Undefined: 0, AX: 1, DX: 2, SP: 3, BP: 4, DI: 5, R10: 6, R13: 7, PrevSP: 8, SPIndirect: 9, BPIndirect: 10, invalid: 15}

func (x *encoder) number(r Reg) byte {
	if x.version == V4 {
		return numbers[r]
	}
	return byte(r)
}

// add appends an entry at an address.
func (x *encoder) add(addr uint64, e Entry) {
	at := x.ipAddr + uint64(len(x.ip))
	x.ip = binary.LittleEndian.AppendUint32(x.ip, uint32(addr-at))
	x.unwind = binary.LittleEndian.AppendUint16(x.unwind, uint16(e.SPOffset))
	x.unwind = binary.LittleEndian.AppendUint16(x.unwind, uint16(e.BPOffset))
	x.unwind = append(x.unwind, x.number(e.SP)|x.number(e.BP)<<4, x.flags(e))
}

func (x *encoder) flags(e Entry) byte {
	set := func(on bool, n byte) byte {
		if on {
			return n
		}
		return 0
	}
	if x.version >= V3 {
		return byte(e.Type) | set(e.Signal, 8)
	}
	kind := byte(0)
	if e.Type >= Call {
		kind = byte(e.Type - Call)
	}
	if x.version == V2 {
		return kind | set(e.Signal, 4) | set(e.Type == EndOfStack, 8)
	}
	return kind | set(e.Type == EndOfStack, 4)
}

// config is the table's, told apart as the kernels of its version are.
func (x *encoder) config() Config {
	c := Config{IP: x.ip, IPAddr: x.ipAddr, Unwind: x.unwind}
	switch x.version {
	case V1:
		c.Release = "5.15.0"
	case V2:
		c.Release = "6.3.1"
	case V3, V4:
		for _, h := range headers {
			if h.v == x.version {
				c.Header, _ = hex.DecodeString(h.hash)
			}
		}
	}
	return c
}

// randomEntry makes a valid entry of a version.
func randomEntry(r *rand.Rand, v Version) Entry {
	switch r.IntN(12) {
	case 0:
		return Entry{Type: Gap}
	case 1:
		return Entry{Type: EndOfStack, End: v <= V2}
	}
	bases := []Reg{SP, SP, SP, SP, BP, BP, DX, DI, R10, R13, BPIndirect, SPIndirect}
	if v == V4 {
		bases = append(bases, AX)
	}
	e := Entry{Type: Call + Type(r.IntN(3)), SP: bases[r.IntN(len(bases))], BP: []Reg{Undefined, PrevSP, BP}[r.IntN(3)],
		SPOffset: int16(r.Uint32()), BPOffset: int16(r.Uint32()), Signal: r.IntN(2) == 0}
	if e.BP == Undefined {
		e.BPOffset = 0
	}
	if v == V1 {
		e.Signal = e.Type != Call
	}
	return e
}
