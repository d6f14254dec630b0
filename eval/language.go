package eval

import (
	"fmt"
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// sequence is a sequence of elements that a Go or Rust structure describes.
type sequence struct {
	count, capacity int64
	elem            *types.Type
	addr            target.Addr
	text            bool // it is a string
}

func (s *sequence) at(i int64) Value {
	v := Value{Type: s.elem, Addr: s.addr + target.Addr(i*sizeOf(s.elem)), HasAddr: true}
	if sizeOf(s.elem) == 0 {
		v.Bytes = []byte{}
	}
	return v
}

// sequenceOf reads the structures of strings and slices in Go and Rust: Go's string {str, len} and
// []T {array, len, cap}; Rust's &str, &[T], *mut [T], Box<str> and Box<[T]> {data_ptr, length},
// String {vec} and Vec<T> {buf, len}.
func sequenceOf(v Value, env Env) (sequence, bool) {
	if !isStruct(v.Type) || env == nil {
		return sequence{}, false
	}
	t := v.Type.Strip()
	name := unqualified(t.Name)
	var ptr, count, capacity Value
	switch {
	case t.Lang == lang.Go && t.Name == "string":
		ptr, count = field(v, "str"), field(v, "len")
		capacity = count
	case t.Lang == lang.Go && (strings.HasPrefix(t.Name, "[]") || t.GoElem() != nil):
		ptr, count, capacity = field(v, "array"), field(v, "len"), field(v, "cap")
	case t.Lang == lang.Rust && (strings.HasPrefix(t.Name, "&") || strings.HasPrefix(t.Name, "*mut [") || strings.HasPrefix(t.Name, "*const [") ||
		strings.HasPrefix(name, "Box<[") || strings.HasPrefix(name, "Box<str,")):
		ptr, count = field(v, "data_ptr"), field(v, "length")
		if isStruct(count.Type) && sizeOf(t) == 16 {
			count = part(v, 8, typeUlong, "length") // rustc 1.60 gives it the type of the Box's allocator
		}
		capacity = count
	case t.Lang == lang.Rust && name == "String":
		s, ok := sequenceOf(field(v, "vec"), env)
		s.text = true
		return s, ok && sizeOf(s.elem) == 1
	case t.Lang == lang.Rust && strings.HasPrefix(name, "Vec<"):
		ptr, count = innerPointer(field(v, "buf"), 0), field(v, "len")
		capacity = count
	default:
		return sequence{}, false
	}
	ptr, count, capacity = load(ptr, env), load(count, env), load(capacity, env)
	if kindOf(ptr.Type) != types.Pointer || ptr.Avail != Available || count.Avail != Available || capacity.Avail != Available ||
		!isIntegral(count.Type) || !isIntegral(capacity.Type) {
		return sequence{}, false
	}
	s := sequence{elem: elemOf(ptr.Type), addr: target.Addr(integerOf(ptr)),
		count: int64(integerOf(count)), capacity: int64(integerOf(capacity))}
	if strings.HasPrefix(name, "Vec<") {
		// The buffer consists of bytes; only the arguments of the type tell the element type.
		if args := t.TemplateArgs(); len(args) > 0 && args[0].Type != nil {
			s.elem = args[0].Type
		} else if own := env.Type(firstArgument(name)); own != nil {
			s.elem = own
		}
		if sizeOf(s.elem) == 0 && s.elem.Strip().Lang == lang.Rust {
			return s, s.count >= 0 // Vec<()>
		}
	}
	s.text = t.Name == "string" || t.Name == "&str" || t.Name == "&mut str" || strings.HasPrefix(name, "Box<str,")
	size := sizeOf(s.elem)
	return s, s.count >= 0 && size > 0 && s.count <= (1<<47)/size
}

// field returns the direct member with a name, or an unavailable value.
func field(v Value, name string) Value {
	if isStruct(v.Type) {
		fields := v.Type.Strip().Fields()
		for i := range fields {
			if fields[i].Name == name && !fields[i].Static {
				return fieldOf(v, &fields[i], nil)
			}
		}
	}
	return Value{Type: typeVoid, Avail: OptimizedOut}
}

// innerPointer finds the pointer inside Unique, NonNull and RawVec.
func innerPointer(v Value, depth int) Value {
	if kindOf(v.Type) == types.Pointer {
		return v
	}
	if depth < 8 && isStruct(v.Type) {
		fields := v.Type.Strip().Fields()
		for i := range fields {
			if p := innerPointer(fieldOf(v, &fields[i], nil), depth+1); kindOf(p.Type) == types.Pointer {
				return p
			}
		}
	}
	return Value{Type: typeVoid, Avail: OptimizedOut}
}

// unqualified returns a type's name without its modules: Vec<alloc::string::String> for
// alloc::vec::Vec<alloc::string::String>.
func unqualified(name string) string {
	head, _, _ := strings.Cut(name, "<")
	if i := strings.LastIndex(head, "::"); i >= 0 {
		return name[i+2:]
	}
	return name
}

// firstArgument returns T for Vec<T, A>.
func firstArgument(name string) string {
	_, args, _ := strings.Cut(name, "<")
	level := 0
	for i, c := range args {
		switch c {
		case '<', '(', '[':
			level++
		case '>', ')', ']':
			level--
		}
		if level < 0 || level == 0 && c == ',' {
			return strings.TrimSpace(args[:i])
		}
	}
	return ""
}

// language writes structures that have a special form in Go or Rust.
func (p *printer) language(v Value) bool {
	t := v.Type.Strip()
	switch forced := p.opt.Language; {
	case forced == lang.C || forced == lang.CPlusPlus || forced == lang.Asm:
		return false
	case forced == lang.Rust && t.Lang != lang.Rust && t.Kind == types.Struct && p.plainStruct(t):
		p.rustStruct(v, t)
		return true
	}
	if t.Lang != lang.Go && t.Lang != lang.Rust || v.Avail != Available && v.Avail != Partial {
		return false
	}
	if form, ok := variantOf(v, p.env); ok {
		p.variant(form)
		return true
	}
	if s, ok := sequenceOf(v, p.env); ok {
		switch {
		case s.text:
			p.text(&s)
		case t.Lang == lang.Go:
			p.str(fmt.Sprintf("%s len: %d, cap: %d, [", t.Name, s.count, s.capacity))
			p.sequence(&s, ",")
			p.str("]")
		case strings.HasPrefix(unqualified(t.Name), "Vec<"):
			p.str(fmt.Sprintf("Vec(size=%d) {", s.count))
			p.sequence(&s, ", ")
			p.str("}")
		default:
			p.str(fmt.Sprintf("%s(size=%d) {", t.Name, s.count))
			p.sequence(&s, ", ")
			p.str("}")
		}
		return true
	}
	if t.Lang == lang.Rust {
		p.rustStruct(v, t)
		return true
	}
	return false
}

// sequence writes the elements between brackets.
func (p *printer) sequence(s *sequence, separator string) {
	if a, ok := arrayOf(s.elem, s.count); ok {
		size := sizeOf(s.elem)
		whole := p.preload(Value{Type: a, Addr: s.addr, HasAddr: true}, size, size*s.count)
		if s.count > 0 && p.unavailable(whole) {
			return
		}
		p.elements(s.count, separator, func(i int64) Value { return part(whole, i*size, s.elem, "") })
	} else if sizeOf(s.elem) == 0 {
		p.elements(s.count, separator, s.at)
	}
}

// text writes a string with a known length.
func (p *printer) text(s *sequence) {
	n := min(s.count, int64(p.opt.MaxElements)*4)
	b := make([]byte, n)
	got, err := p.env.ReadMemory(s.addr, b)
	if err != nil || int64(got) < n {
		b = b[:max(got, 0)]
		if len(b) == 0 {
			p.str("<error: " + cannotAccess(err, s.addr).Error() + ">")
			return
		}
	}
	more := int64(len(b)) < s.count
	if runes := 0; len(b) > p.opt.MaxElements {
		for i := range string(b) {
			if runes == p.opt.MaxElements {
				b, more = b[:i], true
				break
			}
			runes++
		}
	}
	p.str(quoted(b, 1, "", p.opt.MaxElements, more))
}

// variant writes the active variant of a Rust enum, as gdb does: Data::Pair(3, 9), Data::Named{x:
// 1}, Data::Empty.
func (p *printer) variant(v Value) {
	if p.unavailable(v) {
		return
	}
	if !isStruct(v.Type) {
		p.value(v)
		return
	}
	fields := v.Type.Strip().Fields()
	p.str(TypeName(v))
	p.rustFields(v, fields)
}

// rustFields writes fields between brackets, or nothing if there are none.
func (p *printer) rustFields(v Value, fields []types.Field) {
	if len(fields) == 0 {
		return
	}
	tuple := true
	for i := range fields {
		tuple = tuple && fields[i].Name == fmt.Sprintf("__%d", i)
	}
	open, end := "{", "}"
	if tuple {
		open, end = "(", ")"
	}
	p.str(open)
	for i := range fields {
		if i > 0 {
			p.str(", ")
		}
		if !tuple {
			p.str(fields[i].Name + ": ")
		}
		p.value(fieldOf(v, &fields[i], p.env))
	}
	p.str(end)
}

// rustStruct writes Point {x: 1, y: 2} and Pair (1, 2), and tuples as (1, 2).
func (p *printer) rustStruct(v Value, t *types.Type) {
	fields := t.Fields()
	tuple := len(fields) > 0
	for i := range fields {
		tuple = tuple && fields[i].Name == fmt.Sprintf("__%d", i)
	}
	if !strings.HasPrefix(t.Name, "(") {
		p.str(t.Name)
		if len(fields) == 0 {
			return
		}
		p.str(" ")
	}
	if len(fields) == 0 {
		p.str("()")
		return
	}
	p.rustFields(v, fields)
}

// plainStruct reports whether a structure has only members of its own: the forms of Rust have none for
// bases and static members.
func (p *printer) plainStruct(t *types.Type) bool {
	for _, f := range t.Fields() {
		if f.Base || f.Static || f.Name == "" {
			return false
		}
	}
	return true
}
