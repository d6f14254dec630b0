package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
)

// TestKnownValuesOfMachines opens cores of the program that writes down what its variables are: what dbg shows must be what is written
// down, or that it does not know. QEMU writes the cores; for RISC-V it writes none, and gdb does, from QEMU's stub (without the names of
// files, and with 27 registers of 32).
func TestKnownValuesOfMachines(t *testing.T) {
	t.Parallel()
	stops, levels := []int{3, 9, 16, 22, 36, 47}, []string{"-O2"}
	if fixture.All() {
		stops, levels = nil, []string{"-O0", "-O1", "-O2", "-O3", "-Os", "-Og"}
		for i := range 60 {
			stops = append(stops, i+1)
		}
	}
	for _, m := range []struct{ triple, qemu string }{
		{"aarch64-linux-gnu", "qemu-aarch64"}, {"arm-linux-gnueabihf", "qemu-arm"}, {"i686-linux-gnu", "qemu-i386"},
		{"riscv64-linux-gnu", "qemu-riscv64"},
	} {
		for _, level := range levels {
			t.Run(m.triple+level, func(t *testing.T) {
				t.Parallel()
				fixture.Need(t, m.triple+"-gcc", m.qemu)
				write := dies
				if m.qemu == "qemu-riscv64" {
					fixture.Need(t, "gdb-multiarch")
					write = diesUnderGDB
				}
				exe := fixture.Build(t, "c/known.c", "cc="+m.triple+"-gcc", "-g", level, "-w", "-static", "-DDIES")
				n, shown, cores := 0, 0, 0
				for _, stop := range stops {
					core := write(t, m.qemu, exe, strconv.Itoa(stop))
					if core == "" {
						break // it has fewer stops
					}
					cores++
					a, b := knownInCore(t, core, exe, level, stop)
					n, shown = n+a, shown+b
				}
				t.Logf("%d cores, %d values are written down, dbg shows %d of them", cores, n, shown)
				if n < 15 || shown < n/5 {
					t.Errorf("of %d values that are written down dbg shows %d", n, shown)
				}
			})
		}
	}
}

// wrongByGCC is a variable that gcc's own debug information has wrong: gdb shows the same.
type wrongByGCC struct{ arch, level, function, name string }

var gccErrs = map[wrongByGCC]bool{
	// As TestKnownValues knows, gcc forgets to say that it never stores this element.
	{"arm64", "-O3", "arrays", "one[3]"}:   true,
	{"riscv64", "-O3", "arrays", "one[3]"}: true,
	{"arm", "-O3", "arrays", "one[3]"}:     true,
	{"386", "-O3", "arrays", "one[3]"}:     true,
	// The values are in the x87's registers, and what is said to have them is not kept up.
	{"386", "", "floats", "last"}: true,
	{"386", "", "extended", "s"}:  true,
}

// dies runs a program under QEMU, which writes a core when it traps; "" if it does not.
func dies(t *testing.T, qemu, exe, arg string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", `ulimit -c unlimited; exec "$0" "$@"`, qemu, exe, arg)
	cmd.Dir = t.TempDir()
	err := cmd.Run()
	found, _ := filepath.Glob(filepath.Join(cmd.Dir, "qemu_*.core"))
	if len(found) == 0 && err != nil {
		t.Fatalf("%s: %v, and no core", qemu, err)
	}
	if len(found) != 1 {
		return ""
	}
	t.Cleanup(func() { os.Remove(found[0]) })
	return found[0]
}

// diesUnderGDB is dies with a core that gdb writes from QEMU's stub.
func diesUnderGDB(t *testing.T, qemu, exe, arg string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "stub") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket, core := filepath.Join(dir, "s"), filepath.Join(dir, "core")
	program := exec.CommandContext(t.Context(), qemu, "-g", socket, exe, arg)
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { program.Process.Kill(); program.Wait() }()
	out, err := exec.CommandContext(t.Context(), "gdb-multiarch", "-nx", "-batch", exe, "-ex", `python
import time
for attempt in range(1000): # until the emulator listens
    try:
        gdb.execute("target remote `+socket+`")
        break
    except gdb.error:
        time.sleep(0.01)
end`, "-ex", "continue", "-ex", "gcore "+core).CombinedOutput()
	if strings.Contains(string(out), "exited normally") {
		return ""
	}
	if _, statErr := os.Stat(core); statErr != nil {
		t.Fatalf("%v, %s", err, out)
	}
	return core
}

// knownInCore gives how many values are written down in a core, and how many of them dbg shows.
func knownInCore(t *testing.T, core, exe, level0 string, stop int) (n, shown int) {
	s := session.New(session.Config{DebugDirs: []string{}})
	defer s.Close()
	if err := s.OpenCore(core, exe); err != nil {
		t.Fatal(err)
	}
	thread, _ := s.Selected()
	bt := walkOf(t, s, 0).Frames
	info, _ := s.Target()
	levels := map[string]int{}
	for _, k := range slices.Backward(writtenDown(t, s, bt)) {
		level := levelOf(bt, k.function, levels[k.function], k.name, levels)
		if level < 0 {
			continue
		}
		n++
		v, err := s.Evaluate(thread, level, k.name)
		if err != nil {
			continue
		}
		text := s.FormatIn(thread, level, v, eval.Options{Inner: true, AddressOfStrings: true})
		low := k // a pointer of 32 bits was extended by its sign
		low.value &= 0xffff_ffff
		switch {
		case k.is(text), info.Arch.PtrSize == 4 && low.is(text):
			shown++
		case gccErrs[wrongByGCC{info.Arch.Name, level0, k.function, k.name}], gccErrs[wrongByGCC{info.Arch.Name, "", k.function, k.name}]:
		case !strings.HasPrefix(text, "<"):
			t.Errorf("stop %d, frame %d (%s): %s of %s is %s, dbg shows %s", stop, level, bt[level].Strategy, k.name, k.function, k.text(), text)
		}
	}
	return n, shown
}
