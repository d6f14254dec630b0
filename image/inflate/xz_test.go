package inflate

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// TestXZBombs gives streams that claim too much: nothing is inflated.
func TestXZBombs(t *testing.T) {
	fixture.Need(t, "xz")
	// A block whose index says that it inflates to more than is believed.
	index := binary.AppendUvarint([]byte{0, 1, 12}, maxXZ+1)
	for len(index)%4 != 0 {
		index = append(index, 0)
	}
	index = append(index, 0, 0, 0, 0)
	foot := binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1))
	foot = append(foot, 0, 0)
	bomb := append([]byte("\xfd7zXZ\x00\x00\x00\xff\x12\xd9\x41\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3"), index...)
	bomb = append(append(binary.LittleEndian.AppendUint32(bomb, crc32.ChecksumIEEE(foot)), foot...), "YZ"...)
	if n, err := checkXZ(bomb); err == nil || !strings.Contains(err.Error(), "implausible") {
		t.Errorf("%d bytes: %v", n, err)
	}
	dir := t.TempDir()
	zeros := filepath.Join(dir, "zeros")
	if err := os.WriteFile(zeros, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(zeros, 1000); err != nil {
		t.Fatal(err)
	}
	pack := func(args ...string) []byte {
		out, err := exec.Command("xz", append(args, "-c", zeros)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if _, err := XZ(pack("--lzma2=dict=1GiB")); err == nil || !strings.Contains(err.Error(), "implausible dictionary") {
		t.Errorf("a dictionary of 1 GB: %v", err)
	}
	if data, err := XZ(pack()); err != nil || len(data) != 1000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// FuzzXZ gives .gnu_debugdata of any kind.
func FuzzXZ(f *testing.F) {
	f.Add([]byte("\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\x00\x00\x00\x00\x1c\xdfD!\x1f\xb6\xf3}\x01\x00\x00\x00\x00\x04YZ"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if data, err := XZ(raw); err == nil && len(data) > maxXZ {
			t.Errorf("%d bytes", len(data))
		}
	})
}
