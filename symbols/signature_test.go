package symbols

import (
	"strings"
	"testing"

	"dbg/symbols/spelling"
)

// TestSignatureOfSymbol: where there is no debug information, a mangled symbol says the parameters.
func TestSignatureOfSymbol(t *testing.T) {
	prog := compile(t, "g++", "classes.cc", "-g")
	command(t, "strip", "--strip-debug", prog)
	m := load(t, prog)
	n := 0
	for _, name := range m.FunctionNames("", 10_000) {
		for _, f := range m.FunctionsByName(name) {
			if !spelling.Mangled(f.Linkage) {
				continue
			}
			n++
			parts := spelling.Components(name)
			if s := m.Signature(f.Lo); !strings.HasSuffix(strings.TrimSuffix(s, " const"), ")") || !strings.Contains(s, spelling.WithoutTemplate(parts[len(parts)-1])) {
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
