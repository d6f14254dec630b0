package image

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// memory is a process's memory with one image in it.
type memory struct {
	f     *File
	slide uint64
	total int // bytes that were read
}

func (m *memory) read(addr uint64, buf []byte) (int, error) {
	a := Addr(addr - m.slide)
	for _, s := range m.f.Segments() {
		if a < s.Lo || a >= s.Hi {
			continue
		}
		n := int(min(uint64(s.Hi-a), uint64(len(buf))))
		n, err := m.f.ReadAt(a, buf[:n])
		m.total += n
		return n, err
	}
	return 0, errors.New("nothing is mapped there")
}

// TestFromMapped reads images as a process has them, and finds the same as in
// their files.
func TestFromMapped(t *testing.T) {
	files := machoFiles(t)
	files = append(files, realMachOFiles(t)...)
	for i, c := range files {
		if strings.HasPrefix(c.name, "object") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			f := open(t, c.path)
			slide := uint64(i) * 0x1234000
			if i%3 == 0 {
				slide = ^uint64(0x3fff) // below where it was linked
			}
			m := &memory{f: f, slide: slide}
			g, err := FromMapped("image", m.read, uint64(f.HeaderAddr())+slide)
			if err != nil {
				t.Fatal(err)
			}
			if g.Slide() != slide || g.BuildID() != f.BuildID() || g.Entry() != f.Entry() || g.HeaderAddr() != f.HeaderAddr() ||
				g.Machine() != f.Machine() || g.Kind() != f.Kind() || g.InstallName() != f.InstallName() {
				t.Errorf("slide 0x%x, UUID %s, entry %v", g.Slide(), g.BuildID(), g.Entry())
			}
			if m.total > 64<<10 {
				t.Errorf("%d bytes were read for the headers", m.total)
			}
			if !slices.Equal(g.Symbols(), f.Symbols()) || !slices.Equal(g.FunctionStarts(), f.FunctionStarts()) || !slices.Equal(g.Stubs(), f.Stubs()) ||
				g.HasSymtab() != f.HasSymtab() || !slices.Equal(g.Segments(), f.Segments()) {
				t.Error("the symbols are others")
			}
			for i, want := range f.Sections() {
				a, b := f.section(i), g.section(i)
				if a.Name != b.Name || !bytes.Equal(a.Data, b.Data) || g.sects[i].err != nil {
					t.Errorf("%s: %d bytes, should be %d: %v", want.Name, len(b.Data), len(a.Data), g.sects[i].err)
				}
			}
			buf := make([]byte, 32)
			if n, err := g.ReadAt(f.HeaderAddr(), buf); n != len(buf) || err != nil || !bytes.Equal(buf, f.data[:32]) {
				t.Errorf("ReadAt: %d, %v", n, err)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFromMappedNoMemory: what can't be read is missing or an error.
func TestFromMappedNoMemory(t *testing.T) {
	f := open(t, fixture.MachO(t, "macho/image.c", "x86_64", "-g", "-O1"))
	const slide = 0x10000000
	for _, limit := range []uint64{0, 3, 31, 32, 100, 0x1000, 0x2000, 0x3000, 0x4000, 0x4100} {
		t.Run(fmt.Sprintf("0x%x", limit), func(t *testing.T) {
			m := &memory{f: f, slide: slide}
			g, err := FromMapped("image", func(addr uint64, buf []byte) (int, error) {
				if addr >= slide+limit {
					return 0, errors.New("not in the core")
				}
				return m.read(addr, buf[:min(uint64(len(buf)), slide+limit-addr)])
			}, slide)
			if err != nil {
				var e *OpenError
				if !errors.As(err, &e) || limit >= 0x1000 {
					t.Errorf("got %v", err)
				}
				return
			}
			if limit < 0x1000 {
				t.Error("no error")
			}
			exerciseFile(g)
			if text, err := g.SectionData("__text"); limit >= 0x1000 && (err != nil || len(text) == 0) {
				t.Errorf("__text: %v", err)
			}
			if data, err := g.SectionData("__data"); limit <= 0x3000 && (err == nil || data != nil) {
				t.Error("__data was read")
			}
		})
	}
}
