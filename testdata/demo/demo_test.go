package demo

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// TestSums: the binary is what build.sh made of this source.
func TestSums(t *testing.T) {
	sums, err := os.ReadFile("sums")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"demo.c": Source, "demo": Program} {
		if want := fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name); !strings.Contains(string(sums), want) {
			t.Errorf("%s is not what sums says: run testdata/demo/build.sh, and commit demo, demo.c and sums together", name)
		}
	}
}

// TestNoBuildPath: nothing of the builder's machine is in the program.
func TestNoBuildPath(t *testing.T) {
	if wd, err := os.Getwd(); err == nil && bytes.Contains(Program, []byte(wd)) {
		t.Errorf("the program has the path %s in it", wd)
	}
	if !bytes.Contains(Program, []byte(Dir)) {
		t.Errorf("the program does not have %s in it", Dir)
	}
}

// TestRebuild: the compiler that is here makes the same functions of the source.
// The same compiler makes the same bytes.
func TestRebuild(t *testing.T) {
	fixture.Need(t, "gcc")
	out := filepath.Join(t.TempDir(), "demo")
	cmd := exec.Command("sh", "build.sh", out)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	made, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := functions(t, made), functions(t, Program); got != want {
		t.Errorf("functions differ: built now %s, committed %s", got, want)
	}
	sums, _ := os.ReadFile("sums")
	version, _ := exec.Command("gcc", "--version").Output()
	first, _, _ := strings.Cut(string(version), "\n")
	if strings.Contains(string(sums), "compiler  "+first+"\n") && !bytes.Equal(made, Program) {
		t.Errorf("%s makes another program of the same source than what is committed", first)
	}
}

// functions lists the names of the functions of a program.
func functions(t *testing.T, data []byte) string {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			names = append(names, s.Name)
		}
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}
