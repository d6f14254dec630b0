package cfi

import (
	"encoding/binary"

	"dbg/arch"
	"dbg/row"
)

// Defects with a constant text.
const (
	tooLong   = defect("too many bytes of instructions")
	tooCostly = defect("DW_CFA_remember_state saves too many rules")
	backwards = defect("location goes backwards")
	beyond    = defect("instructions continue after the end of the range")
	moves     = defect("CIE instructions move the location")
)

// run executes instructions up to one that moves the location, and returns the new location. At the
// end of the program that is the end of the range.
//
// Nearly all instructions in real files are the dozen that are executed here, without the cursor's
// checks for each byte. The method instruction executes the others.
func (x *exec) run() (at uint64, err error) {
	data := x.r.Data
	pos := x.r.Pos
	for pos < len(data) {
		op := data[pos]
		pos++
		switch op >> 6 {
		case cfaAdvanceLoc >> 6:
			at = x.advance(uint64(op & 0x3f))
			goto moved
		case cfaOffset >> 6:
			if pos < len(data) && data[pos] < 0x80 {
				x.offset(arch.Reg(op&0x3f), int64(data[pos])*x.c.DataAlign)
				pos++
				continue
			}
		case cfaRestore >> 6:
			reg := arch.Reg(op & 0x3f)
			rule, sum := x.initial.rule(reg)
			x.set(reg, rule, sum)
			continue
		default:
			switch op {
			case cfaDefCFAOffset:
				if pos+1 < len(data) {
					v, w := data[pos], data[pos+1]
					if v < 0x80 {
						x.row.CFA.N = int64(v)
						pos++
						continue
					} else if w < 0x80 {
						x.row.CFA.N = int64(v&0x7f) | int64(w)<<7
						pos += 2
						continue
					}
				}
			case cfaNop:
				continue
			case cfaAdvanceLoc1:
				if pos < len(data) {
					at = x.advance(uint64(data[pos]))
					pos++
					goto moved
				}
			case cfaAdvanceLoc2:
				if pos+2 <= len(data) && x.t.little {
					at = x.advance(uint64(binary.LittleEndian.Uint16(data[pos:])))
					pos += 2
					goto moved
				}
			case cfaAdvanceLoc4:
				if pos+4 <= len(data) && x.t.little {
					at = x.advance(uint64(binary.LittleEndian.Uint32(data[pos:])))
					pos += 4
					goto moved
				}
			}
		}
		x.r.Pos = pos
		if to, jumps, err := x.instruction(op); err != nil {
			return 0, err
		} else if err := x.r.Err(); err != nil {
			return 0, err
		} else if pos = x.r.Pos; !jumps {
			continue
		} else {
			at = to
		}
	moved:
		if at == x.loc {
			continue
		}
		if at < x.loc {
			return 0, backwards
		}
		x.r.Pos = pos
		return at, nil
	}
	x.r.Pos = pos
	return x.fde.hi, nil
}

// advance returns the location after a delta. If the sum would wrap around, the result is the end
// of the address space.
func (x *exec) advance(delta uint64) uint64 {
	if a := x.c.CodeAlign; a != 1 {
		d := delta * a
		if a != 0 && d/a != delta {
			return 1<<64 - 1
		}
		delta = d
	}
	if x.loc+delta < x.loc {
		return 1<<64 - 1
	}
	return x.loc + delta
}

// offset executes DW_CFA_offset, the most common rule. Usually the register has no rule yet.
func (x *exec) offset(reg arch.Reg, n int64) {
	r := x.row
	i := len(r.Regs)
	if x.slot[reg] != 0 || i == cap(r.Regs) {
		x.set(reg, &row.Rule{Kind: row.At, N: n}, x.atSums.of(row.At, reg, n))
		return
	}
	r.Regs = r.Regs[:i+1]
	rr := &r.Regs[i]
	rr.Reg, rr.Kind, rr.Rule.Reg, rr.N = reg, row.At, 0, n
	if rr.Expr != nil {
		rr.Expr = nil
	}
	sum := x.atSums.of(row.At, reg, n)
	x.sums = append(x.sums, sum)
	x.slot[reg] = uint8(i + 1)
	x.sum ^= sum
	x.changed()
}
