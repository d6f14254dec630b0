//go:build linux

package image

import (
	"bytes"
	"os"
	"testing"

	"dbg/internal/fixture"
)

// TestConstantMemory holds the memory of this test's process against that of its file, at each page.
func TestConstantMemory(t *testing.T) {
	f, err := Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	pages, writable := 0, 0
	for _, s := range f.Segments() {
		lo, hi := s.pages()
		for at := lo; at < hi; at += constantPage {
			var want, got [constantPage]byte
			n := f.ConstantMemory(at+3, got[3:])
			if s.Write {
				if writable++; n != 0 {
					t.Fatalf("%d bytes of a writable segment at %#x", n, at)
				}
				continue
			}
			if _, err := mem.ReadAt(want[:], int64(at)); err != nil {
				t.Fatal(err) // Go's test programs are not position-independent
			}
			if !bytes.Equal(got[3:3+n], want[3:3+n]) {
				t.Fatalf("other bytes at %#x", at)
			}
			if n == constantPage-3 {
				pages++
			}
		}
	}
	if pages < 100 || writable == 0 {
		t.Errorf("%d pages, %d writable", pages, writable)
	}
}

// TestTextRelocations tells a library with text relocations from one without.
func TestTextRelocations(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  bool
	}{{[]string{"-shared", "-fPIC"}, false}, {[]string{"-shared", "-fno-pic", "-mcmodel=large", "-Wl,-z,notext"}, true}} {
		f, err := Open(fixture.Build(t, "remote/link.c", append(c.flags, "-DSELF=one", "-DNEXT=two")...))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got := f.HasTextRelocations(); got != c.want {
			t.Errorf("%v: %v", c.flags, got)
		}
	}
}
