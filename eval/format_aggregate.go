package eval

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// structure writes {a = 1, b = 2}.
func (p *printer) structure(v Value) {
	if size := sizeOf(v.Type); size >= 0 && size <= maxKeep {
		// Read the whole structure at once. If that fails, each field shows its own error.
		if r := load(v, p.env); r.Avail != Unreadable || !v.HasAddr {
			v = r
		}
	}
	if p.raw() && p.language(v) || p.unavailable(v) {
		return
	}
	fields := v.Type.Strip().Fields()
	// A virtual base is part of the complete object only once, even if several classes have it.
	isBase := p.isBase
	if !isBase {
		defer func(was map[*types.Type]bool) { p.virtuals = was }(p.virtuals)
		p.virtuals = nil
	}
	p.isBase = false
	p.open("{")
	shown, members, bases := 0, 0, 0
	for i := range fields {
		f := &fields[i]
		if f.Static && p.opt.NoStatics {
			continue
		}
		if !f.Base {
			members++
		}
		if f.Virtual && f.Type != nil {
			if p.virtuals[f.Type.Strip()] {
				continue
			}
			if p.virtuals == nil {
				p.virtuals = map[*types.Type]bool{}
			}
			p.virtuals[f.Type.Strip()] = true
		}
		if p.full() {
			p.str("...")
			break
		}
		if bases > 0 && bases == shown && p.opt.Pretty {
			p.str(", ") // gdb's text has this blank
			p.line(p.level)
			if !f.Base {
				p.str("members of " + v.Type.Strip().Name + ":")
				p.line(p.level)
			}
		} else {
			p.between(shown == 0, p.opt.Pretty)
		}
		shown++
		if f.Base {
			bases++
		}
		switch {
		case f.Static:
			p.str("static " + f.Name + " = ")
			p.value(staticMember(v, f, p.env))
			continue
		case f.Base:
			p.str("<" + baseName(f) + "> = ")
			p.isBase = true
		case f.Name != "":
			p.str(f.Name + " = ")
		}
		m := fieldOf(v, f, p.env)
		p.value(m)
		if p.opt.Vtables && isVptr(f) && p.raw() {
			p.vtable(m, v.Type)
		}
		p.isBase = false
	}
	if members == 0 {
		if shown > 0 {
			p.str(", ")
		}
		p.str("<No data fields>")
	}
	p.close("}", p.opt.Pretty && members > 0)
}

// baseName returns the name of a base class.
func baseName(f *types.Field) string {
	if f.Name != "" {
		return f.Name
	}
	if f.Type != nil {
		return f.Type.String()
	}
	return "?"
}

// array writes {1, 2, 3}, or text for an array of characters.
func (p *printer) array(v Value) {
	elem := elemOf(v.Type)
	size := sizeOf(elem)
	total := sizeOf(v.Type)
	if size <= 0 || total < 0 {
		// int x[]: the flexible member of a structure shows where it is.
		if v.HasAddr && size > 0 {
			p.str(v.Addr.String())
			return
		}
		p.str("<incomplete array>")
		return
	}
	count := total / size
	if n := v.Type.Strip().Count; n >= 0 && n < count {
		count = n
	}
	if prefix, ok := charKind(elem); ok && p.raw() && v.Avail == Available && elem.Strip().Lang != lang.Rust {
		p.charArray(v, prefix)
		return
	}
	v = p.preload(v, size, total)
	if p.unavailable(v) {
		return
	}
	open, end := "{", "}"
	if l := v.Type.Strip().Lang; l == lang.Rust || l == lang.Go {
		open, end = "[", "]"
	}
	p.open(open)
	p.elements(count, ", ", func(i int64) Value { return part(v, i*size, elem, "") })
	p.close(end, p.opt.PrettyArrays && count > 0)
}

// preload reads as much of an array at once as is sensible.
func (p *printer) preload(v Value, size, total int64) Value {
	if v.Bytes != nil || !v.HasAddr || v.Avail != Available {
		return v
	}
	n := min(total, maxFetch) / size * size
	b := make([]byte, n)
	got, err := p.env.ReadMemory(v.Addr, b)
	if err != nil || int64(got) < n {
		if got = max(got, 0); int64(got) < size && !isStruct(elemOf(v.Type)) {
			v.Avail, v.Err = Unreadable, cannotAccess(err, v.Addr+target.Addr(got))
			return v
		}
	}
	v.Bytes = b[:int64(got)/size*size]
	return v
}

// elements writes a sequence. Consecutive equal elements are counted.
func (p *printer) elements(count int64, separator string, at func(int64) Value) {
	printed := 0
	begin := func(i int64) {
		if i > 0 && p.opt.PrettyArrays {
			p.str(strings.TrimRight(separator, " "))
		} else if i > 0 {
			p.str(separator)
		}
		if p.opt.PrettyArrays {
			p.line(p.level)
		}
		if p.opt.Indexes {
			fmt.Fprintf(&p.b, "[%d] = ", i)
		}
	}
	for i := int64(0); i < count; {
		if printed >= p.opt.MaxElements || p.full() {
			p.str("...")
			return
		}
		begin(i)
		v := at(i)
		run := int64(1)
		for i+run < count && same(v, at(i+run)) {
			run++
		}
		if run <= int64(p.opt.Repeats) {
			p.value(v)
			i++
			printed++
			// Write the rest of a short run without comparing again.
			for ; run > 1 && printed < p.opt.MaxElements; run-- {
				begin(i)
				p.value(v)
				i++
				printed++
			}
			if failed(v, p.env) {
				if i < count {
					p.str("...")
				}
				return
			}
			continue
		}
		p.value(v)
		fmt.Fprintf(&p.b, " <repeats %d times>", run)
		i += run
		printed += p.opt.Repeats
	}
}

// same reports whether two elements have the same text.
func same(a, b Value) bool {
	if a.Avail != b.Avail || a.Avail == Partial || a.Avail == Unreadable {
		return false
	}
	if a.Avail != Available {
		return true
	}
	return a.Bytes != nil && b.Bytes != nil && bytes.Equal(a.Bytes, b.Bytes)
}

// failed reports whether the value could not be read, so that later ones can't be read either.
func failed(v Value, mem target.Memory) bool {
	if v.Bytes != nil || isStruct(v.Type) || kindOf(v.Type) == types.Array {
		return false
	}
	var access *AccessError
	v = load(v, mem)
	return v.Avail == Unreadable && errors.As(v.Err, &access)
}
