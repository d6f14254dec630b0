package signals

import (
	"testing"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// A standard signal is held back once, a real-time signal each time, and the order stays.
func TestHoldBack(t *testing.T) {
	var q Queue
	for _, sig := range []int{10, 34, 10, 34, 12} {
		info := kernel.NewSigInfo(sig)
		q.HoldBack(sig, &info)
	}
	var got []int
	for q.Holding() {
		var info kernel.SigInfo
		q.Next(&info)
		got = append(got, info.Signo())
	}
	want := []int{10, 34, 34, 12}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func TestPolicies(t *testing.T) {
	p := Defaults()
	p.Set(10, target.SignalPolicy{Stop: true})
	p.Set(0, target.SignalPolicy{Stop: true})
	p.Set(len(p), target.SignalPolicy{Stop: true})
	if got := p.Of(10); got != (target.SignalPolicy{Stop: true}) {
		t.Errorf("%+v", got)
	}
	for _, sig := range []int{-1, 0, len(p)} {
		if got := p.Of(sig); got != (target.SignalPolicy{Pass: true}) {
			t.Errorf("signal %d: %+v", sig, got)
		}
	}
}

func TestDumpsCore(t *testing.T) {
	for sig, want := range map[unix.Signal]bool{unix.SIGSEGV: true, unix.SIGTRAP: true, unix.SIGTERM: false, unix.SIGKILL: false, 0: false, 64: false} {
		if got := DumpsCore(int(sig)); got != want {
			t.Errorf("signal %d: %v", sig, got)
		}
	}
}
