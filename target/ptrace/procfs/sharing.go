package procfs

import (
	"bytes"
	"os"

	"dbg/target/ptrace/kernel"
)

// MayShareMemory reports whether two processes share their memory. Where kcmp(2) is forbidden, it
// also returns true for a process with the same mappings: tracing a process that only has a copy of
// them costs time, but does no harm.
func MayShareMemory(a, b int) bool {
	if same, ok := kernel.SameMemory(a, b); ok {
		return same
	}
	if size := StatusField(b, "VmSize"); size == "" || size != StatusField(a, "VmSize") {
		return false
	}
	ours, err := os.ReadFile(Path(a, "maps"))
	theirs, _ := os.ReadFile(Path(b, "maps"))
	return err == nil && len(ours) > 0 && bytes.Equal(ours, theirs)
}
