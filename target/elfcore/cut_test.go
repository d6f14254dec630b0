package elfcore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"dbg/internal/fault"
	"dbg/target"
)

// TestCutInUse: a core that is cut short while it is open makes a read fail where the core would say which file was mapped. Later reads
// get as far as they did.
func TestCutInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(path, small(t), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	exe := c.recordedExe()
	at := target.Addr(0)
	for _, f := range c.files {
		if f.path != exe || f.off == 0 {
			continue
		}
		if len(c.base.At(f.lo)) == 0 && at == 0 {
			at = target.Addr(f.lo)
		}
	}
	if at == 0 {
		t.Fatal("the core has all of its program")
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		buf := make([]byte, 64)
		err := fault.Catch(func() { _, _ = c.ReadMemory(at, buf) })
		var cut *fault.FileError
		if !errors.As(err, &cut) || cut.Path != path {
			t.Errorf("%v", err)
		}
	}
}
