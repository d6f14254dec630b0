package symbols

import (
	"os"
	"path/filepath"
	"testing"

	"dbg/symbols/types"
)

// TestPointerToDeclared asserts that to print a pointer to a structure of another unit, and to name its type, no index is made: a backtrace does
// that for each argument. What it leads to is complete when somebody looks there.
func TestPointerToDeclared(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.c": "typedef struct elsewhere *handle; struct elsewhere; typedef const struct elsewhere view;\n" +
			"int use(handle h, struct elsewhere *p, view **v) { return h != p && v; }\n",
		"b.c": "struct elsewhere { int one, two; } thing;\nint use(void *, void *, void *);\nint main(void) { void *p = &thing; return use(&thing, &thing, &p); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exe := filepath.Join(dir, "prog")
	command(t, "gcc", "-g", "-O0", "-o", exe, filepath.Join(dir, "a.c"), filepath.Join(dir, "b.c"))
	m := load(t, exe)
	fns := m.FunctionsByName("use")
	if len(fns) != 1 {
		t.Fatalf("%d functions", len(fns))
	}
	calls := m.CallsAt(fns[0].Lo + 4)
	if len(calls) != 1 {
		t.Fatalf("%d calls", len(calls))
	}
	want := map[string]string{"h": "handle", "p": "struct elsewhere *", "v": "view **"}
	locals := m.LocalsOf(&calls[0], fns[0].Lo+4)
	if len(locals) != len(want) {
		t.Fatalf("%d locals", len(locals))
	}
	for _, v := range locals {
		if got := v.Type.String(); got != want[v.Name] {
			t.Errorf("%s is a %q, want %q", v.Name, got, want[v.Name])
		}
		if v.Type.IsDynamic() {
			t.Errorf("the size of %s is not known", v.Name)
		}
		if v.Name == "p" {
			if e := v.Type.ElemAsDeclared(); e.Kind != types.Opaque || e.String() != "struct elsewhere" {
				t.Errorf("as declared, p leads to a %s of kind %d", e, e.Kind)
			}
		}
	}
	if m.names.Present() != nil {
		t.Fatal("an index was made")
	}
	for _, v := range locals {
		e := v.Type.Strip().Elem()
		if v.Name == "v" {
			e = e.Elem().Strip()
		}
		if e.Kind != types.Struct || e.Size != 8 || len(e.Fields()) != 2 {
			t.Errorf("%s leads to a %s of %d bytes with %d fields", v.Name, e, e.Size, len(e.Fields()))
		}
	}
}
