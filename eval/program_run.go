package eval

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync"

	"dbg/arch"
	"dbg/target"
)

// stackSize limits the numbers on a program's stack.
const stackSize = 32

// machine is the state of a running program. It is on the heap, because a buffer that is passed to
// a target.Memory escapes. Machines are reused.
type machine struct {
	mem   target.Memory
	stack [stackSize]uint64
	buf   [8]byte

	// lines are the aligned parts of memory that were read last. Variables of one frame, and
	// members of one object, are close to each other, and reading 64 bytes costs no more than
	// reading 4. A line never crosses a page.
	lines [2]line
	last  int // the line that was used last
}

// line is an aligned part of memory.
type line struct {
	data [lineSize]byte
	at   uint64
	full bool
}

const lineSize = 64

var machines = sync.Pool{New: func() any { return new(machine) }}

// Run evaluates the program for a thread at its place. An error (unreadable memory, a division by
// zero, an unknown register) means that the full evaluator must be used. Run does not allocate.
func (p *Program) Run(regs *arch.Registers, mem target.Memory) (bool, error) {
	m := machines.Get().(*machine)
	m.mem, m.lines[0].full, m.lines[1].full = mem, false, false
	u, ok := m.run(p.code, regs)
	m.mem = nil
	machines.Put(m)
	if !ok {
		return false, errRun
	}
	return u != 0, nil
}

// load reads a number of size bytes, at most 8.
func (m *machine) load(addr uint64, size uint64) (uint64, bool) {
	at := addr &^ (lineSize - 1)
	off := addr - at
	if off+size <= lineSize {
		l := &m.lines[m.last]
		if !l.full || l.at != at {
			m.last ^= 1
			l = &m.lines[m.last]
		}
		if !l.full || l.at != at {
			n, err := m.mem.ReadMemory(target.Addr(at), l.data[:])
			l.full, l.at = err == nil && n == lineSize, at
		}
		if l.full {
			return l.number(off, size), true
		}
	}
	n, err := m.mem.ReadMemory(target.Addr(addr), m.buf[:size])
	if err != nil || uint64(n) != size {
		return 0, false
	}
	return rawUint(m.buf[:size]), true
}

// number decodes size bytes of a line.
func (l *line) number(off, size uint64) uint64 {
	if off+8 <= lineSize {
		return binary.LittleEndian.Uint64(l.data[off:off+8]) << (64 - 8*size) >> (64 - 8*size)
	}
	var u uint64
	for i := size; i > 0; i-- {
		u = u<<8 | uint64(l.data[off+i-1])
	}
	return u
}

// extend extends the low bits of u to a number.
func extend(u uint64, bits uint8, signed bool) uint64 {
	shift := 64 - uint(bits)
	if signed {
		return uint64(int64(u<<shift) >> shift)
	}
	return u << shift >> shift
}

