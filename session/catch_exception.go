package session

import (
	"strings"
	"unicode/utf8"

	"dbg/arch"
	"dbg/eval"
	"dbg/image"
	"dbg/symbols"
	"dbg/symbols/spelling"
	"dbg/target"
)

// catchPlace is an address in a file where a catchpoint waits, with the places of the values that
// describe the event there.
type catchPlace struct {
	addr image.Addr
	tell teller
	// object and typ are where a probe finds the exception and its type.
	object, typ probeOperand
}

// teller is the way to describe an event at a place.
type teller uint8

const (
	tellNothing teller = iota
	tellThrow          // __cxa_throw(object, type, destructor), at its entry
	tellCatch          // __cxa_begin_catch(_Unwind_Exception*), at its entry
	tellProbe          // a probe of libstdc++
	tellPanic          // runtime.gopanic(e any)
	tellFatal          // runtime.fatalpanic, at the end of a panic that was reported when it began
	tellGoThrow        // runtime.throw(s string)
	tellAssert         // __assert_fail(expression, file, line, function)
	tellGlibcxx        // std::__glibcxx_assert_fail(file, line, function, condition)
)

// catchFunctions lists the functions of the runtime libraries by their linkage names: the C++ ABI
// (Itanium, "Level II"), the C library, and libstdc++.
var catchFunctions = map[CatchKind][]struct {
	name string
	tell teller
}{
	CatchThrow:   {{"__cxa_throw", tellThrow}},
	CatchCatch:   {{"__cxa_begin_catch", tellCatch}},
	CatchRethrow: {{"__cxa_rethrow", tellNothing}},
	CatchAbort:   {{"abort", tellNothing}},
	CatchAssert:  {{"__assert_fail", tellAssert}, {"_ZSt21__glibcxx_assert_failPKciS0_S0_", tellGlibcxx}},
}

// catchProbes are the names of libstdc++'s probes.
var catchProbes = map[CatchKind]string{CatchThrow: "throw", CatchCatch: "catch", CatchRethrow: "rethrow"}

// goPanics lists the functions of Go's runtime that begin and end a panic. runtime.fatalthrow is
// not in the list: runtime.throw and runtime.fatal call it, and know the message.
var goPanics = []struct {
	name string
	tell teller
}{
	{"runtime.gopanic", tellPanic},
	{"runtime.fatalpanic", tellFatal},
	{"runtime.throw", tellGoThrow},
	{"runtime.fatal", tellGoThrow},
}

// catchPlaces finds the places of a kind of catchpoint in a file. The program's separate debug file
// is searched, too.
func catchPlaces(m *symbols.Module, kind CatchKind, program bool) (out []catchPlace) {
	f := m.File()
	if f.Arch() != arch.AMD64 {
		return nil
	}
	if kind == CatchPanic {
		return append(rustPanics(m), goPanicPlaces(m)...)
	}
	if name := catchProbes[kind]; name != "" {
		if out := probePlaces(f, "libstdcxx", name); len(out) > 0 {
			return out
		}
	}
	for _, fn := range catchFunctions[kind] {
		a, ok := m.OwnLinkageAddr(fn.name)
		if !ok && program {
			a, ok = m.LinkageAddr(fn.name)
		}
		if ok && a != 0 {
			out = append(out, catchPlace{addr: a, tell: fn.tell})
		}
	}
	return out
}

// rustPanics finds where a panic begins: the function that runs the hook, which has had two names.
// In a program without it, rust_panic is the last step before the stack is unwound.
func rustPanics(m *symbols.Module) []catchPlace {
	best, out := 0, []catchPlace(nil)
	for _, s := range m.File().Symbols() {
		if s.Kind != image.Func || !strings.Contains(s.Name, "panic") {
			continue
		}
		rank := 0
		switch name := spelling.Demangle(spelling.WithoutVersion(s.Name)); {
		case strings.HasPrefix(name, "std::panicking::panic_with_hook"), strings.HasPrefix(name, "std::panicking::rust_panic_with_hook"):
			rank = 2
		case name == "rust_panic", name == "__rustc::rust_panic":
			rank = 1
		}
		if rank > best {
			best, out = rank, nil
		}
		if rank == best && rank > 0 {
			out = append(out, catchPlace{addr: s.Addr})
		}
	}
	return out
}

// goPanicPlaces finds the functions of Go's runtime. The places are after the prologue: a function
// whose stack must grow begins again.
func goPanicPlaces(m *symbols.Module) (out []catchPlace) {
	if !m.File().HasSection(".gopclntab") && !m.File().HasSection(".data.rel.ro.gopclntab") {
		return nil
	}
	for _, fn := range goPanics {
		for _, l := range m.BreakLocations(fn.name) {
			l.Describe()
			if l.Function != nil && l.Function.Name == fn.name {
				out = append(out, catchPlace{addr: l.Addr, tell: fn.tell})
			}
		}
	}
	return out
}

