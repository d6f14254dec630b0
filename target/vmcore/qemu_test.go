package vmcore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dbg/arch"
	"dbg/frames"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target/vmcore"
)

// moments is the number of random moments at which each kernel is dumped.
const moments = 40

// TestQEMU boots Debian's kernels under QEMU, with programs that make system calls, and judges every task's
// stack at random moments.
func TestQEMU(t *testing.T) {
	fixture.Sweep(t)
	fixture.Need(t, "qemu-system-x86_64")
	for _, suite := range []string{"bookworm", "trixie", "sid"} {
		t.Run(suite, func(t *testing.T) {
			flavour := "cloud-amd64"
			if suite == "bookworm" {
				flavour = "amd64"
			}
			g := bootGuest(t, fixture.DebianKernel(t, suite, flavour))
			j := judge{ends: map[string]int{}, strategies: map[string]int{}}
			for i := range moments {
				time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
				path := filepath.Join(t.TempDir(), "core")
				g.dump(t, path)
				j.dump(t, path, i)
				_ = os.Remove(path)
			}
			if j.tasks < 30*moments {
				t.Errorf("only %d tasks", j.tasks)
			}
			if j.inModules == 0 {
				t.Errorf("no module is loaded")
			}
			t.Logf("%d dumps, %d tasks (and %d without a stack), %d in user code, %d frames, %d return addresses, interrupted %d; strategies %v, ends %v",
				moments, j.tasks, j.ended, j.user, j.frames, j.calls, j.interrupted, j.strategies, j.ends)
		})
	}
}

// judge counts what is right.
type judge struct {
	tasks, ended, user, frames, calls, interrupted, inModules int

	ends, strategies map[string]int
}

