package abi

import (
	"fmt"
	"strings"
	"testing"

	"dbg/arch"
)

func integer(n int64) *Type   { return &Type{Kind: Integer, Size: n} }
func float(n int64) *Type     { return &Type{Kind: Float, Size: n} }
func complexOf(e *Type) *Type { return &Type{Kind: Complex, Size: 2 * e.Size, Elem: e} }
func vector(e *Type, n int64) *Type {
	return &Type{Kind: Vector, Size: e.Size * n, Elem: e, Count: n}
}
func array(e *Type, n int64) *Type {
	return &Type{Kind: Array, Size: e.Size * n, Elem: e, Count: n}
}

var x87 = &Type{Kind: Float, Size: 16, X87: true}

// structOf lays fields out as a compiler does.
func structOf(fields ...*Type) *Type {
	t := &Type{Kind: Struct}
	most := int64(1)
	for _, f := range fields {
		a := f.alignment()
		t.Size = roundUp(t.Size, a)
		t.Fields = append(t.Fields, Field{Type: f, Offset: t.Size})
		t.Size += f.Size
		most = max(most, a)
	}
	t.Size = roundUp(t.Size, most)
	return t
}

func packed(fields ...*Type) *Type {
	t := &Type{Kind: Struct}
	for _, f := range fields {
		t.Fields = append(t.Fields, Field{Type: f, Offset: t.Size})
		t.Size += f.Size
	}
	return t
}

func unionOf(fields ...*Type) *Type {
	t := structOf(fields...)
	t.Kind, t.Size = Union, 0
	a := int64(1)
	for i := range t.Fields {
		t.Fields[i].Offset = 0
		t.Size, a = max(t.Size, fields[i].Size), max(a, fields[i].alignment())
	}
	t.Size = roundUp(t.Size, a)
	return t
}

func bits(size int64, fields ...[2]int64) *Type {
	t := &Type{Kind: Struct, Size: size}
	for _, f := range fields {
		t.Fields = append(t.Fields, Field{BitOffset: f[0], BitSize: f[1]})
	}
	return t
}

var empty = &Type{Kind: Struct, Size: 1}

// byReference is a C++ class with a copy constructor.
var byReference = &Type{Kind: Struct, Size: 8, ByReference: true, Fields: []Field{{Type: integer(8)}}}

