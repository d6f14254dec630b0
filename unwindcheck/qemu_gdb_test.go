package unwindcheck

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/internal/fixture"
)

// guestTruth is the caller at a stop, and what dbg says of it.
type guestTruth struct {
	ra, cfa uint64
	dbg     bool // right
	where   string
}

// TestGuestsBesideGDB holds what the code alone says, without any table, beside what gdb-multiarch makes of it at the same stops: who
// names the caller's PC and stack pointer is right. The program that gdb reads has its symbols and no tables either.
func TestGuestsBesideGDB(t *testing.T) {
	const apart = 41
	stops := 12
	if fixture.All() {
		stops = 150
	}
	for _, m := range []string{"arm64", "riscv64", "386", "arm", "thumb"} {
		t.Run(m, func(t *testing.T) {
			g := guests[m]
			fixture.Need(t, g.compiler, g.emulator, "gdb-multiarch")
			exe := fixture.Build(t, "check/plain.c", append([]string{"cc=" + g.compiler, "-O2", "-g", "-static", "-fasynchronous-unwind-tables"}, g.flags...)...)
			truth := map[int]guestTruth{}
			r := startGuest(t, g, exe)
			u := frames.New(g.arch, guestSpace{r, r.module(false)})
			n := 0
			r.each(stops*apart, func() {
				if n++; n%apart == 0 {
					truth[n-1] = guestTruth{r.calls[len(r.calls)-1].ra, r.calls[len(r.calls)-1].cfa, r.callerIsRight(u), r.name(r.reg(g.arch.PC))}
				}
			})
			gdb := gdbCallers(t, g, exe, len(truth), apart)
			ours, theirs := 0, 0
			for n, w := range truth {
				if w.dbg {
					ours++
				}
				if got, ok := gdb[n]; ok && got[0]&^1 == w.ra&^1 && got[1] == w.cfa {
					theirs++
					if !w.dbg {
						t.Logf("after %d instructions, in %s, gdb has the caller and dbg has not", n, w.where)
					}
				}
			}
			t.Logf("%d stops (gdb answered at %d): dbg %.1f %%, gdb %.1f %%", len(truth), len(gdb), 100*float64(ours)/float64(len(truth)), 100*float64(theirs)/float64(len(truth)))
			if ours < theirs {
				t.Error("gdb knows more callers")
			}
			if len(truth) < stops/2 || len(gdb) < len(truth)/2 {
				t.Errorf("%d stops, gdb answered at %d", len(truth), len(gdb))
			}
		})
	}
}

// callerIsRight reports whether an unwinder names the caller's PC and stack pointer.
func (r *guestRun) callerIsRight(u *frames.Unwinder) bool {
	top := &r.calls[len(r.calls)-1]
	for f := range u.Walk(&r.regs).Frames(context.Background()) {
		if f.Index == 1 {
			sp, known := f.Regs.SP()
			return uint64(f.PC) == top.ra && known && sp == top.cfa
		}
	}
	return false
}

// gdbCallers is what gdb says of the caller's PC and stack pointer, by how many instructions were executed since main.
func gdbCallers(t *testing.T, g guest, exe string, stops, apart int) map[int][2]uint64 {
	dir, err := os.MkdirTemp("", "gdb")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	bare, socket, script := filepath.Join(dir, "bare"), filepath.Join(dir, "s"), filepath.Join(dir, "script.py")
	objcopy := strings.TrimSuffix(g.compiler, "gcc") + "objcopy"
	if out, err := exec.Command(objcopy, "--strip-debug", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "-R", ".ARM.exidx", "-R", ".ARM.extab", exe, bare).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text := fmt.Sprintf(`
import gdb, time
gdb.execute("set confirm off")
gdb.execute("set pagination off")
for attempt in range(1000): # until the emulator listens
    try:
        gdb.execute("target remote %s")
        break
    except gdb.error:
        time.sleep(0.01)
gdb.execute("tbreak *main")
gdb.execute("continue", to_string=True)
done = 0
for i in range(%d):
    n = (i + 1) * %d - 1
    gdb.execute("stepi %%d" %% (n - done), to_string=True)
    done = n
    try:
        f = gdb.newest_frame().older()
        print("AT", n, int(f.pc()), int(f.read_register("%s")) & 0xffffffffffffffff)
    except Exception as e:
        pass
`, socket, stops, apart, map[*arch.Arch]string{arch.I386: "esp"}[g.arch]+map[bool]string{true: "sp"}[g.arch != arch.I386])
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	qemu := exec.Command(g.emulator, "-g", socket, exe)
	if err := qemu.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { qemu.Process.Kill(); qemu.Wait() }()
	out, err := exec.CommandContext(t.Context(), "gdb-multiarch", "-nx", "-batch", bare, "-x", script).CombinedOutput()
	got := map[int][2]uint64{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 4 || f[0] != "AT" {
			continue
		}
		n, _ := strconv.Atoi(f[1])
		pc, _ := strconv.ParseUint(f[2], 10, 64)
		sp, _ := strconv.ParseUint(f[3], 10, 64)
		if g.arch.PtrSize == 4 {
			sp &= 0xffffffff
		}
		got[n] = [2]uint64{pc, sp}
	}
	if len(got) == 0 {
		t.Logf("gdb: %v\n%.2000s", err, out)
	}
	return got
}