func (j *judge) dump(t *testing.T, path string, n int) {
	c, err := vmcore.Open(path, vmcore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if w := c.Warnings(); len(w) > 0 {
		t.Errorf("dump %d: warnings %q", n, w)
	}
	space, err := frames.NewAddressSpace(c, frames.AddressSpaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close()
	j.inModules += len(space.Images()) - 1
	for _, im := range space.Images() {
		if !im.File.HasSection(".orc_unwind") || len(im.File.Symbols()) == 0 {
			t.Errorf("dump %d: %s has no unwind tables or no symbols", n, im.Path)
		}
	}
	for _, th := range c.Threads() {
		regs, err := c.Registers(th.ID)
		if err != nil && strings.Contains(err.Error(), "its stack was freed") {
			j.ended++
			continue
		}
		if err != nil {
			t.Errorf("dump %d, %s: %v", n, th.Name, err)
			continue
		}
		j.tasks++
		if pc, _ := regs.PC(); pc < 1<<63 {
			j.user++
			continue
		}
		j.walk(t, fmt.Sprintf("dump %d, %d %s", n, th.ID, th.Name), space, &regs)
	}
}

// walk judges one stack: it ends where the kernel was entered or where a thread begins, and each return address follows
// a call.
func (j *judge) walk(t *testing.T, who string, space *frames.AddressSpace, regs *arch.Registers) {
	w := frames.New(arch.AMD64, space).Walk(regs)
	var trace []string
	last := ""
	for f, err := range w.Frames(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		last = functionAt(space, f)
		trace = append(trace, fmt.Sprintf("%#x %s [%v]", uint64(f.PC), last, f.Strategy))
		j.frames++
		j.strategies[f.Strategy.String()+"/"+f.Trust.String()]++
		switch {
		case f.Trust > frames.Table, last == "?":
			t.Errorf("%s: %s", who, strings.Join(trace, ", "))
		case f.Index == 0:
		case !f.PCIsReturnAddress:
			j.interrupted++
		default:
			j.calls++
			if !followsCall(space, f) {
				t.Errorf("%s: no call before the last of %s", who, strings.Join(trace, ", "))
			}
		}
	}
	end := w.End()
	j.ends[end.Message()+" in "+last]++
	if !end.Outermost {
		t.Errorf("%s: %s: %s", who, end.Message(), strings.Join(trace, ", "))
	}
}

// uncalled are functions to whose code no call leads, or none that can be seen: the scheduler switches to the beginning of
// a thread, and the kernel frees the code of its initialization, in which the idle task of the first processor waits.
var uncalled = []string{"ret_from_fork", "ret_from_fork_asm", "secondary_startup_64_no_verify", "common_startup_64", "start_kernel",
	"arch_call_rest_init", "x86_64_start_kernel", "x86_64_start_reservations"}

// followsCall reports whether a call ends at PC: a direct one, one through a register or through memory.
func followsCall(space *frames.AddressSpace, f *frames.Frame) bool {
	var b [7]byte
	if _, err := space.ReadMemory(f.PC-7, b[:]); err != nil {
		return false
	}
	indirect := func(at int) bool { return b[at] == 0xff && b[at+1]&0x38 == 0x10 }
	return b[2] == 0xe8 || indirect(5) || indirect(4) || indirect(1) || slices.Contains(uncalled, functionAt(space, f))
}

// guest is a virtual machine.
type guest struct {
	conn net.Conn
	in   *json.Decoder
}

const initScript = `#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox insmod /qemu_fw_cfg.ko
/bin/busybox insmod /dummy.ko
(while :; do /bin/busybox dd if=/dev/zero of=/dev/null bs=1M count=50 2>/dev/null; done) &
(while :; do /bin/busybox find /sys /proc >/dev/null 2>&1; done) &
(while :; do /bin/busybox sleep 0.01; done) &
echo READY
exec /bin/busybox sleep 99999
`

// bootGuest boots a kernel and waits until its programs run.
func bootGuest(t *testing.T, root string) *guest {
	dir := t.TempDir()
	files := map[string][]byte{"init": []byte(initScript)}
	busybox, err := os.ReadFile(filepath.Join(fixture.Debian(t, "bookworm", "busybox-static"), "bin/busybox"))
	if err != nil {
		t.Fatal(err)
	}
	files["bin/busybox"] = busybox
	kernel := ""
	for _, path := range find(t, root) {
		name, _, _ := strings.Cut(filepath.Base(path), ".ko")
		switch {
		case strings.HasPrefix(name, "vmlinuz"):
			kernel = path
		case strings.Contains(path, ".ko") && (name == "qemu_fw_cfg" || name == "dummy"):
			f, err := image.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			files[name+".ko"] = bytes.Clone(f.Whole())
			f.Close()
		}
	}
	initrd, serial, socket := filepath.Join(dir, "initrd"), filepath.Join(dir, "serial"), filepath.Join(dir, "qmp")
	if err := os.WriteFile(initrd, cpio(files), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("qemu-system-x86_64", "-machine", "q35,accel=tcg", "-m", "256M", "-smp", "2", "-display", "none", "-serial", "file:"+serial, "-no-reboot",
		"-kernel", kernel, "-initrd", initrd, "-append", "console=ttyS0 quiet panic=-1", "-device", "vmcoreinfo", "-qmp", "unix:"+socket+",server,nowait")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if b, _ := os.ReadFile(serial); bytes.Contains(b, []byte("READY")) {
			break
		} else if time.Since(start) > 3*time.Minute {
			t.Fatalf("the kernel does not boot: %s %s", out.String(), b)
		}
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	g := &guest{conn, json.NewDecoder(conn)}
	g.execute(t, `{"execute":"qmp_capabilities"}`)
	return g
}

// execute sends a command and waits for its result.
func (g *guest) execute(t *testing.T, command string) {
	t.Helper()
	if _, err := fmt.Fprintln(g.conn, command); err != nil {
		t.Fatal(err)
	}
	_ = g.conn.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		var answer map[string]any
		if err := g.in.Decode(&answer); err != nil {
			t.Fatal(err)
		}
		if answer["error"] != nil {
			t.Fatalf("%s: %v", command, answer["error"])
		}
		if _, done := answer["return"]; done {
			return
		}
	}
}

func (g *guest) dump(t *testing.T, path string) {
	g.execute(t, fmt.Sprintf(`{"execute":"dump-guest-memory","arguments":{"paging":false,"protocol":"file:%s"}}`, path))
}

func find(t *testing.T, root string) (list []string) {
	out, err := exec.Command("find", root, "-type", "f").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// cpio makes an archive in the format newc (Linux's Documentation/driver-api/early-userspace/buffer-format.rst), with the
// folder bin.
func cpio(files map[string][]byte) []byte {
	var b bytes.Buffer
	add := func(name string, mode int, data []byte) {
		fmt.Fprintf(&b, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0)
		b.WriteString(name + "\x00")
		for b.Len()%4 != 0 {
			b.WriteByte(0)
		}
		b.Write(data)
		for b.Len()%4 != 0 {
			b.WriteByte(0)
		}
	}
	add("bin", 0o40755, nil)
	for name := range maps.Keys(files) {
		add(name, 0o100755, files[name])
	}
	add("TRAILER!!!", 0, nil)
	return b.Bytes()
}
