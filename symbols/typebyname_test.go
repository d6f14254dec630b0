package symbols

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManyOfOneName finds each of many types that have the last component of their name in common, and completes a declaration of one.
func TestManyOfOneName(t *testing.T) {
	const n = 100
	var src strings.Builder
	for i := range n {
		fmt.Fprintf(&src, "namespace space%d { struct thing { int own%d; typedef long number%d; struct inner { char c[%d]; }; }; thing it; thing::inner in; thing::number%d v; }\n", i, i, i%3, i+1, i%3)
	}
	src.WriteString("namespace space7 { thing *declared; }\nint main() { return space7::it.own7; }\n")
	dir := t.TempDir()
	path := filepath.Join(dir, "many.cc")
	if err := os.WriteFile(path, []byte(src.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"g++", "clang++-19"} {
		t.Run(tool, func(t *testing.T) {
			out := filepath.Join(dir, "many-"+tool)
			command(t, tool, "-g", "-o", out, path)
			m := load(t, out)
			for i := range n {
				thing, inner := fmt.Sprintf("space%d::thing", i), fmt.Sprintf("space%d::thing::inner", i)
				if typ := m.Type(thing); typ == nil || typ.Name != thing || len(typ.Fields()) != 1 || typ.Fields()[0].Name != fmt.Sprintf("own%d", i) {
					t.Errorf("%s is %v", thing, typ)
				}
				if typ := m.Type("struct " + inner); typ == nil || typ.Size != int64(i+1) {
					t.Errorf("%s is %v", inner, typ)
				}
				if typ := m.Type(fmt.Sprintf("%s::number%d", thing, i%3)); typ == nil || !strings.HasPrefix(typ.Name, thing) {
					t.Errorf("number%d of %s is %v", i%3, thing, typ)
				}
			}
		})
	}
}
