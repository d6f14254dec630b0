package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// TestControlCharacters: names, paths and strings with control characters, from a file and from the program, are shown escaped by every
// command; what the user has written is not.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	fixture.Need(t, "gcc")
	dir := t.TempDir()
	evil := filepath.Join(dir, "ev\x1b[31mil.c")
	text := "char text[] = \"bell\\a esc\\033[2J\";\nvoid nazzzzzme(char *p) { __builtin_trap(); }\n" +
		"int main(void) { nazzzzzme(text); return 0; } /* \x1b]0;title\x07 */\n"
	if err := os.WriteFile(evil, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "pro\x1b[32mg")
	if out, err := exec.Command("gcc", "-g", "-O0", "-o", exe, evil).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// No assembler takes such a name.
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.ReplaceAll(data, []byte("nazzzzzme"), []byte("na\x1b[35mme"))
	if err := os.WriteFile(exe, data, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"exec": {"exec", "--batch", "--ex", "list main", "--ex", "info functions na", "--ex", "run", "--ex", "bt", "--ex", "info sharedlibrary", "--ex", "x/s text",
			"--ex", "p text", "--ex", "output text", "--ex", "info source", "--ex", "frame why 0", "--ex", "disassemble", "--ex", "info line main", "--ex", "break main", "--ex", "p nosuch", exe},
		"colour": {"exec", "--color", "always", "--batch", "--ex", "run", "--ex", "bt", exe},
		"lookup": {"lookup", exe, "main", "ev\x1b[31mil.c:3", "nosuch\x1b[36m"},
		"table":  {"unwind", "table", exe},
		"check":  {"unwind", "check", "--max", "100", exe},
		"error":  {"exec", exe + "\x1b[33m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			cmd := exec.Command(realDebugger(t), args...)
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
			_ = cmd.Run() // some of it is an error
			said := out.String()
			if name == "colour" {
				if !strings.Contains(said, "\x1b[33m") {
					t.Errorf("no colours:\n%q", said)
				}
				for _, own := range []string{"33", "32", "34", "36", ""} {
					said = strings.ReplaceAll(said, "\x1b["+own+"m", "")
				}
			}
			if i := strings.IndexFunc(said, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }); i >= 0 {
				t.Errorf("a control character: %q\n in %q", said[max(0, i-60):min(len(said), i+60)], said)
			}
			if name != "table" && name != "check" && !strings.Contains(said, `\033[`) {
				t.Errorf("nothing is shown escaped:\n%s", said)
			}
		})
	}
	var out bytes.Buffer
	cmd := exec.Command(realDebugger(t), "exec", "--batch", "--ex", "echo own \x1b[1mtext\\n", exe)
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "own \x1b[1mtext\n") {
		t.Errorf("%v: %q", err, out.String())
	}
}