// probePlaces finds the places of libstdc++'s probes.
func probePlaces(f *image.File, provider, name string) (out []catchPlace) {
	for _, p := range probesIn(f, provider, name) {
		place := catchPlace{addr: p.addr, tell: tellProbe}
		if len(p.operands) == 2 {
			place.object, place.typ = p.operands[0], p.operands[1]
		}
		out = append(out, place)
	}
	return out
}

// caughtReader reads the values that describe an event.
type caughtReader struct {
	s    *Session
	regs arch.Registers
}

func (r *caughtReader) reg(reg arch.Reg) (uint64, bool) { return r.regs.Get(reg) }

func (r *caughtReader) word(a uint64) (uint64, bool) { return wordAt(r.s.tgt, a) }

func (r *caughtReader) operand(op probeOperand) (uint64, bool) { return op.value(&r.regs, r.s.tgt) }

// mostText bounds the texts that are read from the program.
const mostText = 4 << 10

// text reads a C string of valid UTF-8.
func (r *caughtReader) text(a uint64) (string, bool) {
	buf := make([]byte, mostText)
	n := 0
	for n < len(buf) { // up to the end of each block: the string may end before an unmapped page
		part := min(256-(a+uint64(n))%256, uint64(len(buf)-n))
		got, _ := r.s.tgt.ReadMemory(target.Addr(a+uint64(n)), buf[n:n+int(part)])
		for i := range got {
			if buf[n+i] == 0 {
				return string(buf[:n+i]), utf8.Valid(buf[:n+i])
			}
		}
		if n += got; got < int(part) {
			return "", false
		}
	}
	return "", false
}

// textIn reads the C string whose address is in a register.
func (r *caughtReader) textIn(reg arch.Reg) (string, bool) {
	a, ok := r.reg(reg)
	if !ok || a == 0 {
		return "", false
	}
	return r.text(a)
}

// describeCaught adds the type and the message of an event at a place.
func (s *Session) describeCaught(c *Caught, p catchPlace) {
	regs, err := s.tgt.Registers(c.Thread)
	if err != nil {
		return
	}
	r := &caughtReader{s, regs}
	switch p.tell {
	case tellThrow:
		object, ok1 := r.reg(arch.RDI)
		typ, ok2 := r.reg(arch.RSI)
		if ok1 && ok2 {
			r.exception(c, object, typ)
		}
	case tellCatch:
		if header, ok := r.reg(arch.RDI); ok {
			r.unwindException(c, header)
		}
	case tellProbe:
		if p.typ.memory && p.typ.offset == exceptionType {
			// The register holds the _Unwind_Exception. The operand for the object is of no use: a
			// handler for a base class gets the address of that base.
			if header, ok := r.reg(p.typ.reg); ok {
				r.unwindException(c, header)
			}
			return
		}
		typ, ok := r.operand(p.typ)
		if !ok {
			return
		}
		object, _ := r.operand(p.object)
		if c.Kind == CatchCatch {
			object = 0 // it may be a base of the exception
		}
		r.exception(c, object, typ)
	case tellPanic:
		s.describePanic(c)
	case tellGoThrow:
		env := s.env(c.Thread, 0)
		if v, err := eval.Evaluate("s", env); err == nil {
			if v = eval.Fetch(v, env); v.Avail == eval.Available && eval.TypeName(v) == "string" {
				c.Type, c.Message, c.HasMessage = "fatal error", eval.Format(v, env, eval.DefaultOptions()), true
			}
		}
	case tellAssert:
		r.assertion(c, arch.RDI, arch.RSI, arch.RDX, arch.RCX)
	case tellGlibcxx:
		r.assertion(c, arch.RCX, arch.RDI, arch.RSI, arch.RDX)
	}
}

// assertion reads the arguments of a function that reports a failed assertion.
func (r *caughtReader) assertion(c *Caught, expression, file, line, function arch.Reg) {
	c.Message, c.HasMessage = r.textIn(expression)
	c.File, _ = r.textIn(file)
	if n, ok := r.reg(line); ok && int32(n) > 0 {
		c.Line = int(int32(n))
	}
	c.Function, _ = r.textIn(function)
}

// describePanic reads the argument of runtime.gopanic.
func (s *Session) describePanic(c *Caught) {
	env := s.env(c.Thread, 0)
	v, err := eval.Evaluate("e", env)
	if err != nil {
		return
	}
	held, ok := eval.Dynamic(v, env)
	if !ok || held.Type == nil {
		return
	}
	c.Type = eval.TypeName(held)
	if held = eval.Fetch(held, env); held.Avail == eval.Available {
		c.Message, c.HasMessage = eval.Format(held, env, eval.DefaultOptions()), true
	}
}

