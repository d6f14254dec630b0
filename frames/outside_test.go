package frames_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// TestOutsideModule makes the examples of the packages' documentation programs of a module of its own, which requires dbg as any
// other module does, and runs them.
func TestOutsideModule(t *testing.T) {
	fixture.Need(t, "gcc", "gdb", "xz")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(outside, "go.mod"), strings.Replace(string(mod), "module dbg", "module example.org/outside", 1)+
		fmt.Sprintf("\nrequire dbg v0.0.0\nreplace dbg => %s\n", root))
	write(t, filepath.Join(outside, "go.sum"), string(sum))
	if err := os.Symlink(filepath.Join(root, "testdata"), filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	coreOf(t, filepath.Join(outside, "core"))
	dylib, err := exec.Command("xz", "-dc", filepath.Join(root, "testdata/macho/rust/sorts-arm64-O2.dylib.xz")).Output()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(outside, "sorts.dylib"), string(dylib))
	for _, c := range []struct{ file, function, want string }{
		{"frames/example_core_test.go", "Example_core", `(?s)^#0 0x[0-9a-f]+ by context \(exact\)\n#1 .*by cfi \(exact\)\n.*\n(undefined return address|entry point)\n$`},
		{"cfi/example_rows_test.go", "Example_rows", `^0000000000401000 cfa=rsp\+8 ra=c-8\n`},
		{"compact/example_file_test.go", "Example_file", `(?m)^[0-9a-f]{16} cfa=x29\+16 x29=c-16 ra=c-8$`},
		{"expr/example_eval_test.go", "Example_eval", `^breg7 \(rsp\) \+16; deref\n0x401141\n$`},
	} {
		t.Run(c.function, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if _, body, _ := strings.Cut(string(text), "func "+c.function); strings.Count(body, "\n") > 31 {
				t.Errorf("%s has more than 30 lines", c.function)
			}
			program := regexp.MustCompile(`(?m)^package \w+$`).ReplaceAllString(string(text), "package main") + "\nfunc main() { " + c.function + "() }\n"
			write(t, filepath.Join(outside, c.function, "main.go"), program)
			cmd := exec.CommandContext(t.Context(), "go", "run", "./"+c.function)
			cmd.Dir = outside
			cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
			}
			if !regexp.MustCompile(c.want).Match(out) {
				t.Errorf("got\n%.2000s", out)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// coreOf makes a core of a program in the middle of it.
func coreOf(t *testing.T, path string) {
	t.Helper()
	exe := fixture.Build(t, "check/plain.c", "-O1", "-g")
	out, err := exec.CommandContext(t.Context(), "gdb", "-nx", "-batch", exe, "-ex", "break qsort", "-ex", "run", "-ex", "gcore "+path).CombinedOutput()
	if _, missing := os.Stat(path); missing != nil {
		t.Fatalf("%v, %s", err, out)
	}
}
