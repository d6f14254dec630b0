package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// goPrograms are gofmt as the Go toolchain makes it, and without debug information and symbols.
func goPrograms(t *testing.T, flags ...string) (whole, stripped string) {
	t.Helper()
	fixture.Need(t, "go")
	dir := t.TempDir()
	build := func(name string, more ...string) string {
		out := filepath.Join(dir, name)
		args := append(append([]string{"build", "-o", out}, flags...), more...)
		cmd := exec.Command("go", append(args, "cmd/gofmt")...)
		cmd.Dir, cmd.Env = fixture.Root(), append(os.Environ(), "CGO_ENABLED=0")
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		return out
	}
	return build("whole"), build("stripped", "-ldflags=-s -w")
}

// TestStrippedGo: of a stripped program of Go the functions, lines and inlined calls are what the debug information of the same program
// says.
func TestStrippedGo(t *testing.T) {
	t.Parallel()
	builds := [][]string{nil}
	if fixture.All() {
		builds = append(builds, []string{"-buildmode=pie"}) // the whole library is compiled anew for that
	}
	for _, flags := range builds {
		whole, stripped := goPrograms(t, flags...)
		open := func(path string) *Module {
			f, err := image.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			return Load(f, Options{DebugDirs: []string{}})
		}
		a, b := open(whole), open(stripped)
		text, _ := a.File().Section(".text")
		if other, _ := b.File().Section(".text"); other.Addr != text.Addr || other.Size != text.Size {
			t.Fatalf("the programs are not alike: %+v, %+v", text.Addr, other.Addr)
		}
		checked, differ, inlined := 0, 0, 0
		for at := uint64(0); at < text.Size; at += 13 {
			pc := text.Addr + image.Addr(at)
			want := a.CallsAt(pc)
			if len(want) == 0 || want[0].Function.FromSymbolTable || want[0].Position.Line == 0 {
				continue
			}
			got := b.CallsAt(pc)
			checked++
			inlined += len(want) - 1
			same := len(got) == len(want)
			for i := range want {
				same = same && got[i].Function.Name == want[i].Function.Name && got[i].Inlined == want[i].Inlined &&
					got[i].Position.Line == want[i].Position.Line && got[i].Position.File == want[i].Position.File
			}
			if !same {
				if differ++; differ < 10 {
					t.Logf("at %s: %s, with debug information %s", pc, callsText(got), callsText(want))
				}
			}
		}
		t.Logf("%v: %d places, %d inlined calls; %d differ", flags, checked, inlined, differ)
		if checked < 10_000 || inlined < 1000 || differ > checked/1000 {
			t.Errorf("%v: %d of %d places differ, %d inlined calls", flags, differ, checked, inlined)
		}
		for _, name := range []string{"main.main", "runtime.mallocgc", "os.Exit"} {
			x, y := a.FunctionsByName(name), b.FunctionsByName(name)
			if len(x) == 0 || len(y) != 1 || y[0].Lo != x[0].Lo || y[0].Name != name {
				t.Errorf("%s: %d functions, %d in the stripped program", name, len(x), len(y))
			}
		}
	}
}

func callsText(list []Call) (text string) {
	for _, c := range list {
		text += c.Function.Name + " " + filepath.Base(c.Position.File) + ":" + strconv.Itoa(c.Position.Line) + "; "
	}
	return text
}
