package image

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// bzImage makes a kernel of which only the header and the payload are there.
func bzImage(payload []byte) []byte {
	b := make([]byte, 5*512+64)
	copy(b, "MZ")
	b[0x1f1] = 4
	copy(b[0x202:], "HdrS")
	binary.LittleEndian.PutUint16(b[0x206:], 0x20f)
	binary.LittleEndian.PutUint32(b[0x248:], 64)
	binary.LittleEndian.PutUint32(b[0x24c:], uint32(len(payload)))
	return append(b, payload...)
}

// TestPackedKernel opens kernels and modules that the usual tools have compressed. The ELF file is this
// test, whose code has many calls for the filter of xz.
func TestPackedKernel(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	plain = plain[:min(len(plain), 300<<10)] // the headers and some code
	dir := t.TempDir()
	from := filepath.Join(dir, "plain")
	write(t, from, plain)
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(plain)))
	for _, c := range []struct {
		name string
		tool []string
		size []byte // what follows the payload of a kernel
	}{
		{"gzip", []string{"gzip", "-c"}, nil},
		{"xz", []string{"xz", "-c", "--check=crc32", "-1"}, size},
		{"xz for x86", []string{"xz", "-c", "--check=crc32", "--x86", "--lzma2=preset=1,dict=1MiB"}, size},
		{"lzma", []string{"xz", "-c", "--format=lzma", "-1"}, size},
		{"bzip2", []string{"bzip2", "-c", "-1"}, size},
		{"zstd", []string{"zstd", "-c", "-3"}, size},
		{"lz4", []string{"lz4", "-c", "-l"}, size},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.tool[0]); err != nil && !fixture.All() {
				t.Skip(err)
			}
			fixture.Need(t, c.tool[0])
			packed, err := exec.Command(c.tool[0], append(c.tool[1:], from)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{"module": packed, "kernel": bzImage(append(bytes.Clone(packed), c.size...))} {
				path := filepath.Join(dir, name)
				write(t, path, data)
				f, err := Open(path)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !bytes.Equal(f.Whole(), plain) {
					t.Errorf("%s: %d bytes, not the %d of the file", name, len(f.Whole()), len(plain))
				}
				f.Close()
				for _, n := range []int{len(packed) / 3, 20} { // cut off: an error, no panic
					bad := bytes.Clone(data)
					clear(bad[len(bad)-n:])
					write(t, path, bad)
					if f, err := Open(path); err == nil {
						f.Close()
					} else if !strings.Contains(err.Error(), path) {
						t.Errorf("the error does not name the file: %v", err)
					}
				}
			}
		})
	}
}

func TestPackedNotELF(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte("hello"))
	_ = w.Close()
	path := filepath.Join(t.TempDir(), "a.gz")
	write(t, path, b.Bytes())
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "no ELF file in it") {
		t.Error(err)
	}
	write(t, path, bzImage([]byte("no compression at all")))
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "its compression is unknown") {
		t.Error(err)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
