package unwindcheck

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/ptrace"
)

// peSum is what run(8) of testdata/macho/shapes.c returns in every build for Windows.
const peSum = "5204624935d81718"

// TestPE steps DLLs of Windows, which testdata/pe/loader.c maps, and judges what their function tables
// say at every instruction of their text: prologues, bodies and epilogues. With DBG_ALL in all builds.
func TestPE(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	loader := fixture.Build(t, "pe/loader.c", "-O1")
	all := fixture.All()
	for _, level := range []string{"0", "1", "2", "3", "s"} {
		for _, fp := range []bool{true, false} {
			if !all && (level != "2" || fp) {
				continue
			}
			t.Run("-O"+level+" "+framePointers(fp), func(t *testing.T) {
				file := fixture.PE(t, "amd64", []string{"macho/shapes.c", "pe/support.c"}, "-O"+level, framePointers(fp))
				r := checkPE(t, loader, file)
				t.Logf("%d instructions, %.3f%% right", asked(r), 100*rightShare(r))
				if rightShare(r) != 1 || asked(r) < 20_000 {
					t.Errorf("of %d instructions %d are wrong, %d are without an answer", asked(r), r.Wrong, asked(r)-r.Judged())
				}
				for why, n := range r.NotJudged {
					t.Logf("not judged: %s: %d", why, n)
				}
				for _, w := range r.Ranges {
					t.Errorf("wrong: %s [%d times]", w.String(), w.Hits)
				}
			})
		}
	}
}

// checkPE steps a DLL from the call of its function run on.
func checkPE(t *testing.T, loader, file string) *Report {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := ptrace.Launch(ptrace.LaunchOptions{Path: loader, Args: []string{"-s", file, "run", "8"}, Env: []string{"LC_ALL=C"}, Stdout: out, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.SetSignalPolicy(int(unix.SIGUSR1), target.SignalPolicy{Stop: true})
	if err := p.Resume(target.Resume{}); err != nil {
		t.Fatal(err)
	}
	if e := nextStop(t, p); e.Reason != target.Signalled {
		t.Fatalf("%+v before the file is called", e)
	}
	r, err := Run(context.Background(), p, Options{Module: "*.dll", Source: "pdata"})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(out.Name())
	if got := string(bytes.TrimSpace(text)); got != peSum || r.Exit != 0 || r.Signal != 0 {
		t.Errorf("the sum is %q, want %q; status %d, signal %d", got, peSum, r.Exit, r.Signal)
	}
	return r
}
