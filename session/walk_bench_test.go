package session

import (
	"bufio"
	"context"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"dbg/frames"
	"dbg/internal/fixture"
)

// deepProcess attaches to a program with a stack of that many frames and gives the session and the
// thread.
func deepProcess(b testing.TB, depth int) (*Session, ThreadInfo) {
	exe := fixture.Build(b, "unwind/deep.c", "-O2", "-g", "-pthread")
	cmd := exec.Command(exe, strconv.Itoa(depth))
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		b.Fatalf("%q, %v", line, err)
	}
	s := New(Config{})
	b.Cleanup(func() { s.Close() })
	if err := s.Attach(cmd.Process.Pid); err != nil {
		b.Fatal(err)
	}
	list, err := s.Threads()
	if err != nil || len(list) != 2 {
		b.Fatalf("%v, %v", list, err)
	}
	return s, list[1]
}

// walkOnce counts the frames of one walk.
func walkOnce(s *Session, t ThreadInfo, u *frames.Unwinder) (n int) {
	s.do(func() {
		regs, err := s.tgt.Registers(t.ID)
		if err != nil {
			return
		}
		for range u.Walk(&regs).Frames(context.Background()) {
			n++
		}
	})
	return n
}

// BenchmarkOtherProcess is a frame of another process with all registers and places: the first walk of an
// Unwinder, when nothing is known of the code, and the next ones, each of which reads the stack again.
func BenchmarkOtherProcess(b *testing.B) {
	for _, depth := range []int{20, 1000} {
		s, t := deepProcess(b, depth)
		b.Run("first/"+strconv.Itoa(depth), func(b *testing.B) {
			for n := 0; n < b.N; {
				n += walkOnce(s, t, frames.New(s.tgt.Arch(), s.space))
			}
		})
		b.Run("warm/"+strconv.Itoa(depth), func(b *testing.B) {
			u := frames.New(s.tgt.Arch(), s.space)
			b.ReportAllocs()
			for n := 0; n < b.N; {
				n += walkOnce(s, t, u)
			}
		})
	}
}

// BenchmarkMillion is a walk of a million frames of recursion in another process, and the memory that the
// benchmark's whole process ever had.
func BenchmarkMillion(b *testing.B) {
	s, t := deepProcess(b, 1_000_000)
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for range b.N {
		n = walkOnce(s, t, frames.New(s.tgt.Arch(), s.space))
	}
	if n < 1_000_000 {
		b.Fatalf("%d frames", n)
	}
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) == nil {
		b.ReportMetric(float64(use.Maxrss)/1024, "peak-MB")
	}
	b.ReportMetric(float64(n), "frames")
}
