package eval

import (
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// Options specifies how a value is formatted.
type Options struct {
	// Format is gdb's letter: x d u o t c a s f z, or 0 for the type's default.
	Format byte
	// MaxElements limits the elements of arrays and strings; 0 means 200.
	MaxElements int
	// MaxDepth limits the nesting of aggregates; 0 means 20.
	MaxDepth int
	// Compact formats aggregates inside aggregates as {...}.
	Compact bool
	// AddressOfStrings adds the address before the string of a char pointer, as gdb does.
	AddressOfStrings bool
	// Inner formats a value as inside an aggregate: a pointer without its type.
	Inner bool
	// Raw formats Go's interfaces, maps and channels as their structures, not as their contents.
	Raw bool

	// Pretty writes each member of a structure on a line of its own, PrettyArrays each element of an
	// array.
	Pretty, PrettyArrays bool
	// Indexes writes the index before each element of an array.
	Indexes bool
	// Repeats is how many equal elements are written before they are counted; 0 means 10. Below 0
	// they are never counted.
	Repeats int
	// StopAtNull ends the text of a character array at its first zero.
	StopAtNull bool
	// NoUnions writes unions inside of structures as {...}, NoStatics leaves out static members,
	// NoSymbols the names of what pointers point to, NoAddresses the addresses.
	NoUnions, NoStatics, NoSymbols, NoAddresses bool
	// Objects shows objects of C++ by their dynamic types, Vtables the functions of virtual tables.
	Objects, Vtables bool
	// SymbolFiles adds the source line to the symbols of code: <main+4 at a.c:3>.
	SymbolFiles bool
	// Radix is the base of integers that have no format of their own: 8 or 16; else 10.
	Radix int
	// Language writes structures as a language does; lang.Unknown means as their own does.
	Language lang.Lang
}

// DefaultOptions returns gdb's defaults.
func DefaultOptions() Options { return Options{AddressOfStrings: true} }

// Format formats a value as gdb does. It always returns a text: for a part that can't be read, it
// contains the error.
func Format(v Value, env Env, opt Options) string {
	p := newPrinter(env, opt)
	if v.words != "" {
		return v.words
	}
	if v.Type == nil || kindOf(v.Type) == types.Void {
		if v.Avail == OptimizedOut {
			return "<optimized out>"
		}
		return voidName(v.Type)
	}
	if opt.Objects && !opt.Inner {
		v = p.dynamic(v)
	}
	if !opt.Inner && (p.raw() || isReference(v.Type)) && !p.namesItself(v) {
		p.typePrefix(v)
	}
	p.value(v)
	return p.b.String()
}

// voidName returns the text of a void value: in Rust, ().
func voidName(t *types.Type) string {
	if t != nil && t.Strip().Lang == lang.Rust {
		return "()"
	}
	return "void"
}

// printer formats one value.
type printer struct {
	b     strings.Builder
	env   Env
	opt   Options
	depth int
	level int // of braces that are open, for Pretty

	invalid  int                  // objects that are not valid
	isBase   bool                 // the next structure is a base class of the enclosing one
	virtuals map[*types.Type]bool // virtual bases of the enclosing object that were already shown
}

func newPrinter(env Env, opt Options) *printer {
	if opt.MaxElements <= 0 {
		opt.MaxElements = maxElements
	}
	opt.MaxElements = min(opt.MaxElements, 1<<20)
	switch {
	case opt.Repeats == 0:
		opt.Repeats = repeats
	case opt.Repeats < 0:
		opt.Repeats = 1 << 30
	}
	if opt.MaxDepth <= 0 || opt.MaxDepth > 100 {
		opt.MaxDepth = maxDepth
	}
	return &printer{env: env, opt: opt}
}

func (p *printer) str(s string) { p.b.WriteString(s) }

// Interruptible is an Env whose user may cancel the formatting of a value.
type Interruptible interface{ Interrupted() bool }

// full reports whether there is enough text, or formatting was cancelled.
func (p *printer) full() bool {
	if i, ok := p.env.(Interruptible); ok && i.Interrupted() {
		return true
	}
	return p.b.Len() > maxOutput
}

// line begins a line of Pretty: the next member of an aggregate, or its end.
func (p *printer) line(level int) {
	p.str("\n")
	for range min(level, maxNesting) {
		p.str("  ")
	}
}

// open writes a brace, and close the one that ends it. between separates members: first is that there
// was none before.
func (p *printer) open(brace string) {
	p.str(brace)
	p.level++
}

func (p *printer) close(brace string, lines bool) {
	p.level--
	if lines {
		p.line(p.level)
	}
	p.str(brace)
}

func (p *printer) between(first, lines bool) {
	switch {
	case !first && lines:
		p.str(",")
	case !first:
		p.str(", ")
	}
	if lines {
		p.line(p.level)
	}
}

// raw reports whether values are formatted by their types, not by a format letter.
func (p *printer) raw() bool { return p.opt.Format == 0 || p.opt.Format == 's' }

// typePrefix writes "(int *) " before a pointer or reference. A char pointer needs no type: its
// string shows it.
func (p *printer) typePrefix(v Value) {
	t := v.Type
	switch t.Kind {
	case types.Const, types.Volatile:
		t = t.Strip()
	}
	switch kindOf(t) {
	case types.Pointer:
		if t.Kind == types.Pointer && isPlainChar(t.ElemAsDeclared()) {
			return
		}
	case types.Reference, types.RvalueReference:
	default:
		return
	}
	if v.Avail != Available {
		return
	}
	p.str("(" + TypeName(v) + ") ")
}

// namesItself reports whether the text of a value starts with its type, as for Go's maps and
// channels.
func (p *printer) namesItself(v Value) bool {
	if p.opt.Raw || !p.raw() {
		return false
	}
	for _, prefix := range []string{"map<", "hash<", "hchan<"} {
		if t, _ := goReference(v, prefix); t != nil {
			return true
		}
	}
	return false
}

// isPlainChar reports whether the type is char or one of the wide characters by its own name, with
// or without qualifiers: then the prefix of its strings identifies it.
func isPlainChar(t *types.Type) bool {
	for range 10 {
		if t == nil {
			return false
		}
		switch t.Kind {
		case types.Const, types.Volatile, types.Restrict, types.Atomic:
			t = t.Elem()
			continue
		}
		switch t.Name {
		case "char", "wchar_t", "char8_t", "char16_t", "char32_t":
			return true
		}
		return false
	}
	return false
}

// value writes a value in the form that it has inside others.
func (p *printer) value(v Value) {
	p.depth++
	defer func() { p.depth-- }()
	if p.full() || p.depth > maxNesting {
		p.str("...")
		return
	}
	if isReference(v.Type) && (v.Avail == Available || v.Avail == Synthetic) {
		p.reference(v)
		return
	}
	if v.words != "" {
		p.str(v.words)
		return
	}
	if v.form != 0 && p.opt.Format == 0 {
		p.opt.Format = v.form
		defer func() { p.opt.Format = 0 }()
	}
	if p.unavailable(v) || p.golang(v) || (isStruct(v.Type) || kindOf(v.Type) == types.Opaque) && p.viewed(v) {
		return
	}
	switch t := v.Type; kindOf(t) {
	case types.Struct, types.Union:
		if p.hidden() || p.opt.NoUnions && kindOf(t) == types.Union && p.level > 0 {
			p.str("{...}")
			return
		}
		p.structure(v)
	case types.Array:
		if p.hidden() && !isText(v) {
			p.str("{...}")
			return
		}
		p.array(v)
	case types.Func:
		p.function(v)
	case types.Opaque:
		p.str("<incomplete type>")
	case types.Unsupported:
		p.str("<unsupported type " + t.Strip().Name + ">")
	case types.Void:
		p.str(voidName(t))
	default:
		v = load(v, p.env)
		if !p.unavailable(v) {
			p.scalar(v)
		}
	}
}

// hidden reports whether aggregates at this level are written as {...}.
func (p *printer) hidden() bool {
	return p.depth > p.opt.MaxDepth || p.opt.Compact && p.depth > 1
}

// unavailable writes why a value is not available.
func (p *printer) unavailable(v Value) bool {
	switch v.Avail {
	case OptimizedOut:
		p.str("<optimized out>")
	case NotSaved:
		p.str("<not saved>")
	case Synthetic:
		p.str("<synthetic pointer>")
	case Unreadable:
		p.str("<error: " + availabilityError(v).Error() + ">")
	default:
		return false
	}
	return true
}

// reference writes "@0x7ffe...: " and the target. Inside an aggregate it writes only the address.
func (p *printer) reference(v Value) {
	v = load(v, p.env)
	if to, ok := implied(v); ok {
		if p.depth > 1 {
			p.str("<synthetic pointer>")
			return
		}
		p.str("@<synthetic pointer>: ")
		p.value(to)
		return
	}
	if p.unavailable(v) {
		return
	}
	a := target.Addr(integerOf(v))
	if p.depth > 1 || !p.opt.NoAddresses {
		p.str("@" + a.String())
	}
	if p.depth > 1 {
		return // gdb shows only the target of the outermost one
	}
	if !p.opt.NoAddresses {
		p.str(": ")
	}
	if kindOf(elemOf(v.Type)) == types.Func {
		p.function(FunctionValue("", a, elemOf(v.Type)))
		return
	}
	p.value(Value{Type: elemOf(v.Type), Addr: a, HasAddr: true})
}

// function writes "{int (int)} 0x401136 <main>".
func (p *printer) function(v Value) {
	if !p.raw() {
		p.str(formatBytes(intValue(typeUlong, uint64(v.Addr)).Bytes, typeUlong, p.opt, p.env))
		return
	}
	p.str("{" + TypeName(v) + "} ")
	p.placeOf(v.Addr, true)
}

// address writes an address with its symbol.
func (p *printer) address(a target.Addr) { p.placeOf(a, !p.opt.NoSymbols) }

func (p *printer) placeOf(a target.Addr, symbol bool) {
	if !p.opt.NoAddresses {
		p.str(a.String())
	}
	if symbol {
		s := p.symbol(a)
		if s != "" && !p.opt.NoAddresses {
			p.str(" ")
		}
		p.str(s)
	}
}

func symbolAt(a target.Addr, env Env) string {
	name, off, ok := env.Symbolize(a)
	switch {
	case !ok || a == 0:
		return ""
	case off == 0:
		return "<" + name + ">"
	}
	return "<" + name + "+" + decimal(off) + ">"
}
