package machocore

import (
	"os/exec"
	"path/filepath"
	"testing"

	"dbg/internal/fixture"
	"dbg/target"
)

// TestYAML opens a core that another tool has written.
func TestYAML(t *testing.T) {
	const tool = "yaml2obj-19"
	fixture.Need(t, tool)
	path := filepath.Join(t.TempDir(), "core")
	if out, err := exec.Command(tool, "testdata/core-arm64.yaml", "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if w := c.Warnings(); len(w) > 0 || c.Arch().Name != "arm64" || c.Platform() != "macOS 14.5" || c.notes.lowBits != 39 || c.notes.highBits != 41 {
		t.Errorf("%s, %q, %+v, warnings %q", c.Arch().Name, c.Platform(), c.notes, w)
	}
	threads := c.Threads()
	if len(threads) != 2 || threads[0].ID != 2 || threads[0].Signal == nil || threads[0].Signal.Number != 11 || threads[0].Signal.Addr != 0x1234 || threads[1].Signal != nil {
		t.Errorf("threads %+v", threads)
	}
	for _, th := range threads {
		r, err := c.Registers(th.ID)
		if err != nil {
			t.Fatal(err)
		}
		for reg := range c.Arch().PC + 1 {
			if v, ok := r.Get(reg); !ok || v != uint64(reg)+1 {
				t.Errorf("thread %d: %s is %d (%v)", th.ID, c.Arch().RegName(reg), v, ok)
			}
		}
		if v, _ := r.Get(c.Arch().Flags); v != 0x60000000 {
			t.Errorf("cpsr %#x", v)
		}
	}
	for at, want := range map[target.Addr]string{0x1_0000_0010: "constants, code.", 0x1_6f00_0010: "the stack of it!"} {
		b := make([]byte, 64)
		if n, err := c.ReadMemory(at, b); n != 16 || err == nil || string(b[:16]) != want {
			t.Errorf("%v: %q, %d bytes, %v", at, b[:n], n, err)
		}
	}
}
