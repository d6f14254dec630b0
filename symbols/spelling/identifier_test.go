package spelling

import (
	"os/exec"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// TestLastIdentifier holds the last identifiers of all names of real programs against those of the
// readable names.
func TestLastIdentifier(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, path := range []string{fixture.Compile(t, "g++", "symbols/testdata/classes.cc", "-g", "-O0"), fixture.Compile(t, "clang++-19", "symbols/testdata/classes.cc", "-g", "-O0"), "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libicui18n.so.72"} {
		for _, dynamic := range [][]string{{path}, {"-D", path}} {
			out, err := exec.Command("nm", dynamic...).Output()
			if err != nil {
				continue
			}
			for _, l := range strings.Fields(string(out)) {
				if name, _, _ := strings.Cut(l, "@"); strings.HasPrefix(name, "_Z") {
					names[name] = true
				}
			}
		}
	}
	sure := 0
	for name := range names {
		got, ok := LastIdentifier(name)
		if !ok {
			continue
		}
		sure++
		full := Demangle(name)
		if full == name {
			continue
		}
		parts := Components(full)
		want := WithoutTemplate(strings.TrimPrefix(parts[len(parts)-1], "~"))
		if want, _, _ = strings.Cut(want, "["); got != want { // what is in brackets is an ABI tag
			t.Errorf("%s: %s, the readable name is %s", name, got, full)
		}
	}
	t.Logf("%d of %d names", sure, len(names))
	if sure < len(names)*6/10 {
		t.Errorf("only %d of %d", sure, len(names))
	}
	for _, bad := range []string{"", "_Z", "_ZN", "_ZNE", "_ZN3abE", "_ZN999999999999999999999a", "_ZN1aI", "_ZN1aIL", "_ZN1aIS", "_ZN1aIA9", "_ZN1aIT"} {
		if got, ok := LastIdentifier(bad); ok {
			t.Errorf("%q: %q", bad, got)
		}
	}
}
