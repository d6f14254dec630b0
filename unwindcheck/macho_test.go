package unwindcheck

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ulikunitz/xz"
	"golang.org/x/sys/unix"

	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/ptrace"
)

// machoSource is a program for macOS whose _run returns the same in all builds.
type machoSource struct {
	file     string
	argument string
	sum      string // that is printed
	least    uint64 // instructions in the file's text
	throws   bool
	flags    []string
	// With DBG_ALL: it costs the process's own runtime 25,000 instructions to throw one exception.
	allArgument, allSum string
}

var machoSources = []machoSource{
	{file: "macho/shapes.c", argument: "8", sum: "5204624935d81718", least: 20_000},
	{file: "macho/throws.cc", argument: "2", sum: "47a238d36e696b55", least: 5_000, throws: true, allArgument: "4", allSum: "aae7994a86a2f756",
		flags: []string{"-std=c++17", "-femit-dwarf-unwind=always"}},
	{file: "macho/sorts.rs", argument: "8", sum: "831a5092cda147c0", least: 15_000},
}

// rustLevels are those that testdata/macho/rust.sh compiles at.
var rustLevels = map[string]bool{"0": true, "2": true, "s": true}

// TestMachO steps programs for macOS, which testdata/macho/loader.c maps, and judges what __unwind_info says of them at
// every instruction of their text: with the refiner, which has to be right everywhere, and without, which is right in the bodies
// of functions only. With DBG_ALL in all builds.
func TestMachO(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	loader := machoLoader(t)
	all := fixture.All()
	t.Logf("%-44s %8s %9s %12s %9s", "build", "judged", "body", "no answer", "refined")
	for _, s := range machoSources {
		for _, level := range []string{"0", "1", "2", "3", "s"} {
			for _, fp := range []bool{true, false} {
				rust := strings.HasSuffix(s.file, ".rs")
				quick := level == "0" && fp && s.file == "macho/shapes.c" || level == "2" && fp == rust
				if rust && (!fp || !rustLevels[level]) || !all && !quick {
					continue // Rust keeps frame pointers on macOS, whatever it is told
				}
				name := filepath.Base(s.file) + " -O" + level + " without frame pointers"
				if fp {
					name = filepath.Base(s.file) + " -O" + level + " with frame pointers"
				}
				t.Run(name, func(t *testing.T) {
					file := s.build(t, "x86_64", level, fp)
					refined := s.check(t, loader, file, "compact")
					body := &Report{}
					if all || !s.throws {
						if body = s.check(t, loader, file, "compact-body"); body.Judged() < asked(body)/2 {
							t.Errorf("without the refiner %d of %d instructions were judged", body.Judged(), asked(body))
						}
					}
					t.Logf("%-44s %8d %8.3f%% %11.3f%% %8.3f%%", name, asked(body), 100*rightShare(body),
						100*float64(body.NotJudged["no answer"])/float64(asked(body)), 100*rightShare(refined))
					if rightShare(refined) != 1 {
						unasked := asked(refined) - refined.Judged()
						t.Errorf("%d of %d instructions are wrong, %d without an answer", refined.Wrong, asked(refined), unasked)
					}
					for _, w := range refined.Ranges {
						t.Errorf("wrong: %s [%d times]", w.String(), w.Hits)
					}
				})
			}
		}
	}
}

// TestMachOByDWARF judges __eh_frame of files that were built for a macOS that knew no __unwind_info: the linker makes one that
// refers to __eh_frame for every function. For macOS clang describes no epilogues, whatever the flags (X86FrameLowering's
// emitEpilogue): what comes after the first pop is wrong: the CFA is that of the body.
func TestMachOByDWARF(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	loader := machoLoader(t)
	for _, s := range machoSources[:2] {
		if s.throws && !fixture.All() {
			continue
		}
		for _, fp := range []bool{true, false} {
			file := fixture.MachO(t, s.file, "x86_64", append(s.flags, "-target", "x86_64-apple-macosx10.5", "-O2", framePointers(fp), "-Wno-infinite-recursion")...)
			r := s.check(t, loader, file, "eh_frame")
			t.Logf("%s, %s: %d instructions, %.3f%% right", s.file, framePointers(fp), asked(r), 100*rightShare(r))
			for _, w := range r.Ranges {
				if w.Kind != "cfa" {
					t.Errorf("wrong: %s [%d times]", w.String(), w.Hits)
				}
			}
			if rightShare(r) < 0.8 || r.Judged() < asked(r)*9/10 { // stubs are in no table
				t.Errorf("%d of %d instructions were judged, %d were right", r.Judged(), asked(r), r.Correct)
			}
		}
	}
}

func framePointers(keep bool) string {
	if keep {
		return "-fno-omit-frame-pointer"
	}
	return "-fomit-frame-pointer"
}

