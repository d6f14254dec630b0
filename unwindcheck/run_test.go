package unwindcheck

import (
	"context"
	"os"
	"testing"

	"dbg/target/ptrace"
)

// check runs a program and gives it nothing to read and nowhere to print.
func check(t testing.TB, opts Options, path string, args ...string) *Report {
	t.Helper()
	p, err := ptrace.Launch(ptrace.LaunchOptions{Path: path, Args: args, Env: []string{"LC_ALL=C"}, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, err := Run(context.Background(), p, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	check(b, Options{Max: uint64(b.N)}, "/bin/ls", "-lR", "/usr/share/doc")
}

// TestForetellingChangesNothing: with and without the short way the same instructions are seen.
func TestForetellingChangesNothing(t *testing.T) {
	quick := check(t, Options{}, "/bin/true")
	slow := check(t, Options{Plodding: true}, "/bin/true")
	if quick.Instructions != slow.Instructions || quick.Rows != slow.Rows || quick.Deeper != slow.Deeper {
		t.Errorf("predicted: %d instructions, %d rows, %d deeper; each stepped: %d, %d, %d",
			quick.Instructions, quick.Rows, quick.Deeper, slow.Instructions, slow.Rows, slow.Deeper)
	}
}

func BenchmarkPlodding(b *testing.B) {
	b.ReportAllocs()
	check(b, Options{Max: uint64(b.N), Plodding: true}, "/bin/ls", "-lR", "/usr/share/doc")
}
