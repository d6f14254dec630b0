package symbols

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dbg/image"
)

func TestFunctionsByName(t *testing.T) {
	for _, b := range []struct {
		build build
		names map[string]string // query: names that are found, sorted
	}{
		{build{"C", "gcc", "basic.c", flags("-g -O0")}, map[string]string{
			"main": "main", "add": "add", "tw": "tw", "sq": "sq sq", // inlined everywhere
			"nothing": "", "": "", "ma": "", "counter": "",
		}},
		{build{"C stripped of debug information", "gcc", "basic.c", nil}, map[string]string{
			"main": "main", "add": "add", "_start": "_start", "sq": "",
		}},
		{build{"C++", "g++", "classes.cc", flags("-g -O0")}, map[string]string{
			"main": "main", "overload": "overload overload overload", "overload(int)": "overload", "overload( double )": "overload",
			"overload(char const*, int&&)": "overload", "overload(long)": "",
			"_Z8overloadd": "overload",
			"area":         "geo::Square::area", "Square::area": "geo::Square::area", "geo::Square::area": "geo::Square::area", "x::Square::area": "",
			"hidden": "geo::(anonymous namespace)::hidden", "versioned": "geo::v1::versioned",
			"biggest": "geo::biggest<int>", "biggest<int>": "geo::biggest<int>", "biggest<char>": "", "geo::biggest": "geo::biggest<int>",
			"Square::operator+": "geo::Square::operator+", "geo::Square::operator+": "geo::Square::operator+",
			"geo::Square::Square(double)": "geo::Square::Square", "twice": "Local::twice",
		}},
		{build{"C++ optimised", "g++", "classes.cc", flags("-g -O2")}, map[string]string{
			"main": "main", "biggest": "geo::biggest<int>", "overload(int)": "overload",
		}},
		{build{"Rust", "rustc", "prog.rs", flags("-g")}, map[string]string{
			"prog::main": "prog::main", "area": "prog::shapes::Shape::area", "generic": "prog::generic<&str> prog::generic<f64>",
			"prog::generic": "prog::generic<&str> prog::generic<f64>",
		}},
		{build{"Go", "go", "prog.go.txt", nil}, map[string]string{
			"main.main": "main.main", "main.sum": "main.sum", "main.(*point).area": "main.(*point).area", "sum": "main.sum",
		}},
	} {
		t.Run(b.build.name, func(t *testing.T) {
			t.Parallel()
			m := load(t, compile(t, b.build.tool, b.build.source, b.build.flags...))
			for query, want := range b.names {
				var names []string
				for _, f := range m.FunctionsByName(query) {
					names = append(names, strings.ReplaceAll(f.Name, " ", ""))
					if at := m.FunctionAt(f.Lo); at == nil || len(f.Ranges) == 0 || f.Hi <= f.Lo {
						t.Errorf("%s: %+v", query, f)
					}
				}
				slices.Sort(names)
				if got := strings.Join(names, " "); got != strings.ReplaceAll(want, "(anonymous namespace)", "(anonymousnamespace)") {
					t.Errorf("%q: got %q, want %q", query, got, want)
				}
			}
		})
	}
}