// run executes code and returns the number on the top of the stack. ok is false if the full
// evaluator is needed.
func (m *machine) run(code []instruction, regs *arch.Registers) (_ uint64, ok bool) {
	// top is the index of the top of the stack.
	top := -1
	s := &m.stack
	for pc := 0; pc < len(code); pc++ {
		in := &code[pc]
		switch in.op {
		case opConst:
			top++
			s[top] = uint64(in.n)
		case opReg, opLoadReg:
			v, known := regs.Get(in.reg)
			if !known {
				return 0, false
			}
			top++
			s[top] = v + uint64(in.n)
			if in.op == opLoadReg {
				u, ok := m.load(s[top], uint64(in.size))
				if !ok {
					return 0, false
				}
				s[top] = extend(u, in.bits, in.signed)
			}
		case opLoad:
			u, ok := m.load(s[top]+uint64(in.n), uint64(in.size))
			if !ok {
				return 0, false
			}
			s[top] = extend(u, in.bits, in.signed)
		case opAddConst:
			s[top] += uint64(in.n)
		case opAdjust:
			if s[top] != 0 {
				s[top] += uint64(in.n)
			}
		case opShiftDown:
			s[top] >>= uint64(in.n)
		case opExtend:
			s[top] = extend(s[top], in.bits, in.signed)
		case opDup:
			top++
			s[top] = s[top-1]
		case opOver:
			top++
			s[top] = s[top-2]
		case opDrop:
			top--
		case opSwap:
			s[top], s[top-1] = s[top-1], s[top]
		case opIndex, opIndexArray:
			top--
			i := int64(s[top+1])
			if in.op == opIndexArray && (i > (1<<47)/in.n || i < -(1<<47)/in.n) {
				return 0, false
			}
			s[top] += uint64(i * in.n)
		case opCheck:
			top--
			if n := int64(s[top+1]); n < 0 || n > in.n || s[top] >= uint64(n) {
				return 0, false
			}
		case opJump:
			pc = int(in.n) - 1
		case opJumpZero:
			top--
			if s[top+1] == 0 {
				pc = int(in.n) - 1
			}
		case opAnd2, opOr2:
			if (s[top] == 0) == (in.op == opAnd2) {
				pc = int(in.n) - 1
			} else {
				top--
			}
		case opNonzero:
			s[top] = bit(s[top] != 0)
		case opZero:
			s[top] = bit(s[top] == 0)
		case opFloatNonzero:
			s[top] = bit(math.Float64frombits(s[top]) != 0)
		case opNeg:
			s[top] = extend(-s[top], in.bits, in.signed)
		case opNot:
			s[top] = extend(^s[top], in.bits, in.signed)
		case opFloatNeg:
			s[top] = math.Float64bits(-math.Float64frombits(s[top]))
		case opIntToFloat:
			s[top] = math.Float64bits(floatOfInt(s[top], in))
		case opFloatToInt:
			s[top] = number{f: math.Float64frombits(s[top]), isFloat: true}.integer()
		case opSingle:
			s[top] = math.Float64bits(float64(math.Float32frombits(uint32(s[top]))))
		case opRound:
			s[top] = math.Float64bits(float64(float32(math.Float64frombits(s[top]))))
		case opFits:
			if extend(s[top], in.bits, in.signed) != s[top] {
				return 0, false
			}
		case opFail:
			return 0, false
		default:
			top--
			var ok bool
			if in.op >= opFloatAdd {
				s[top] = floatOperation(in, math.Float64frombits(s[top]), math.Float64frombits(s[top+1]))
			} else if s[top], ok = integerOperation(in, s[top], s[top+1]); !ok {
				return 0, false
			}
		}
	}
	return s[top], true
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// integerOperation computes a op b as C does in a type of in.bits bits. The result has that type.
func integerOperation(in *instruction, a, b uint64) (uint64, bool) {
	if in.n != 0 && overflows(in, a, b) {
		return 0, false
	}
	switch in.op {
	case opAdd:
		a += b
	case opSub:
		a -= b
	case opMul:
		a *= b
	case opAnd:
		a &= b
	case opOr:
		a |= b
	case opXor:
		a ^= b
	case opShl, opShr:
		a = shifted(in, a, b)
	default:
		return comparison(in, extend(a, in.bits, in.signed), extend(b, in.bits, in.signed))
	}
	return extend(a, in.bits, in.signed), true
}

// comparison computes operations that depend on all bits of both numbers: comparisons and
// quotients.
func comparison(in *instruction, a, b uint64) (uint64, bool) {
	less := a < b
	if in.signed {
		less = int64(a) < int64(b)
	}
	switch in.op {
	case opEq:
		return bit(a == b), true
	case opNe:
		return bit(a != b), true
	case opLt:
		return bit(less), true
	case opGt:
		return bit(!less && a != b), true
	case opLe:
		return bit(less || a == b), true
	case opGe:
		return bit(!less), true
	}
	switch {
	case b == 0:
		return 0, false
	case in.signed && int64(b) == -1: // the only quotient that overflows
		if in.op == opMod {
			return 0, true
		}
		a = -a
	case in.signed && in.op == opDiv:
		a = uint64(int64(a) / int64(b))
	case in.signed:
		a = uint64(int64(a) % int64(b))
	case in.op == opDiv:
		a /= b
	default:
		a %= b
	}
	return extend(a, in.bits, in.signed), true
}

// shifted computes << and >>, as shift does. A negative count shifts everything out, like a large
// one.
func shifted(in *instruction, a, by uint64) uint64 {
	a = extend(a, in.bits, in.signed)
	bits := uint64(in.bits)
	switch {
	case in.op == opShl && by < bits:
		return a << by
	case in.op == opShl:
		return 0
	case in.signed:
		return uint64(int64(a) >> min(by, 63))
	case by < bits:
		return a >> by
	}
	return 0
}

func floatOperation(in *instruction, a, b float64) uint64 {
	switch in.op {
	case opFloatAdd:
		a += b
	case opFloatSub:
		a -= b
	case opFloatMul:
		a *= b
	case opFloatDiv:
		a /= b
	case opFloatEq:
		return bit(a == b)
	case opFloatNe:
		return bit(a != b)
	case opFloatLt:
		return bit(a < b)
	case opFloatGt:
		return bit(a > b)
	case opFloatLe:
		return bit(a <= b)
	default:
		return bit(a >= b)
	}
	return math.Float64bits(a)
}

// floatOfInt converts an integer to a float, which has 32 bits if the instruction says so.
func floatOfInt(u uint64, in *instruction) float64 {
	switch {
	case in.signed && in.bits == 32:
		return float64(float32(int64(u)))
	case in.signed:
		return float64(int64(u))
	case in.bits == 32:
		return float64(float32(u))
	}
	return float64(u)
}

// overflows reports whether the exact result of +, -, *, / or % does not have the instruction's type.
func overflows(in *instruction, a, b uint64) bool {
	hi, lo := uint64(0), uint64(0)
	negative := in.signed && int64(b) < 0
	switch in.op {
	case opAdd:
		lo = a + b
		if in.signed {
			return (int64(lo) < int64(a)) != negative || extend(lo, in.bits, true) != lo
		}
		return lo < a || extend(lo, in.bits, false) != lo
	case opSub:
		lo = a - b
		if in.signed {
			return (int64(lo) > int64(a)) != negative || extend(lo, in.bits, true) != lo
		}
		return a < b
	case opMul:
		if !in.signed {
			hi, lo = bits.Mul64(a, b)
			return hi != 0 || extend(lo, in.bits, false) != lo
		}
		lo = a * b
		return int64(a) != 0 && (int64(lo)/int64(a) != int64(b) || int64(a) == -1 && int64(b) == math.MinInt64) ||
			extend(lo, in.bits, true) != lo
	}
	return in.signed && int64(b) == -1 && a == uint64(int64(-1)<<(in.bits-1))
}
