package eval

import (
	"strings"
	"testing"

	"dbg/arch"
	"dbg/symbols/types"
	"dbg/target"
)

// fakeEnv is a world made by hand: some memory, names and registers.
type fakeEnv struct {
	wide    map[arch.Reg][]byte
	memory  map[target.Addr][]byte // regions by their start
	vars    map[string]Value
	types   map[string]*types.Type
	symbols map[target.Addr]string
	regs    arch.Registers
	conv    map[string]Value
	history []Value
	reads   int // bytes that were asked for
	written map[target.Addr][]byte
}

func newFakeEnv() *fakeEnv {
	return &fakeEnv{
		memory: map[target.Addr][]byte{}, vars: map[string]Value{}, types: map[string]*types.Type{},
		symbols: map[target.Addr]string{}, conv: map[string]Value{}, written: map[target.Addr][]byte{},
		regs: arch.Registers{Arch: arch.AMD64},
	}
}

func (e *fakeEnv) ReadMemory(a target.Addr, buf []byte) (int, error) {
	e.reads += len(buf)
	for lo, b := range e.memory {
		if a >= lo && a < lo+target.Addr(len(b)) {
			n := copy(buf, b[a-lo:])
			if n < len(buf) {
				return n, &target.MemoryError{Addr: a + target.Addr(n)}
			}
			return n, nil
		}
	}
	if len(buf) == 0 {
		return 0, nil
	}
	return 0, &target.MemoryError{Addr: a}
}

func (e *fakeEnv) WriteMemory(a target.Addr, data []byte) (int, error) {
	for lo, b := range e.memory {
		if a >= lo && a+target.Addr(len(data)) <= lo+target.Addr(len(b)) {
			e.written[a] = data
			return copy(b[a-lo:], data), nil
		}
	}
	return 0, &target.MemoryError{Addr: a, Write: true}
}

func (e *fakeEnv) Arch() *arch.Arch { return arch.AMD64 }

func (e *fakeEnv) Variable(name string) (Value, error) {
	if v, ok := e.vars[name]; ok {
		return v, nil
	}
	return Value{}, &NotFoundError{name}
}

func (e *fakeEnv) Register(name string) (Value, error) {
	return RegisterByName(name, arch.AMD64, &e.regs, nil)
}

func (e *fakeEnv) SetRegister(name string, v uint64) error {
	r, full, ok := RegisterUpdate(name, v, arch.AMD64, &e.regs)
	if !ok {
		return target.ErrNoRegister
	}
	e.regs.Set(r, full)
	return nil
}

func (e *fakeEnv) SetRegisterPart(r arch.Reg, off int, data []byte) error {
	if e.wide == nil {
		e.wide = map[arch.Reg][]byte{}
	}
	if e.wide[r] == nil {
		e.wide[r] = make([]byte, 16)
	}
	copy(e.wide[r][off:], data)
	return nil
}
func (e *fakeEnv) SetFrameRegister(r arch.Reg, v uint64) error { e.regs.Set(r, v); return nil }
func (e *fakeEnv) Type(name string) *types.Type                { return e.types[name] }

func (e *fakeEnv) GoType(target.Addr) (*types.Type, uint8) { return nil, 0 }

func (e *fakeEnv) Symbolize(a target.Addr) (string, uint64, bool) {
	for lo, name := range e.symbols {
		if a >= lo && a < lo+16 {
			return name, uint64(a - lo), true
		}
	}
	return "", 0, false
}

func (e *fakeEnv) Convenience(name string) (Value, bool) { v, ok := e.conv[name]; return v, ok }
func (e *fakeEnv) SetConvenience(name string, v Value)   { e.conv[name] = v }

func (e *fakeEnv) History(n int, relative bool) (Value, bool) {
	if relative {
		n = len(e.history) - n
	}
	if n < 1 || n > len(e.history) {
		return Value{}, false
	}
	return e.history[n-1], true
}

// put places a variable in memory and gives it its bytes.
func (e *fakeEnv) put(name string, a target.Addr, t *types.Type, b []byte) {
	if b != nil {
		e.memory[a] = b
	}
	e.vars[name] = Value{Type: t, Name: name, Addr: a, HasAddr: true}
}

// print is what gdb's print command does.
func (e *fakeEnv) print(text string, opt Options) string {
	v, err := Evaluate(text, e)
	if err != nil {
		return err.Error()
	}
	if kindOf(v.Type) != types.Void {
		e.history = append(e.history, Fetch(v, e))
	}
	return Format(v, e, opt)
}

type printCase struct{ expr, want string }

// run checks print of every case; "/x e" is print/x.
func run(t *testing.T, e *fakeEnv, cases []printCase) {
	t.Helper()
	for _, c := range cases {
		if got := e.print2(c.expr); got != c.want {
			t.Errorf("print %s\n got %s\nwant %s", c.expr, got, c.want)
		}
	}
}

func (e *fakeEnv) print2(text string) string {
	opt := DefaultOptions()
	if strings.HasPrefix(text, "/") {
		opt.Format = text[1]
		text = text[3:]
	}
	return e.print(text, opt)
}
