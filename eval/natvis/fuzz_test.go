package natvis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse checks that no file causes a panic, and that every position is inside the file.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.natvis")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		for line := range strings.Lines(string(data)) {
			f.Add([]byte("<AutoVisualizer><Type Name='S'><Expand>" + line))
		}
	}
	for _, s := range []string{"", "<", "<a", "<a b", "<a b=", "<a b='", "<!", "<!--", "<![CDATA[", "<?", "</a>", "&", "&#x110000;",
		"\xff\xfe<\x00a\x00", "<!DOCTYPE a [", "<AutoVisualizer/>", "<AutoVisualizer></AutoVisualizer>x", "<AutoVisualizer><Type",
		"<a:AutoVisualizer><b:Type Name='a::b<*>'/>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, problems := Parse("f", data)
		lines := int32(strings.Count(string(decode(data)), "\n") + 1)
		for _, p := range problems {
			if p.Pos.Line < 1 || p.Pos.Line > lines || p.Pos.Column < 1 || p.Message == "" {
				t.Fatalf("the problem %v in a file of %d lines", p, lines)
			}
		}
		var s Set
		s.Add(file, User)
		for _, typ := range file.Types {
			for _, pattern := range typ.Patterns {
				s.Match(pattern.Name.Text)
			}
		}
		dump(file, problems)
	})
}

// FuzzTypeName checks that no name causes a panic, that a name matches itself, and that the quick
// key is the key.
func FuzzTypeName(f *testing.F) {
	for _, s := range []string{
		"std::map<int, std::vector<char, A<char> >, B>::iterator", "V<*,*>", "long unsigned int const*&[3]",
		"main()::<lambda(int)>", "V<(lambda at /a.cpp:3:5), {closure#0}, (anonymous namespace)::S>", "F<void (int) const>",
		"V<&A::operator<, 'a', \"x\", -5ul, (E)3>", "`anonymous namespace'::S", "&mut [u8; 3]", "fn(i32) -> i32",
		"enum2$<core::option::Option<i32> >", "a<b", "a>b", "((((", "operator",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := ParseTypeName(text)
		if key := typeKey(text); key != n.key() {
			t.Fatalf("the key of %q is %q, the quick one %q", text, n.key(), key)
		}
		if _, ok := n.Match(n); !ok {
			t.Fatalf("%q does not match itself", text)
		}
		n.specificity()
	})
}
