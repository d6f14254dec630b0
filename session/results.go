package session

import (
	"errors"
	"strings"

	"dbg/abi"
	"dbg/arch"
	"dbg/eval"
	"dbg/symbols"
	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// callee is what decides where a function's result is.
type callee struct {
	typ      *types.Type // of the function
	result   *types.Type // nil: void
	lang     lang.Lang
	producer string
}

// returnValue reads what a function has just returned. It is false if the function returns nothing,
// or if its ABI does not tell where.
func (s *Session) returnValue(t target.ThreadID, m *Module, fn *symbols.Function) (Value, bool) {
	if fn == nil || m == nil || m.Symbols == nil || s.tgt.Arch() != arch.AMD64 {
		return Value{}, false
	}
	ft := m.Symbols.FunctionType(fn)
	if ft == nil {
		return Value{}, false
	}
	c := callee{typ: ft, result: ft.Elem(), lang: fn.Lang, producer: fn.Producer()}
	if c.lang == lang.Go {
		return s.goResult(t, &c)
	}
	if c.result == nil || c.result.Strip().Kind == types.Void {
		return Value{}, false
	}
	p, err := c.place()
	if err != nil {
		return Value{}, false
	}
	return s.readResult(t, c.result, p)
}

// place tells where the result is when the function returns.
func (c *callee) place() (abi.Place, error) {
	t := eval.ABIType(c.result)
	switch c.lang {
	case lang.C, lang.CPlusPlus:
		if abi.WideVectors(t) && !compiledFor(c.producer, t.Size) {
			return abi.Place{}, abi.ErrUnknown
		}
		return abi.SysVResult(t)
	case lang.Rust:
		own, err := abi.RustResult(t)
		if err != nil || strings.HasPrefix(c.result.Strip().Name, "(") || strings.HasPrefix(c.result.Strip().Name, "&") {
			return own, err
		}
		// Debug information does not tell an extern "C" function from one of Rust's own ABI.
		if t.Kind == abi.Variant && own.Memory {
			return own, nil
		}
		c, err := abi.SysVResult(t)
		if err != nil || !samePlace(&own, &c) {
			return own, abi.ErrUnknown
		}
		return own, nil
	}
	// Another language: scalars are returned as C returns them.
	if t.Kind == abi.Integer && t.Size <= 8 || t.Kind == abi.Float && t.Size <= 8 {
		return abi.SysVResult(t)
	}
	return abi.Place{}, abi.ErrUnknown
}

func samePlace(a, b *abi.Place) bool {
	if a.Memory != b.Memory || len(a.Parts) != len(b.Parts) {
		return false
	}
	for i := range a.Parts {
		if a.Parts[i] != b.Parts[i] {
			return false
		}
	}
	return true
}

// compiledFor reports whether a compiler's recorded options say that vectors of a size are passed in
// registers. Other code passes them in memory.
func compiledFor(producer string, size int64) bool {
	for _, f := range strings.Fields(producer) {
		switch {
		case f == "-mavx512f" || f == "-march=x86-64-v4":
			return size <= 64
		case f == "-mavx" || f == "-mavx2" || f == "-march=x86-64-v3":
			return size <= 32
		}
	}
	return false
}

// readResult reads a result from where it is.
func (s *Session) readResult(t target.ThreadID, rt *types.Type, p abi.Place) (Value, bool) {
	regs, err := s.tgt.Registers(t)
	if err != nil {
		return Value{}, false
	}
	wide := func(r arch.Reg) ([]byte, error) { return s.tgt.WideRegister(t, r) }
	return s.readResultIn(resultRegisters{regs, wide}, rt, p)
}

// resultRegisters are the registers of a thread that has just returned.
type resultRegisters struct {
	arch.Registers
	wide func(arch.Reg) ([]byte, error)
}

func (s *Session) readResultIn(regs resultRegisters, rt *types.Type, p abi.Place) (Value, bool) {
	size := rt.Strip().Size
	const most = 1 << 20
	if size < 0 || size > most {
		return Value{}, false
	}
	if p.Memory {
		a, ok := regs.Get(p.Pointer)
		if !ok {
			return Value{}, false
		}
		return s.resultAt(rt, target.Addr(a))
	}
	b := make([]byte, size)
	for _, part := range p.Parts {
		if part.Offset < 0 || part.Offset+part.Size > size {
			return Value{}, false
		}
		var src []byte
		if v, ok := regs.Get(part.Reg); ok && part.Reg < arch.XMM0 {
			src = make([]byte, 8)
			s.tgt.Arch().ByteOrder.PutUint64(src, v)
		} else if b, err := regs.wide(part.Reg); err == nil {
			src = b
		} else {
			return Value{}, false
		}
		if int64(len(src)) < part.Size {
			return Value{}, false
		}
		copy(b[part.Offset:], src[:part.Size])
	}
	return Value{Type: rt, Bytes: b}, true
}

// resultAt reads a result in memory.
func (s *Session) resultAt(rt *types.Type, a target.Addr) (Value, bool) {
	b := make([]byte, rt.Strip().Size)
	if n, err := s.readMemory(a, b); err != nil || n < len(b) {
		return Value{}, false
	}
	return Value{Type: rt, Bytes: b, Addr: a, HasAddr: true}, true
}

// goSignature splits the parameters of a function of Go into those that it gets, the receiver
// first, and its results.
func goSignature(ft *types.Type) (in []*types.Type, results []types.Field) {
	names := ft.ParamNames()
	for i, p := range ft.Params() {
		if !ft.Result(i) {
			in = append(in, p)
			continue
		}
		name := ""
		if i < len(names) {
			name = strings.TrimPrefix(names[i], "~")
		}
		results = append(results, types.Field{Name: name, Type: p})
	}
	return in, results
}

// goLayout asks the ABI where a function of Go gets its parameters and puts its results.
func goLayout(in []*types.Type, results []types.Field) (abi.GoLayout, error) {
	var params, out []*abi.Type
	for _, t := range in {
		params = append(params, eval.ABIType(t))
	}
	for i := range results {
		out = append(out, eval.ABIType(results[i].Type))
	}
	return abi.GoCall(params, out)
}

// usesRegisters reports whether a function of Go was compiled for ABIInternal with registers, which
// Go has had since 1.17.
func usesRegisters(producer string) bool { return strings.Contains(producer, "regabi") }

// goResult reads the results of a function of Go that has just returned.
func (s *Session) goResult(t target.ThreadID, c *callee) (Value, bool) {
	if !usesRegisters(c.producer) {
		return Value{}, false // before Go 1.17, or gccgo
	}
	in, results := goSignature(c.typ)
	l, err := goLayout(in, results)
	if err != nil || len(results) == 0 {
		return Value{}, false
	}
	return s.goResults(t, results, l.Results)
}

// goResults reads results at their places: one value, or a structure of them.
func (s *Session) goResults(t target.ThreadID, results []types.Field, places []abi.Place) (Value, bool) {
	var all []byte
	for i := range places {
		p := &places[i]
		var v Value
		ok := false
		if p.Memory {
			if _, sp, err := s.pcAndSP(t); err == nil {
				v, ok = s.resultAt(results[i].Type, target.Addr(sp)+target.Addr(p.Offset))
			}
		} else {
			v, ok = s.readResult(t, results[i].Type, *p)
		}
		if !ok || len(all) > 1<<20 {
			return Value{}, false
		}
		if len(places) == 1 {
			return v, true
		}
		for len(all)%8 != 0 {
			all = append(all, 0)
		}
		results[i].Offset = int64(len(all))
		all = append(all, v.Bytes...)
	}
	list := types.NewStruct(types.Struct, "", int64(len(all)), results)
	return Value{Type: list, Bytes: all}, true
}

var errUnknownPlace = errors.New("the ABI does not tell where this function's result is")