var sysvCases = []struct {
	name    string
	t       *Type
	classes string
	result  string // of a function that returns it
}{
	{"void", nil, "", ""},
	{"bool", integer(1), "INTEGER", "rax:1"},
	{"int", integer(4), "INTEGER", "rax:4"},
	{"long", integer(8), "INTEGER", "rax:8"},
	{"__int128", integer(16), "INTEGER INTEGER", "rax:8 rdx:8"},
	{"_Float16", float(2), "SSE", "xmm0:2"},
	{"float", float(4), "SSE", "xmm0:4"},
	{"double", float(8), "SSE", "xmm0:8"},
	{"__float128", float(16), "SSE SSEUP", "xmm0:16"},
	{"long double", x87, "X87 X87UP", "st0:10"},
	{"_Complex float", complexOf(float(4)), "SSE", "xmm0:8"},
	{"_Complex double", complexOf(float(8)), "SSE SSE", "xmm0:8 xmm1:8"},
	{"_Complex long double", complexOf(x87), "COMPLEX_X87", "st0:10 st1:10"},
	{"_Complex __float128", complexOf(float(16)), "MEMORY", "*rax"},
	{"__m64", vector(integer(2), 4), "SSE", "xmm0:8"},
	{"__m128", vector(float(4), 4), "SSE SSEUP", "xmm0:16"},
	{"__m256", vector(float(4), 8), "SSE SSEUP SSEUP SSEUP", "xmm0:32"},
	{"empty class", empty, "NO_CLASS", ""},
	{"struct of size 0", &Type{Kind: Struct}, "", ""},
	{"struct {int}", structOf(integer(4)), "INTEGER", "rax:4"},
	{"struct {float, float}", structOf(float(4), float(4)), "SSE", "xmm0:8"},
	{"struct {float, int}", structOf(float(4), integer(4)), "INTEGER", "rax:8"},
	{"struct {double, int}", structOf(float(8), integer(4)), "SSE INTEGER", "xmm0:8 rax:8"},
	{"struct {int, double}", structOf(integer(4), float(8)), "INTEGER SSE", "rax:8 xmm0:8"},
	{"struct {long, long}", structOf(integer(8), integer(8)), "INTEGER INTEGER", "rax:8 rdx:8"},
	{"struct {double, double}", structOf(float(8), float(8)), "SSE SSE", "xmm0:8 xmm1:8"},
	{"struct {float[3]}", structOf(array(float(4), 3)), "SSE SSE", "xmm0:8 xmm1:4"},
	{"struct {char[12]}", structOf(array(integer(1), 12)), "INTEGER INTEGER", "rax:8 rdx:4"},
	{"struct {char[17]}", structOf(array(integer(1), 17)), "MEMORY", "*rax"},
	{"struct {long[3]}", structOf(array(integer(8), 3)), "MEMORY", "*rax"},
	{"struct {__m256}", structOf(vector(float(8), 4)), "SSE SSEUP SSEUP SSEUP", "xmm0:32"},
	{"struct {__m128, __m128}", structOf(vector(float(4), 4), vector(float(4), 4)), "MEMORY", "*rax"},
	{"struct {long double}", structOf(x87), "X87 X87UP", "st0:10"},
	{"struct {_Complex float}", structOf(complexOf(float(4))), "SSE", "xmm0:8"},
	{"struct {float, _Complex float}", structOf(float(4), complexOf(float(4))), "SSE SSE", "xmm0:8 xmm1:4"},
	{"struct {_Complex long double}", structOf(complexOf(x87)), "MEMORY", "*rax"},
	{"struct {empty, double}", structOf(empty, float(8)), "NO_CLASS SSE", "xmm0:8"},
	{"packed {char, int}", packed(integer(1), integer(4)), "MEMORY", "*rax"},
	{"packed {int, char}", packed(integer(4), integer(1)), "INTEGER", "rax:5"},
	{"bit-fields of 33 bits", bits(8, [2]int64{0, 20}, [2]int64{20, 13}), "INTEGER", "rax:8"},
	{"bit-field over two eightbytes", bits(16, [2]int64{60, 10}), "INTEGER INTEGER", "rax:8 rdx:8"},
	{"union {double, float}", unionOf(float(8), float(4)), "SSE", "xmm0:8"},
	{"union {double, long}", unionOf(float(8), integer(8)), "INTEGER", "rax:8"},
	{"union {long double, int}", unionOf(x87, integer(4)), "MEMORY", "*rax"},
	{"union {long double, float}", unionOf(x87, float(4)), "MEMORY", "*rax"},
	{"union {__m128, float}", unionOf(vector(float(4), 4), float(4)), "SSE SSEUP", "xmm0:16"},
	{"class with a copy constructor", byReference, "MEMORY", "*rax"},
	{"vector of one", vector(integer(8), 1), "?", "?"},
	{"incomplete", &Type{Kind: Struct, Size: -1}, "?", "?"},
}

func text(p Place, err error) string {
	if err != nil {
		return "?"
	}
	var out []string
	if p.ByReference {
		out = append(out, "&")
	}
	for _, x := range p.Parts {
		out = append(out, fmt.Sprintf("%s:%d", arch.AMD64.RegName(x.Reg), x.Size))
	}
	switch {
	case p.Memory && p.Pointer != 0 || p.Memory && p.Offset == 0 && p.Pointer == arch.RAX && !p.ByReference:
		out = append(out, "*rax")
	case p.Memory:
		out = append(out, fmt.Sprintf("stack+%d", p.Offset))
	}
	return strings.Join(out, " ")
}

