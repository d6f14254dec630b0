package dap

import (
	"os"
	"path/filepath"
	"testing"

	"dbg/arch"
	"dbg/target/minidump/dumptest"
)

// TestMinidump: an editor opens a minidump of Windows as a core, and shows the words of its exception.
func TestMinidump(t *testing.T) {
	t.Parallel()
	r := arch.Registers{Arch: arch.ARM64}
	r.Set(arch.ARM64.PC, 0x7ff6_0000_1000)
	r.Set(arch.ARM64.SP, 0x10_0000)
	dump := dumptest.Dump{System: &dumptest.System{Processor: 12, Platform: 2}, Threads: []dumptest.Thread{{ID: 5},
		{ID: 6, Name: "worker"}},
		Exception: &dumptest.Exception{Thread: 6, Code: 0xc0000005, Params: []uint64{1, 0x20}, Context: dumptest.ARM64(7,
			&r, nil)}}
	path := filepath.Join(t.TempDir(), "crash.dmp")
	if err := os.WriteFile(path, dump.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := connect(t, Options{})
	c.start("attach", object{"coreFile": path})
	c.ok("configurationDone", nil, nil)
	st := c.stop("exception")
	if st.ThreadID != 6 || st.Description != "access violation writing 0x20 (0xc0000005)" {
		c.fail("%+v", st)
	}
	if frames := c.frames(6); len(frames) == 0 || frames[0].InstructionPointerReference != "0x7ff600001000" {
		c.fail("%+v", frames)
	}
	c.ok("disconnect", nil, nil)
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
}