// The C++ ABI's exception header ends with the _Unwind_Exception, after which the thrown object
// begins. libstdc++ and libc++abi have the same fields between exceptionType and the end.
const (
	exceptionType   = -80 // from the _Unwind_Exception
	unwindException = 32  // its size

	gnuClass, llvmClass = 0x474e5543432b2b00, 0x434c4e47432b2b00 // "GNUCC++\0", "CLNGC++\0"
)

// unwindException describes the exception whose _Unwind_Exception is at an address.
func (r *caughtReader) unwindException(c *Caught, header uint64) {
	class, ok := r.word(header)
	if !ok {
		return
	}
	object := header + unwindException
	switch class {
	case gnuClass, llvmClass:
	case gnuClass | 1: // std::rethrow_exception: the header refers to the object of another one
		object, ok = r.word(header - 80)
	case llvmClass | 1:
		object, ok = r.word(header - 88)
	default:
		return // of another language
	}
	if !ok {
		return
	}
	typ, ok := r.word(object - unwindException - 80)
	if ok {
		r.exception(c, object, typ)
	}
}

// exception describes an exception by its std::type_info. object is 0 if it is unknown.
func (r *caughtReader) exception(c *Caught, object, typ uint64) {
	name, ok := r.typeName(typ)
	if !ok {
		return
	}
	c.Type = name
	if object == 0 {
		return
	}
	left := mostBases
	at, ok := r.standardBase(typ, object, &left)
	if !ok {
		return
	}
	c.Message, c.HasMessage = r.what(at)
	c.Silent = !c.HasMessage
}

// mangledType reads the name in a std::type_info: a virtual table, then a pointer to the name.
func (r *caughtReader) mangledType(typ uint64) (string, bool) {
	a, ok := r.word(typ + 8)
	if !ok {
		return "", false
	}
	name, ok := r.text(a)
	// A * marks a type whose name is not unique.
	return strings.TrimPrefix(name, "*"), ok && len(name) < spelling.MaxMangled/4
}

func (r *caughtReader) typeName(typ uint64) (string, bool) {
	name, ok := r.mangledType(typ)
	if !ok || name == "" {
		return "", false
	}
	return strings.CutPrefix(spelling.DemangleWithParams("_ZTS"+name), "typeinfo name for ")
}

// mostBases bounds the classes that are searched for std::exception.
const mostBases = 100

// standardBase finds the std::exception in an object: Itanium C++ ABI, 2.9.5. A virtual base is not
// found.
func (r *caughtReader) standardBase(typ, object uint64, left *int) (at uint64, ok bool) {
	if *left--; *left < 0 {
		return 0, false
	}
	name, ok := r.mangledType(typ)
	if !ok {
		return 0, false
	}
	if name == "St9exception" {
		return object, true
	}
	table, ok := r.word(typ)
	if !ok {
		return 0, false
	}
	class, off, ok := r.s.symbolize(target.Addr(table))
	if !ok || off != 16 { // the table's address point is after two words
		return 0, false
	}
	switch strings.TrimPrefix(class, "vtable for ") {
	case "__cxxabiv1::__si_class_type_info":
		base, ok := r.word(typ + 16)
		if !ok {
			return 0, false
		}
		return r.standardBase(base, object, left)
	case "__cxxabiv1::__vmi_class_type_info":
		head, ok := r.word(typ + 16)
		if !ok {
			return 0, false
		}
		for i := range min(head>>32, mostBases) {
			base, ok1 := r.word(typ + 24 + 16*i)
			flags, ok2 := r.word(typ + 32 + 16*i)
			const virtual = 1
			if !ok1 || !ok2 {
				return 0, false
			}
			if flags&virtual == 0 {
				if at, ok := r.standardBase(base, object+uint64(int64(flags)>>8), left); ok {
					return at, true
				}
			}
		}
	}
	return 0, false
}

// fixedMessages holds what() of classes of the standard library that return a constant, which is
// the same in libstdc++ and libc++.
var fixedMessages = map[string]string{
	"std::exception::what":     "std::exception",
	"std::bad_alloc::what":     "std::bad_alloc",
	"std::bad_cast::what":      "std::bad_cast",
	"std::bad_typeid::what":    "std::bad_typeid",
	"std::bad_exception::what": "std::bad_exception",
}

// what returns an exception's message, without a call, if its what() is one of the standard
// library's. at is the address of the std::exception. The table has two destructors, then what().
func (r *caughtReader) what(at uint64) (string, bool) {
	table, ok1 := r.word(at)
	fn, ok2 := r.word(table + 16)
	if !ok1 || !ok2 {
		return "", false
	}
	name, off, ok := r.s.symbolize(target.Addr(fn))
	if !ok || off != 0 {
		return "", false
	}
	if text, ok := fixedMessages[name]; ok {
		return text, true
	}
	if name != "std::runtime_error::what" && name != "std::logic_error::what" {
		return "", false
	}
	// Both libraries store a pointer to the characters after the virtual table's.
	p, ok := r.word(at + 8)
	if !ok {
		return "", false
	}
	return r.text(p)
}
