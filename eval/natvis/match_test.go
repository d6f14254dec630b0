package natvis

import (
	"fmt"
	"strings"
	"testing"
)

// TestMatch compares one pattern with one name. want has what the wildcards stand for, or "no".
func TestMatch(t *testing.T) {
	for _, c := range []struct{ pattern, name, want string }{
		{"S", "S", ""},
		{"S", "T", "no"},
		{"S", "n::S", "no"},
		{"n::S", "n::S", ""},
		{"::n::S", "n::S", ""},
		{"struct n::S", "n::S", ""},
		{"enum2$<*>", "enum2$<core::option::Option<i32> >", "core::option::Option<i32>"},
		{"S", "S<int>", "no"},
		{"S<>", "S<>", ""},
		{"S<*>", "S<>", "no"},
		{"S<>", "S<int>", "no"},

		{"V<*>", "V<int>", "int"},
		{"V<*>", "V<int, std::allocator<int> >", "int|std::allocator<int>"},
		{"V<*,*>", "V<int>", "no"},
		{"V<*,*>", "V<int, long, char>", "int|long|char"},
		{"V<bool,*>", "V<bool, std::allocator<bool> >", "std::allocator<bool>"},
		{"V<bool,*>", "V<int, std::allocator<int> >", "no"},
		{"V<*,bool>", "V<int,bool>", "int"},
		{"V<*,bool>", "V<int,char,bool>", "no"},
		{"V<P<*,*>,*>", "V<P<int, long>, A<int> >", "int|long|A<int>"},
		{"V<P<*>*>", "V<P<int>*>", "int"},
		{"V<P<*> const&>", "V<const P<int> &>", "int"},
		{"V<P<*>*>", "V<P<int>>", "no"},
		{"alloc::rc::Rc<slice2$<*>,*>", "alloc::rc::Rc<slice2$<i32>,alloc::alloc::Global>", "i32|alloc::alloc::Global"},
		{"M<*>::iterator", "M<int, char>::iterator", "int|char"},
		{"M<*>::N<*>", "M<int>::N<char>", "int|char"},

		{"V<V<*> >", "V<V<int>>", "int"},
		{"V<V<V<int>>>", "V< V< V<int> > >", ""},
		{"V<unsigned long>", "V<long unsigned int>", ""},
		{"V<unsigned __int64>", "V<unsigned long long>", ""},
		{"V<signed char>", "V<char>", "no"},
		{"V<signed int>", "V<int>", ""},
		{"V<long double>", "V<double>", "no"},
		{"V<const char *>", "V<char const*>", ""},
		{"V<char* const>", "V<char const*>", "no"},
		{"V<const volatile int>", "V<volatile int const>", ""},
		{"V<int[3]>", "V<int [3]>", ""},
		{"std::unique_ptr<char const [0],*>", "std::unique_ptr<const char [], D<const char []> >", "D<const char []>"},
		{"V<int&&>", "V<int &&>", ""},
		{"V<int(*)(char)>", "V<int (*)(char)>", ""},
		{"F<*>", "F<void (int, std::vector<int, A> const&)>", "void (int, std::vector<int, A> const&)"},
		{"F<void(int)>", "F<void (int)>", ""},

		{"A<int,5>", "A<int, 5ul>", ""},
		{"A<int,5>", "A<int, 5ULL>", ""},
		{"A<int,5>", "A<int, 6ul>", "no"},
		{"A<-1>", "A<-1>", ""},
		{"A<1>", "A<-1>", "no"},
		{"A<*>", "A<(Enum)3>", "(Enum)3"},
		{"A<(Enum)3>", "A<(Enum)3>", ""},
		{"A<n::Enum::B>", "A<n::Enum::B>", ""},
		{"A<true>", "A<true>", ""},
		{"A<'a'>", "A<'a'>", ""},
		{"A<*,*>", "A<',', '>'>", "','|'>'"},
		{"A<*,*>", "A<(a>b), (1>2)>", "(a>b)|(1>2)"},
		{"A<*,*>", `A<"x,y>", 1>`, `"x,y>"|1`},
		{"A<*>", "A<S{1, 2}>", "S{1, 2}"},
		{"A<*,*>", "A<(&f), &n::g>", "(&f)|&n::g"},

		{"n::(anonymous namespace)::S", "n::{anonymous}::S", ""},
		{"n::`anonymous namespace'::S", "n::(anonymous namespace)::S", ""},
		{"V<*>", "V<(anonymous namespace)::S>", "(anonymous namespace)::S"},
		{"f(int)::S", "f(int)::S", ""},
		{"f(int)::S", "f(long)::S", "no"},
		{"main()::S<*>", "main()::S<int>", "int"},
		{"V<*,*>", "V<C::f(int, A<B>) const::S, int>", "C::f(int, A<B>) const::S|int"},
		{"V<*,*>", "V<main()::<lambda(int, A<B>)>, int>", "main()::<lambda(int, A<B>)>|int"},
		{"V<*,*>", "V<main()::{lambda(int, A<B>)#1}, int>", "main()::{lambda(int, A<B>)#1}|int"},
		{"V<*,*>", "V<(lambda at /a,b/<c>.cpp:3:5), int>", "(lambda at /a,b/<c>.cpp:3:5)|int"},
		{"V<*,*>", "V<main::{closure_env#0}, i32>", "main::{closure_env#0}|i32"},
		{"V<*,*>", "V<(& A::operator<), int>", "(& A::operator<)|int"},
		{"V<*,*>", "V<&A::operator->, int>", "&A::operator->|int"},
		{"V<*,*>", "V<fn(i32) -> alloc::vec::Vec<i32>, A>", "fn(i32) -> alloc::vec::Vec<i32>|A"},
		{"V<*,*>", "V<&mut [u8; 3], (i32, A<B>)>", "&mut [u8; 3]|(i32, A<B>)"},
		{"V<*>", "V<&'a str>", "&'a str"},
		{"V<*>", "V<dyn core::fmt::Debug>", "dyn core::fmt::Debug"},
		{"&str", "&str", ""},
		{"(i32,u8)", "(i32, u8)", ""},
		{"main.Pair", "main.Pair", ""},
		{"V<*>", "V<int", "no"},
		{"V<*>", "V<int>>", "no"},
		{"*", "int", "no"},
		{"V*", "VV", "no"},
	} {
		args, ok := ParseTypeName(c.pattern).Match(ParseTypeName(c.name))
		var texts []string
		for _, a := range args {
			texts = append(texts, a.Text)
		}
		got := strings.Join(texts, "|")
		if !ok {
			got = "no"
		}
		if got != c.want {
			t.Errorf("%s for %s: got %q, want %q", c.pattern, c.name, got, c.want)
		}
		if key := typeKey(c.name); key != ParseTypeName(c.name).key() {
			t.Errorf("the key of %s is %q, the quick one %q", c.name, ParseTypeName(c.name).key(), key)
		}
	}
}