func TestPLT(t *testing.T) {
	for _, f := range []string{"-g", "-g -fcf-protection -Wl,-z,ibtplt", "-g -Wl,-z,now"} {
		m := load(t, compile(t, "gcc", "basic.c", flags(f)...))
		found := false
		for _, name := range []string{".plt", ".plt.sec", ".plt.got"} {
			s, _ := m.File().Section(name)
			for a := s.Addr; a < s.Addr+16*4 && len(s.Data) > 0; a++ {
				if name, off, ok := m.SymbolAt(a); ok && name == "printf@plt" {
					found = true
					if fn := m.FunctionAt(a); fn == nil || fn.Name != name || fn.Lo+image.Addr(off) != a {
						t.Errorf("%s: FunctionAt(%v) is %+v", f, a, fn)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s: no printf@plt", f)
		}
	}
}

func TestGlobals(t *testing.T) {
	m := load(t, compile(t, "g++", "types.cc", flags("-g")...))
	for query, want := range map[string]string{
		"v_int": "int v_int", "ns::v_a": "ns::A ns::v_a", "v_a": "ns::A ns::v_a", "count": "int ns::A::count", "ns::A::count": "int ns::A::count",
		"v_hidden": "int ns::(anonymous namespace)::v_hidden", "deep::v_k": "ns::deep::K ns::deep::v_k", "none": "", "x::v_a": "",
		"v_constexpr": "const int v_constexpr",
	} {
		var got []string
		for _, v := range m.Global(query) {
			got = append(got, v.Type.String()+" "+v.Name)
			if loc := v.Locate(0); loc.Expr == nil && loc.Const == nil {
				t.Errorf("%s is nowhere", v.Name)
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

func TestTypeByName(t *testing.T) {
	for _, b := range []struct {
		build build
		types map[string]string
	}{
		{build{"C", "gcc", "types.c", flags("-g")}, map[string]string{
			"int": "int 4", "unsigned": "unsigned int 4", "unsigned long": "unsigned long 8", "long unsigned int": "unsigned long 8", "long": "long 8",
			"long long": "long long 8", "short": "short 2", "signed char": "signed char 1", "double": "double 8", "long double": "long double 16",
			"struct point": "struct point 8", "point": "struct point 8", "union both": "union both 8", "enum color": "enum color 4", "binop": "binop 8",
			"struct nothing": "", "nothing": "", "struct both": "", "bool": "bool 1", "_Bool": "_Bool 1", "": "",
		}},
		{build{"none", "gcc", "types.c", nil}, map[string]string{"int": "int 4", "unsigned long": "unsigned long 8", "struct point": ""}},
		{build{"C++", "g++", "types.cc", flags("-g")}, map[string]string{
			"ns::A": "ns::A 4", "A": "ns::A 4", "ns::deep::K": "ns::deep::K 16", "ns::Box<int, 3>": "ns::Box<int, 3> 12", "ns::Scoped": "ns::Scoped 2",
			"struct D": "D 24", "class C": "C 12", "ns::A::number": "ns::A::number 4",
		}},
		{build{"Rust", "rustc", "prog.rs", flags("-g")}, map[string]string{
			"prog::shapes::Plain": "prog::shapes::Plain 1", "i32": "i32 4", "u8": "u8 1",
		}},
		{build{"Go", "go", "prog.go.txt", nil}, map[string]string{"main.point": "main.point 16", "string": "string 16", "[]int": "[]int 24", "*main.point": "*main.point 8"}},
	} {
		t.Run(b.build.name, func(t *testing.T) {
			t.Parallel()
			m := load(t, compile(t, b.build.tool, b.build.source, b.build.flags...))
			for query, want := range b.types {
				got := ""
				if ty := m.Type(query); ty != nil {
					got = fmt.Sprintf("%s %d", ty, ty.Size)
				}
				if got != want {
					t.Errorf("%q: got %q, want %q", query, got, want)
				}
			}
		})
	}
}

// TestLocals looks at variables of other languages than C.
func TestLocals(t *testing.T) {
	for _, b := range []struct {
		build build
		fn    string
		want  string
	}{
		{build{"Rust", "rustc", "prog.rs", flags("-g")}, "generic<f64>", "f64 value, usize times"},
		{build{"Go", "go", "prog.go.txt", flags("-gcflags=-N")}, "main.sum", "[]int list, string name, int total"},
	} {
		t.Run(b.build.name, func(t *testing.T) {
			m := load(t, compile(t, b.build.tool, b.build.source, b.build.flags...))
			fs := m.FunctionsByName(b.fn)
			if len(fs) != 1 {
				t.Fatalf("%d functions", len(fs))
			}
			var got []string
			a := m.AfterPrologue(fs[0]).Addr
			for _, v := range m.Locals(a + 30) {
				if v.Depth > 1 || v.Name == "~r0" {
					continue
				}
				got = append(got, v.Type.String()+" "+v.Name)
				if loc := v.Locate(a + 30); loc.Expr == nil || loc.FrameBase == nil || loc.Fill == nil {
					t.Errorf("%s: %+v", v.Name, loc)
				}
			}
			if s := strings.Join(got, ", "); !strings.HasPrefix(s, b.want) {
				t.Errorf("got %q, want %q", s, b.want)
			}
		})
	}
}
