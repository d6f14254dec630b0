package session_test

import (
	"os/exec"
	"strings"
	"testing"

	"dbg/frames"
	"dbg/session"
)

// TestExidxCores: a core of an ARM program whose only tables are .ARM.exidx is walked by them, ARM and Thumb.
func TestExidxCores(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"-marm", "-mthumb"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			exe, core := qemuCore(t, "arm-linux-gnueabihf", "qemu-arm", "-O2", "-static", mode, "-funwind-tables")
			if out, err := exec.Command("arm-linux-gnueabihf-objcopy", "--strip-debug", exe).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			s := session.New(session.Config{})
			defer s.Close()
			if err := s.OpenCore(core, exe); err != nil {
				t.Fatal(err)
			}
			bt := walkOf(t, s, 0)
			if got, want := names(bt), "last f9 f8 f7 f6 f5 f4 f3"+strings.Repeat(" again", 21)+" f1 main"; !strings.HasPrefix(got, want) {
				t.Errorf("the backtrace is %s; %+v", got, s.Warnings())
			}
			by := 0
			for _, f := range bt.Frames {
				if f.Strategy == frames.EHABI.String() && f.Trust == frames.Table.String() {
					by++
				}
			}
			if by < 25 {
				t.Errorf("%d of %d frames were found by the table: %+v", by, len(bt.Frames), bt)
			}
		})
	}
}