func TestMatchPath(t *testing.T) {
	args, ok := ParseTypeName("M<*,N<*>>::It<*>").Match(ParseTypeName("M<int, N<char>>::It<long, bool>"))
	got := fmt.Sprint(args, ok)
	if want := "[{int [{1 0}]} {char [{1 1} {0 0}]} {long [{0 0}]} {bool [{0 1}]}] true"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// viewsOf returns a file with these names, each with a display string that is its number.
func viewsOf(t testing.TB, file string, types ...string) *File {
	t.Helper()
	var b strings.Builder
	b.WriteString("<AutoVisualizer>")
	for _, typ := range types {
		name, attributes, _ := strings.Cut(typ, "|")
		name = strings.NewReplacer("<", "&lt;", "&", "&amp;").Replace(name)
		fmt.Fprintf(&b, "<Type Name=\"%s\" %s/>", name, attributes)
	}
	b.WriteString("</AutoVisualizer>")
	f, problems := Parse(file, []byte(b.String()))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return f
}

// TestPreference checks the order of the views of one type.
func TestPreference(t *testing.T) {
	for _, c := range []struct {
		name  string
		types []string
		query string
		want  string // patterns in order of preference
	}{
		{"exact before wildcard", []string{"V<*>", "V<int>"}, "V<int>", "V<int> V<*>"},
		{"more names", []string{"V<*>", "V<P<*>>", "V<P<int>>"}, "V<P<int>>", "V<P<int>> V<P<*>> V<*>"},
		{"more wildcards", []string{"t<*>", "t<*,*>", "t<*,*,*>"}, "t<int,int>", "t<*,*> t<*>"},
		{"specific before priority", []string{"V<*>|Priority='High'", "V<int>|Priority='Low'"}, "V<int>", "V<int> V<*>"},
		{"priority before order", []string{"V<*>|Priority='MediumLow'", "V< * >", "V<* >|Priority='High'"},
			"V<int>", "V<* > V< * > V<*>"},
		{"order", []string{"S", "::S"}, "S", "S ::S"},
		{"view before priority", []string{"S|Priority='High'", "::S|IncludeView='x'"}, "S", "::S S"},
		{"const does not count", []string{"S"}, "const S", "S"},
		{"a pointer counts", []string{"S"}, "S*", ""},
		{"none", []string{"S"}, "T", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Set
			s.Add(viewsOf(t, "f", c.types...), System)
			var got []string
			for _, m := range s.Match(c.query) {
				got = append(got, m.Pattern.Name.Text)
			}
			if g := strings.Join(got, " "); g != c.want {
				t.Errorf("got %q, want %q", g, c.want)
			}
		})
	}
}

