package eval

import (
	"encoding/binary"
	"math"

	"dbg/arch"
	"dbg/symbols/types"
	"dbg/target"
)

// Collector is a compiled expression that yields a value: it copies the value's bytes when a thread
// is at a place in the code. Nothing is formatted then, and nothing is allocated. It is immutable.
type Collector struct {
	code []instruction
	form form
	v    Value  // its type
	size int    // of the value, in bytes
	text int    // the maximum length of the string that the value points to; 0 if it is no string
	raw  []byte // of a constant
}

// form tells what a collector's program leaves on the stack.
type form uint8

const (
	formConst  form = iota // nothing
	formMemory             // the address of the value
	formBits               // the bytes of the value, the lowest first
	formNumber             // a number; of a float, that of a float64
)

// The limits of what is collected for one expression, in bytes.
const (
	MaxCollect     = 4096
	maxCollectText = 200
)

// CompileCollector compiles an expression whose value is to be collected at a place. The error wraps
// ErrNotCompiled if the full evaluator must be used, also for values that are shown with memory that
// they point to. Any other error means that the expression has no meaning there.
func CompileCollector(text string, c *ProgramContext) (*Collector, error) {
	k, n, err := newCompiler(text, c)
	if err != nil {
		return nil, err
	}
	o, err := k.eval(n)
	if err != nil {
		return nil, err
	}
	if o, err = k.follow(o); err != nil {
		return nil, err
	}
	if o.at == inPieces || o.v.BitSize > 0 {
		if o, err = k.read(o); err != nil {
			return nil, err
		}
	}
	if k.lost != nil {
		return nil, k.lost
	}
	if k.deepest > stackSize || len(k.code) > maxCode {
		return nil, notCompiled("the expression is too large")
	}
	t := o.typ()
	if t == nil || o.at == nothing {
		return nil, Error("Attempt to take contents of a non-pointer value.")
	}
	if pointsElsewhere(t, 0) {
		return nil, notCompiled("a value whose text needs other memory")
	}
	l := &Collector{code: k.code, v: Value{Type: t, Name: o.v.Name}, size: int(sizeOf(t))}
	switch o.at {
	case known:
		l.form, l.raw, l.code = formConst, o.v.Bytes, nil
		if l.raw == nil {
			return nil, notCompiled("a value that is not known")
		}
		l.v.BitSize, l.v.BitOffset = o.v.BitSize, o.v.BitOffset
	case inMemory:
		l.form = formMemory
		if kindOf(t) == types.Func {
			return nil, notCompiled("a function")
		}
	case inBits:
		l.form = formBits
	case onStack:
		l.form = formNumber
		if kindOf(t) == types.Array || kindOf(t) == types.Func {
			return nil, notCompiled("an array")
		}
	default:
		return nil, notCompiled("a value of this kind")
	}
	if l.form != formConst && (l.size <= 0 || l.size > MaxCollect || l.form != formMemory && l.size > 8) {
		return nil, notCompiled("a value of this size")
	}
	if isCString(t) && c.Arch.PtrSize == 8 {
		l.text = maxCollectText
	}
	return l, nil
}

// isCString reports whether a type is a pointer to the characters of a C string.
func isCString(t *types.Type) bool {
	if kindOf(t) != types.Pointer {
		return false
	}
	_, ok := charKind(elemOf(t))
	return ok && sizeOf(elemOf(t)) == 1
}

// pointsElsewhere reports whether the text of a value is read through pointers in it: Go's strings,
// slices, maps and interfaces.
func pointsElsewhere(t *types.Type, depth int) bool {
	if depth > maxNesting {
		return true
	}
	t = t.Strip()
	if t == nil {
		return false
	}
	if _, _, ok := sequenceFields(t); ok {
		return true
	}
	switch kindOf(t) {
	case types.Struct:
		for _, f := range t.Fields() {
			if pointsElsewhere(f.Type, depth+1) {
				return true
			}
		}
	case types.Array:
		return pointsElsewhere(elemOf(t), depth+1)
	}
	return t.IsDynamic()
}

// Collect appends the value, for a thread at the place, to b. The last bytes may be a string. It
// returns ok as false if the value can't be read; then b is unchanged.
func (l *Collector) Collect(b []byte, regs *arch.Registers, mem target.Memory) (_ []byte, ok bool) {
	if l.form == formConst {
		return append(b, l.raw...), true
	}
	m := machines.Get().(*machine)
	m.mem, m.lines[0].full, m.lines[1].full = mem, false, false
	u, ok := m.run(l.code, regs)
	m.mem = nil
	machines.Put(m)
	if !ok {
		return b, false
	}
	at := len(b)
	switch l.form {
	case formMemory:
		b = extendBy(b, l.size)
		if n, _ := mem.ReadMemory(target.Addr(u), b[at:]); n != l.size {
			return b[:at], false
		}
	case formNumber:
		if kindOf(l.v.Type) == types.Float {
			if l.size == 4 {
				u = uint64(math.Float32bits(float32(math.Float64frombits(u))))
			}
		}
		fallthrough
	case formBits:
		var raw [8]byte
		binary.LittleEndian.PutUint64(raw[:], u)
		b = append(b, raw[:l.size]...)
	}
	if l.text > 0 {
		b = l.collectText(b, target.Addr(binary.LittleEndian.Uint64(b[at:])), mem)
	}
	return b, true
}

// collectText appends the string at an address, without its end. A string that can't be read, or
// whose end is not found, has no end: it is followed by a byte 1, and any other one by a 0.
func (l *Collector) collectText(b []byte, a target.Addr, mem target.Memory) []byte {
	at := len(b)
	b = extendBy(b, l.text)
	n, _ := mem.ReadMemory(a, b[at:])
	for i, c := range b[at : at+n] {
		if c == 0 {
			return append(b[:at+i], 0)
		}
	}
	return append(b[:at+n], 1)
}

// extendBy makes b longer by n bytes of any value.
func extendBy(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b[:len(b)+n]
	}
	return append(b, make([]byte, n)...)
}

// Format formats what Collect has appended.
func (l *Collector) Format(raw []byte, env Env, opt Options) string {
	v := l.v
	if l.text == 0 || len(raw) < l.size {
		v.Bytes = raw
		return Format(v, recorded{env}, opt)
	}
	v.Bytes = raw[:l.size]
	text := raw[l.size:]
	whole := len(text) > 0 && text[len(text)-1] == 0
	text = text[:max(0, len(text)-1)]
	if !whole && len(text) == 0 {
		return Format(v, recorded{env}, opt)
	}
	c := Value{Type: elemOf(v.Type)}
	array, _ := arrayOf(c.Type, int64(len(text)))
	out := ""
	if len(text) > 0 {
		out = Format(Value{Type: array, Bytes: text}, recorded{env}, opt)
	} else {
		out = `""`
	}
	if !whole {
		out += "..."
	}
	if opt.AddressOfStrings {
		out = target.Addr(binary.LittleEndian.Uint64(v.Bytes)).String() + " " + out
	}
	return out
}

// Size returns the size of the value in bytes, without the string that it may point to.
func (l *Collector) Size() int { return l.size }

// recorded is an Env for values that were collected earlier: memory has other contents now.
type recorded struct{ Env }

func (recorded) ReadMemory(a target.Addr, _ []byte) (int, error) {
	return 0, &target.MemoryError{Addr: a, Why: "not collected"}
}
