package symbols

import (
	"strings"
	"testing"
)

// What gdb has for the function's debug information: the result of an instance of a template is left out.
func TestSignatureOf(t *testing.T) {
	for linkage, want := range map[string]string{
		"_Z1fi":                         "f(int)",
		"_Z1fIiET_S0_":                  "f<int>(int)",
		"_ZNKR1C1gIlEEiT_":              "C::g<long>(long) const &",
		"_ZNK1C1gIlEEiT_":               "C::g<long>(long) const",
		"_Z1hIiEPFvT_ES0_":              "h<int>(int)",
		"_ZN9__gnu_cxxneIPKcEEbRKT_S4_": "__gnu_cxx::operator!=<char const*>(char const* const&, char const* const)",
		"_ZN1CC2Ev":                     "C::C()",
	} {
		if got, ok := signatureOf(linkage); !ok || got != want {
			t.Errorf("%s is %q, want %q", linkage, got, want)
		}
	}
}

// TestSignatureOfSymbol: where there is no debug information, a mangled symbol says the parameters.
func TestSignatureOfSymbol(t *testing.T) {
	prog := compile(t, "g++", "classes.cc", "-g")
	command(t, "strip", "--strip-debug", prog)
	m := load(t, prog)
	n := 0
	for _, name := range m.FunctionNames("", 10_000) {
		for _, f := range m.FunctionsByName(name) {
			if !mangled(f.Linkage) {
				continue
			}
			n++
			parts := components(name)
			if s := m.Signature(f.Lo); !strings.HasSuffix(strings.TrimSuffix(s, " const"), ")") || !strings.Contains(s, withoutTemplate(parts[len(parts)-1])) {
				t.Errorf("%s is %q", f.Linkage, s)
			}
			if s := m.Signature(f.Lo + 1); s != "" {
				t.Errorf("in the middle of %s: %q", f.Linkage, s)
			}
		}
	}
	if n == 0 {
		t.Error("no mangled symbol")
	}
}