func TestSysVClasses(t *testing.T) {
	for _, c := range sysvCases {
		list, err := Classify(c.t)
		got := strings.Trim(fmt.Sprint(list), "[]")
		if err != nil {
			got = "?"
		}
		if got != c.classes {
			t.Errorf("%s is %q, want %q", c.name, got, c.classes)
		}
		if got := text(SysVResult(c.t)); got != c.result {
			t.Errorf("a result %s is in %q, want %q", c.name, got, c.result)
		}
	}
}

func TestSysVArguments(t *testing.T) {
	ints := func(n int) []*Type {
		var out []*Type
		for range n {
			out = append(out, integer(8))
		}
		return out
	}
	big := structOf(array(integer(8), 3))
	place := func(p Place) string {
		if p.Memory {
			return fmt.Sprintf("%+d", p.Offset)
		}
		return text(p, nil)
	}
	for _, c := range []struct {
		name   string
		result *Type
		args   []*Type
		fixed  int
		want   string
		stack  string // size/alignment/vectors
	}{
		{"integers", nil, ints(7), 7, "rdi:8, rsi:8, rdx:8, rcx:8, r8:8, r9:8, +0", "8/16/0"},
		{"hidden pointer", big, ints(6), 6, "rsi:8, rdx:8, rcx:8, r8:8, r9:8, +0", "8/16/0"},
		{"mixed", nil, []*Type{float(8), integer(4), structOf(float(8), integer(4)), big}, 4,
			"xmm0:8, rdi:4, xmm1:8 rsi:8, +0", "24/16/2"},
		{"no half structures", nil, append(ints(5), structOf(integer(8), integer(8)), integer(4)), 7,
			"rdi:8, rsi:8, rdx:8, rcx:8, r8:8, +0, r9:4", "16/16/0"},
		{"long double after a word", nil, []*Type{big, x87}, 2, "+0, +32", "48/16/0"},
		{"__int128 on the stack", nil, append(ints(7), integer(16)), 8,
			"rdi:8, rsi:8, rdx:8, rcx:8, r8:8, r9:8, +0, +16", "32/16/0"},
		{"empty class", nil, []*Type{empty, integer(4)}, 2, ", rdi:4", "0/16/0"},
		{"by reference", nil, []*Type{byReference, float(4)}, 2, "& rdi:8, xmm0:4", "0/16/1"},
		{"variadic", nil, []*Type{integer(8), float(8), float(8)}, 1, "rdi:8, xmm0:8, xmm1:8", "0/16/2"},
		{"variadic __m256", nil, []*Type{integer(8), vector(float(4), 8)}, 1, "rdi:8, +0", "32/32/0"},
	} {
		l, err := SysV(c.result, c.args, c.fixed)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, p := range l.Args {
			got = append(got, place(p))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
		if s := fmt.Sprintf("%d/%d/%d", l.Stack, l.StackAlign, l.Vectors); s != c.stack {
			t.Errorf("%s: stack %s, want %s", c.name, s, c.stack)
		}
	}
}

func TestGoResults(t *testing.T) {
	str := structOf(integer(8), integer(8))
	many := []*Type{}
	for range 10 {
		many = append(many, integer(8))
	}
	for _, c := range []struct {
		name            string
		params, results []*Type
		want            string
	}{
		{"int, error", []*Type{integer(8)}, []*Type{integer(8), str}, "rax:8, rbx:8 rcx:8"},
		{"float64, int, float32", nil, []*Type{float(8), integer(8), float(4)}, "xmm0:8, rax:8, xmm1:4"},
		{"complex128", nil, []*Type{complexOf(float(8))}, "xmm0:8 xmm1:8"},
		{"array of one", nil, []*Type{array(integer(8), 1)}, "rax:8"},
		{"array of two", nil, []*Type{integer(4), array(integer(8), 2)}, "rax:4, +0"},
		{"after stack parameters", []*Type{array(integer(1), 3)}, []*Type{array(integer(8), 2)}, "+8"},
		{"ten integers", nil, many, "rax:8, rbx:8, rcx:8, rdi:8, rsi:8, r8:8, r9:8, r10:8, r11:8, +0"},
		{"empty struct", nil, []*Type{{Kind: Struct}, integer(1)}, ", rax:1"},
	} {
		list, err := GoResults(c.params, c.results)
		var got []string
		for _, p := range list {
			if p.Memory {
				got = append(got, fmt.Sprintf("%+d", p.Offset))
			} else {
				got = append(got, text(p, nil))
			}
		}
		if s := strings.Join(got, ", "); s != c.want || err != nil {
			t.Errorf("%s: %q %v, want %q", c.name, s, err, c.want)
		}
	}
}

// TestGoCall has the example of Go's internal ABI specification, and calls that use the stack.
func TestGoCall(t *testing.T) {
	word, pair := integer(8), array(integer(8), 2)
	for _, c := range []struct {
		name            string
		params, results []*Type
		want            string
	}{
		{"the specification's", []*Type{integer(1), pair, integer(1)}, []*Type{structOf(word, pair), structOf(word, word)},
			"rax:1, +0, rbx:1 -> +16, rax:8 rbx:8, frame 48"},
		{"spill only", []*Type{word, float(8)}, []*Type{word}, "rax:8, xmm0:8 -> rax:8, frame 16"},
		{"small spills", []*Type{integer(1), integer(4), integer(1)}, nil, "rax:1, rbx:4, rcx:1 -> , frame 16"},
		{"results only", nil, []*Type{pair}, " -> +0, frame 16"},
	} {
		l, err := GoCall(c.params, c.results)
		places := func(list []Place) string {
			var out []string
			for _, p := range list {
				if p.Memory {
					out = append(out, fmt.Sprintf("%+d", p.Offset))
				} else {
					out = append(out, text(p, nil))
				}
			}
			return strings.Join(out, ", ")
		}
		got := fmt.Sprintf("%s -> %s, frame %d", places(l.Args), places(l.Results), l.Frame)
		if got != c.want || err != nil {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestRustResult(t *testing.T) {
	option := &Type{Kind: Variant, Size: 8, Fields: []Field{{Type: integer(4)}, {Type: integer(4), Offset: 4}}}
	for _, c := range []struct {
		name string
		t    *Type
		want string
	}{
		{"()", nil, ""},
		{"i32", integer(4), "rax:4"},
		{"f64", float(8), "xmm0:8"},
		{"&str", structOf(integer(8), integer(8)), "rax:8 rdx:8"},
		{"(f32, f32)", structOf(float(4), float(4)), "xmm0:4 xmm1:4"},
		{"(u8, f64)", structOf(integer(1), float(8)), "rax:1 xmm0:8"},
		{"newtype", structOf(structOf(integer(2))), "rax:2"},
		{"three scalars", structOf(integer(2), integer(2), integer(2)), "?"},
		{"[u8; 4]", array(integer(1), 4), "?"},
		{"Option<u32>", option, "?"},
		{"i128", integer(16), "?"},
		{"String", structOf(integer(8), integer(8), integer(8)), "*rax"},
		{"(i128, i64)", structOf(integer(16), integer(8)), "?"},
	} {
		if got := text(RustResult(c.t)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestHostile gives types that no compiler makes: there is an answer or an error, and no panic.
func TestHostile(t *testing.T) {
	loop := &Type{Kind: Struct, Size: 8}
	loop.Fields = []Field{{Type: loop}}
	for _, c := range []*Type{
		loop,
		{Kind: Array, Size: 8, Count: 1 << 60, Elem: &Type{Kind: Integer, Size: 1}},
		{Kind: Array, Size: 8, Count: 3},
		{Kind: Complex, Size: 8},
		{Kind: Struct, Size: 8, Fields: []Field{{Type: integer(8), Offset: -64}}},
		{Kind: Struct, Size: 8, Fields: []Field{{BitOffset: 1 << 50, BitSize: 1 << 50}}},
		{Kind: Struct, Size: 8, Fields: []Field{{}}},
	} {
		Classify(c)
		SysV(c, []*Type{c, c, nil}, 3)
		GoResults([]*Type{c}, []*Type{c})
		RustResult(c)
		c.alignment()
	}
}
