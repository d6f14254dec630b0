package dap

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"dbg/internal/fixture"
)

// TestPointerToDeclared: a pointer to a structure of another unit can be opened, and only then its definition is searched for; before that
// nobody says how many parts it has.
func TestPointerToDeclared(t *testing.T) {
	t.Parallel()
	fixture.Need(t, "gcc")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.c": "struct elsewhere; struct nowhere;\nint use(struct elsewhere *p, struct elsewhere *none, struct nowhere *lost) {\n\treturn p != none && lost;\n}\n",
		"b.c": "struct elsewhere { int one, two; } thing = {1, 2};\nint use(void *, void *, void *);\nint main(void) { return use(&thing, 0, &thing); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exe, source := filepath.Join(dir, "prog"), filepath.Join(dir, "a.c")
	if out, err := exec.Command("gcc", "-g", "-O0", "-o", exe, source, filepath.Join(dir, "b.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := connect(t, Options{})
	c.start("launch", object{"program": exe})
	c.breakAt(source, 3)
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	vars := c.vars(c.scope(c.frames(st.ThreadID)[0].Id, "Locals"))
	p := vars["p"]
	if p.VariablesReference == 0 || p.NamedVariables != 0 || p.Type != "struct elsewhere *" {
		c.fail("p: %+v", p)
	}
	if v := c.vars(p.VariablesReference)["two"]; v.Value != "2" || v.EvaluateName != "p->two" {
		c.fail("p->two: %+v", v)
	}
	if v := vars["none"]; v.VariablesReference != 0 {
		c.fail("a null pointer: %+v", v)
	}
	if v := vars["lost"]; v.VariablesReference == 0 || len(c.vars(v.VariablesReference)) != 0 {
		c.fail("a structure that is nowhere: %+v", v)
	}
}
