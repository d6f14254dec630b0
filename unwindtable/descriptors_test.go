package unwindtable_test

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/unwindtable"
)

// TestDescriptors prints the compact unwind descriptors of object files for macOS: raw as llvm-objdump does,
// and as the row of each body.
func TestDescriptors(t *testing.T) {
	fixture.Need(t, "clang-19", "llvm-objdump-19")
	symbol := regexp.MustCompile(`(?m)^(    (?:start|LSDA): +0x[0-9a-f]+) .*$`) // the tool's choice of symbols differs
	for _, target := range []string{"x86_64-apple-macos12", "arm64-apple-macos12", "i386-apple-macos10.7"} {
		for _, source := range []string{"exceptions", "macho/shapes.c"} {
			if source != "exceptions" && strings.HasPrefix(target, "i386") {
				continue // its assembly is for 64-bit registers
			}
			t.Run(target+" "+source, func(t *testing.T) {
				object := filepath.Join(t.TempDir(), "object.o")
				args := []string{"-target", target, "-O1", "-w", "-c", "-o", object}
				if source == "macho/shapes.c" {
					args = append(args, filepath.Join(fixture.Root(), "testdata", source))
				} else {
					args = append(args, "-xc++", "-")
				}
				cmd := exec.Command("clang-19", args...)
				cmd.Stdin = strings.NewReader(throwing)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				print := func(o unwindtable.Options) string {
					t.Helper()
					var b bytes.Buffer
					o.Source = "compact"
					if err := unwindtable.Print(context.Background(), &b, object, o); err != nil {
						t.Fatal(err)
					}
					return b.String()
				}
				peer, err := exec.Command("llvm-objdump-19", "--unwind-info", object).Output()
				if err != nil {
					t.Fatal(err)
				}
				_, want, _ := strings.Cut(string(peer), "Contents of __compact_unwind section:\n")
				got := symbol.ReplaceAllString(print(unwindtable.Options{Raw: true}), "$1")
				if want = symbol.ReplaceAllString(want, "$1"); got != want || strings.Count(got, "Entry at") < 3 {
					t.Errorf("it is\n%s\nwant\n%s", got, want)
				}
				text := print(unwindtable.Options{})
				rows, left := strings.Count(text, " body only\n"), strings.Count(text, " see __eh_frame\n")
				if rows == 0 || rows+left != strings.Count(got, "Entry at") {
					t.Errorf("%d rows, %d left to __eh_frame:\n%s", rows, left, text)
				}
			})
		}
	}
}

// throwing has functions with a personality routine and language-specific data.
const throwing = `void g(int);
struct A { ~A() { g(9); } };
int f(int a) { A x; try { g(a); } catch (int e) { return e; } return 1; }
int h(int x) { g(x); return 2; }
int k(int x) { A y; g(x); return 3; }`

// TestObjectNames: functions of a Mach-O object file have names in its __eh_frame, too.
func TestObjectNames(t *testing.T) {
	fixture.Need(t, "clang-19")
	object := filepath.Join(t.TempDir(), "object.o")
	cmd := exec.Command("clang-19", "-target", "x86_64-apple-macos10.4", "-O1", "-w", "-xc++", "-c", "-o", object, "-")
	cmd.Stdin = strings.NewReader(throwing)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var b bytes.Buffer
	if err := unwindtable.Print(context.Background(), &b, object, unwindtable.Options{Source: "eh_frame", Func: "h"}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "h 0x") || strings.Count(b.String(), "FDE") != 1 {
		t.Errorf("%s", b.String())
	}
}
