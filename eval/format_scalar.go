package eval

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

func decimal(u uint64) string { return strconv.FormatUint(u, 10) }

// scalar writes a scalar whose bytes were read.
func (p *printer) scalar(v Value) {
	t := v.Type.Strip()
	if !p.raw() {
		p.formatted(v, t)
		return
	}
	switch t.Kind {
	case types.Float:
		f, ok := floatOf(v.Bytes, t)
		if !ok {
			p.str("<invalid float value>")
			return
		}
		p.str(f.String())
		return
	case types.Complex:
		p.complex(v, t)
		return
	}
	if t.Kind == types.MemberPointer {
		p.memberPointer(v, t)
		return
	}
	if !isIntegral(t) {
		p.str("<unsupported type " + TypeName(v) + ">")
		return
	}
	if len(v.Bytes) > 8 && v.BitSize == 0 {
		p.str(bigInt(v.Bytes, isSigned(t)).String())
		return
	}
	u := integerOf(v)
	if letter := p.opt.radixFormat(); letter != 0 && t != typeFlags {
		switch t.Kind {
		case types.Bool, types.Int, types.Uint, types.Char:
			defer func(old byte) { p.opt.Format = old }(p.opt.Format)
			p.opt.Format = letter
			p.formatted(v, t)
			return
		}
	}
	switch t.Kind {
	case types.Bool:
		p.bool(u)
	case types.Enum:
		p.enum(u, t)
	case types.Pointer:
		p.pointer(v, target.Addr(u))
	default:
		if names, ok := flagBits(t); ok {
			p.str(formatFlags(uint32(u), names))
			return
		}
		if prefix, ok := charKind(v.Type); ok {
			p.char(u, sizeOf(t), isSigned(t), prefix)
			return
		}
		if text := goNumber(u, t); text != "" && !p.opt.Raw {
			p.str(text)
			return
		}
		if p.opt.Format == 's' && t.Size == 1 {
			p.char(u, 1, isSigned(t), "")
			return
		}
		p.integer(u, 0, isSigned(t))
	}
}

func (p *printer) integer(u uint64, hexSize int, signed bool) {
	switch {
	case hexSize > 0:
		p.str("0x" + strconv.FormatUint(u, 16))
	case signed:
		p.str(strconv.FormatInt(int64(u), 10))
	default:
		p.str(decimal(u))
	}
}

func (p *printer) bool(u uint64) {
	switch u {
	case 0:
		p.str("false")
	case 1:
		p.str("true")
	default:
		p.str(decimal(u))
	}
}

// char writes 97 'a'.
func (p *printer) char(u uint64, size int64, signed bool, prefix string) {
	p.integer(u, 0, signed)
	p.str(" ")
	b := intValue(typeUlong, u).Bytes[:size]
	p.str(prefix + "'" + escape(b, int(size), '\'') + "'")
}

// enum writes the name of an enumerator or, if all of them are single bits, the names of the bits.
func (p *printer) enum(u uint64, t *types.Type) {
	names := t.Enumerators()
	flags := len(names) > 0
	for _, e := range names {
		if uint64(e.Value) == u {
			p.str(enumName(t, e.Name))
			return
		}
		flags = flags && e.Value >= 0 && e.Value&(e.Value-1) == 0
	}
	if !flags {
		p.integer(u, 0, isSigned(t))
		return
	}
	var parts []string
	for _, e := range names {
		if e.Value != 0 && u&uint64(e.Value) != 0 {
			u &^= uint64(e.Value)
			parts = append(parts, enumName(t, e.Name))
		}
	}
	if u != 0 {
		parts = append(parts, "unknown: 0x"+strconv.FormatUint(u, 16))
	}
	if len(parts) == 0 {
		p.str("0")
		return
	}
	p.str("(" + strings.Join(parts, " | ") + ")")
}

