package ptrace

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dbg/target/ptrace/kernel"
)

// TestKilledBeforeSigInfo kills a thread between the status of its signal and the look at it. By then it stands at its end, which the
// kernel describes as a SIGTRAP: the user must not hear of one.
func TestKilledBeforeSigInfo(t *testing.T) {
	t.Parallel()
	d := launch(t, "spin")
	err := d.do(func() error { // so that the tracer takes no status meanwhile
		th := d.threads[d.pid]
		if err := unix.Kill(d.pid, unix.SIGKILL); err != nil {
			return err
		}
		late := time.Now().Add(10 * time.Second)
		for {
			var info kernel.SigInfo
			if err := kernel.GetSigInfo(th.tid, &info); err == nil && info.Code() == kernel.CodeExit {
				break
			}
			if time.Now().After(late) {
				return errors.New("the thread does not come to its end")
			}
			time.Sleep(time.Millisecond)
		}
		th.why = passing
		if d.noteSignal(th, int(unix.SIGTRAP)); th.why != passing || th.sigStop {
			t.Errorf("the thread's stop matters: %v, a signal: %v", th.why, th.sigStop)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