// asked is the number of instructions that were executed in the files that were asked for. Those of functions that an
// exception has left, where the answer is another state than that of the entry and it can't be told whether it is a right one, are left out.
func asked(r *Report) uint64 {
	n := r.Judged()
	for why, count := range r.NotJudged {
		if why != "not in the selected functions" && why != "left without a known destination" {
			n += count
		}
	}
	return n
}

// rightShare counts instructions without an answer as wrong.
func rightShare(r *Report) float64 {
	return float64(r.Correct) / float64(max(asked(r), 1))
}

// build makes the dylib, for x86_64 or arm64.
func (s *machoSource) build(t *testing.T, machine, level string, fp bool) string {
	t.Helper()
	if strings.HasSuffix(s.file, ".rs") {
		return rustMachO(t, machine, level)
	}
	return fixture.MachO(t, s.file, machine, append(s.flags[:len(s.flags):len(s.flags)], "-O"+level, framePointers(fp), "-Wno-infinite-recursion")...)
}

// loaderArgs are the loader's, to have file's _run called.
func (s *machoSource) loaderArgs(file, argument string) []string {
	args := []string{"-s"}
	if s.throws {
		args = append(args, "-e", strings.TrimSuffix(file, ".dylib")+".o")
	}
	return append(args, file, "_run", argument)
}

// check steps one file from its first function on.
func (s *machoSource) check(t *testing.T, loader, file string, source Source) *Report {
	t.Helper()
	argument, sum := s.argument, s.sum
	if s.allSum != "" && fixture.All() {
		argument, sum = s.allArgument, s.allSum
	}
	args := s.loaderArgs(file, argument)
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := ptrace.Launch(ptrace.LaunchOptions{Path: loader, Args: args, Env: []string{"LC_ALL=C"}, Stdout: out, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	// Until it sends the signal the loader is on its own: a million instructions that nobody asks for.
	p.SetSignalPolicy(int(unix.SIGUSR1), target.SignalPolicy{Stop: true})
	if err := p.Resume(target.Resume{}); err != nil {
		t.Fatal(err)
	}
	if e := nextStop(t, p); e.Reason != target.Signalled {
		t.Fatalf("%s %s: %+v before the file is called", loader, strings.Join(args, " "), e)
	}
	r, err := Run(context.Background(), p, Options{Module: "*.dylib", Source: source})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(out.Name())
	if got := string(bytes.TrimSpace(text)); got != sum || r.Exit != 0 || r.Signal != 0 {
		t.Errorf("%s: the sum is %q, want %q; status %d, signal %d", filepath.Base(file), got, sum, r.Exit, r.Signal)
	}
	if asked(r) < s.least {
		t.Errorf("%s: %d instructions, at least %d were expected", filepath.Base(file), asked(r), s.least)
	}
	return r
}

// nextStop waits for the process to stop or to end.
func nextStop(t *testing.T, p *ptrace.Process) target.Event {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case e := <-p.Events():
			switch e.Kind {
			case target.Stopped, target.Exited, target.Killed:
				return e
			}
		case <-late:
			t.Fatal("the loader does not get to the file")
		}
	}
}

// machoLoader builds testdata/macho/loader.c.
func machoLoader(t *testing.T) string {
	t.Helper()
	return fixture.Build(t, "macho/loader.c", "-O1", "-rdynamic", "-Wl,--no-as-needed", "-lstdc++", "-lgcc_s", "-ldl")
}

// rustMachO returns the dylib of macho/sorts.rs that testdata/macho/rust.sh made, for x86_64 or arm64. No package has Rust's
// library for macOS.
func rustMachO(t *testing.T, machine, level string) string {
	t.Helper()
	packed, err := os.Open(filepath.Join(fixture.Root(), "testdata/macho/rust", "sorts-"+machine+"-O"+level+".dylib.xz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := xz.NewReader(bufio.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "sorts.dylib")
	if err := os.WriteFile(out, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRustObjects fails when sorts.rs or the script that makes its dylibs has changed since they were made, and when a dylib has.
func TestRustObjects(t *testing.T) {
	dir := filepath.Join(fixture.Root(), "testdata/macho")
	sums, err := os.ReadFile(filepath.Join(dir, "rust/SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("SHA256SUMS has the line %q", line)
		}
		listed = append(listed, name)
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := sha256.Sum256(text); hex.EncodeToString(got[:]) != sum {
			t.Errorf("testdata/macho/%s is not the one that testdata/macho/rust.sh used or made: run that script again", name)
		}
	}
	want := []string{"sorts.rs", "rust.sh"}
	found, _ := filepath.Glob(filepath.Join(dir, "rust/*.xz"))
	for _, f := range found {
		want = append(want, "rust/"+filepath.Base(f))
	}
	if !slices.Equal(listed, want) || len(found) == 0 {
		t.Errorf("SHA256SUMS lists %v, want %v", listed, want)
	}
}