// enumName returns an enumerator's name with its scope, if the language needs it.
func enumName(t *types.Type, name string) string {
	if t.Name == "" || strings.Contains(name, "::") {
		return name
	}
	switch {
	case t.Lang == lang.Rust, t.Lang == lang.CPlusPlus && t.Scoped():
		return t.Name + "::" + name
	case t.Lang == lang.CPlusPlus:
		return strings.TrimSuffix(t.Name, unqualified(t.Name)) + name
	}
	return name
}

// pointer writes an address, its symbol, and the string that a char pointer points to.
func (p *printer) pointer(v Value, a target.Addr) {
	elem := v.Type.Strip().ElemAsDeclared()
	prefix, text := charKind(elem)
	if p.opt.Format == 's' && !text && elem != nil {
		if t := elem.Strip(); t.Size == 1 && (t.Kind == types.Int || t.Kind == types.Uint) {
			text = true
		}
	}
	if elem != nil && elem.Strip().Lang == lang.Rust {
		text = false // a *const u8 is not a C string
	}
	if !text || a == 0 {
		p.address(a)
		return
	}
	if p.opt.AddressOfStrings && !p.opt.NoAddresses {
		p.address(a)
		p.str(" ")
	}
	p.stringAt(a, int(sizeOf(elem)), prefix)
}

func (p *printer) complex(v Value, t *types.Type) {
	half := len(v.Bytes) / 2
	part := types.New(types.Float, "", int64(half), true, nil)
	part.Quad = t.Quad
	re, ok1 := floatOf(v.Bytes[:half], part)
	im, ok2 := floatOf(v.Bytes[half:], part)
	if !ok1 || !ok2 {
		p.str("<invalid float value>")
		return
	}
	p.str(re.String() + " + " + im.String() + "i")
}

// bigInt decodes an integer of any size.
func bigInt(b []byte, signed bool) *big.Int {
	r := slices.Clone(b)
	slices.Reverse(r)
	n := new(big.Int).SetBytes(r)
	if signed && len(b) > 0 && b[len(b)-1]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(b))*8))
	}
	return n
}

// formatted writes a scalar by a format letter. Its bytes are treated as an integer, even those of
// a floating point number.
func (p *printer) formatted(v Value, t *types.Type) {
	b := v.Bytes
	if v.BitSize > 0 {
		b = intValue(typeUlong, integerOf(v)).Bytes
		if t.Size > 0 && t.Size < 8 {
			b = b[:t.Size]
		}
	}
	if t.Kind == types.Float && len(b) == 16 {
		if f, _ := floatFormat(t, 16); f == formatX87 && p.opt.Format != 'f' {
			b = b[:10] // the rest is padding
		}
	}
	p.str(formatBytes(b, t, p.opt, p.env))
}

// formatBytes formats bytes by a format letter.
func formatBytes(b []byte, t *types.Type, opt Options, env Env) string {
	letter := opt.Format
	n := bigInt(b, false)
	switch letter {
	case 'x':
		return "0x" + n.Text(16)
	case 'z':
		return fmt.Sprintf("0x%0*s", len(b)*2, n.Text(16))
	case 'o':
		if n.Sign() == 0 {
			return "0"
		}
		return "0" + n.Text(8)
	case 't':
		return n.Text(2)
	case 'u':
		return n.String()
	case 'd', 'i':
		return bigInt(b, true).String()
	case 'c':
		c, signed := int64(int8(b[0])), true
		if t.Kind == types.Uint || t.Kind == types.Bool || t.Kind == types.Char && !t.Signed {
			c, signed = int64(b[0]), false
		}
		p := newPrinter(env, Options{})
		p.char(uint64(c), 1, signed, "")
		return p.b.String()
	case 'a':
		a := target.Addr(rawUint(b[:min(len(b), 8)]))
		if s := (&printer{env: env, opt: opt}).symbol(a); s != "" {
			return a.String() + " " + s
		}
		return a.String()
	case 'f':
		if f, ok := floatOf(b, t); ok && (t.Kind == types.Float || len(b) == 4 || len(b) == 8 || len(b) >= 10) {
			return f.String()
		}
		return bigInt(b, isSigned(t)).String()
	}
	return n.String()
}
