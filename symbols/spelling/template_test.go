package spelling

import (
	"slices"
	"testing"
)

func TestTypeSpellings(t *testing.T) {
	for _, tc := range []struct{ name, gcc, clang string }{
		{"std::vector<int>", "std::vector<int, std::allocator<int> >", "std::vector<int, std::allocator<int>>"},
		{"std::vector<int,std::allocator<int>>", "std::vector<int, std::allocator<int> >", "std::vector<int, std::allocator<int>>"},
		{"std::pair<const int,char const *>", "std::pair<int const, char const*>", "std::pair<const int, const char *>"},
		{"a::b< unsigned  long >::c", "a::b<unsigned long>::c", "a::b<unsigned long>::c"},
		{"std::map<int,std::vector<char*>>",
			"std::map<int, std::vector<char*, std::allocator<char*> >, std::less<int>, std::allocator<std::pair<int const, std::vector<char*, std::allocator<char*> > > > >",
			"std::map<int, std::vector<char *, std::allocator<char *>>, std::less<int>, std::allocator<std::pair<const int, std::vector<char *, std::allocator<char *>>>>>"},
		{"std::set<std::string>",
			"std::set<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > >",
			"std::set<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>, std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>>, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>>>"},
		{"f<void (*)(int, char), 3>", "f<void (*)(int, char), 3>", "f<void (*)(int, char), 3>"},
		{"p<int*const>", "p<int* const>", "p<int *const>"},
	} {
		got := TypeSpellings(tc.name)
		for _, want := range []string{tc.gcc, tc.clang} {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no %s\n in %q", tc.name, want, got)
			}
		}
	}
	for _, bad := range []string{"int", "a<", "a<b", "a<b>>", "<", "a<b> c", "a<b>c<"} {
		if got := TypeSpellings(bad); got != nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}

func FuzzTypeSpellings(f *testing.F) {
	f.Add("std::map<int, std::vector<char const*> >::iterator")
	f.Fuzz(func(t *testing.T, name string) { TypeSpellings(name) })
}