func TestLayers(t *testing.T) {
	var s Set
	s.Add(viewsOf(t, "system", "V<int>"), System)
	s.Add(viewsOf(t, "project", "V<*>"), Project)
	s.Add(viewsOf(t, "user", "V<*>"), User)
	var got []string
	for _, m := range s.Match("V<int>") {
		got = append(got, m.Type.File.Name)
	}
	if g := strings.Join(got, " "); g != "project user system" {
		t.Errorf("got %s", g)
	}
}

// TestAlternativeOnce checks that a type is found once if two of its names match.
func TestAlternativeOnce(t *testing.T) {
	f, _ := Parse("f", []byte(`<AutoVisualizer><Type Name="V&lt;*&gt;">
		<AlternativeType Name="V&lt;int&gt;" Inheritable="0"/></Type></AutoVisualizer>`))
	var s Set
	s.Add(f, System)
	m := s.Match("V<int>")
	if len(m) != 1 || m[0].Pattern.Name.Text != "V<int>" || m[0].Pattern.Inheritable {
		t.Errorf("got %+v", m)
	}
}

func TestViewsAllow(t *testing.T) {
	for _, c := range []struct {
		v    Views
		view string
		want bool
	}{
		{Views{}, "", true}, {Views{}, "x", true},
		{Views{Include: []string{"x"}}, "", false}, {Views{Include: []string{"x"}}, "x", true},
		{Views{Exclude: []string{"x"}}, "", true}, {Views{Exclude: []string{"x"}}, "x", false},
		{Views{Include: []string{"x", "y"}, Exclude: []string{"y"}}, "y", false},
	} {
		if got := c.v.Allow(c.view); got != c.want {
			t.Errorf("%+v in %q: got %t", c.v, c.view, got)
		}
	}
}

// BenchmarkNoView is the cost for a type that none of 2,000 views is for.
func BenchmarkNoView(b *testing.B) {
	var names []string
	for i := range 2000 {
		names = append(names, fmt.Sprintf("n::S%d<*>", i))
	}
	var s Set
	s.Add(viewsOf(b, "f", names...), System)
	b.ReportAllocs()
	for b.Loop() {
		if s.Match("std::map<int, std::vector<char, std::allocator<char> >, std::less<int> >") != nil {
			b.Fatal("found")
		}
	}
}
