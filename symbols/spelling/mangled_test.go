package spelling

import "testing"

// TestSignature expects the names that gdb makes of debug information: without the result of a
// template instance.
func TestSignature(t *testing.T) {
	for linkage, want := range map[string]string{
		"_Z1fi":                         "f(int)",
		"_Z1fIiET_S0_":                  "f<int>(int)",
		"_ZNKR1C1gIlEEiT_":              "C::g<long>(long) const &",
		"_ZNK1C1gIlEEiT_":               "C::g<long>(long) const",
		"_Z1hIiEPFvT_ES0_":              "h<int>(int)",
		"_ZN9__gnu_cxxneIPKcEEbRKT_S4_": "__gnu_cxx::operator!=<char const*>(char const* const&, char const* const)",
		"_ZN1CC2Ev":                     "C::C()",
	} {
		if got, ok := Signature(linkage); !ok || got != want {
			t.Errorf("%s is %q, want %q", linkage, got, want)
		}
	}
}
