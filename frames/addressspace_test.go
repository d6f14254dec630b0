package frames_test

import (
	"errors"
	"os"
	"testing"

	"dbg/frames"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target"
)

// mapped is a target that is only a memory map and the files' bytes.
type mapped struct {
	maps []target.Mapping
	err  error
}

func (m *mapped) Mappings() ([]target.Mapping, error) { return m.maps, m.err }
func (m *mapped) Auxv(uint64) (uint64, bool)          { return 0, false }
func (m *mapped) ReadMemory(at target.Addr, buf []byte) (int, error) {
	for _, p := range m.maps {
		if p.Lo <= at && at < p.Hi && p.Path != "" {
			if f, err := os.Open(p.Path); err == nil {
				defer f.Close()
				if n, _ := f.ReadAt(buf, int64(p.Offset+uint64(at-p.Lo))); n == len(buf) {
					return n, nil
				}
			}
		}
	}
	return 0, &target.MemoryError{Addr: at, Why: "not mapped"}
}

// mapFile maps a file as the kernel does, moved by bias.
func mapFile(t *testing.T, path string, bias uint64) (list []target.Mapping) {
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Segments() {
		const page = 4095
		list = append(list, target.Mapping{Lo: target.Addr(uint64(s.Lo)&^page + bias), Hi: target.Addr((uint64(s.Hi)+page)&^page + bias),
			Offset: s.FileOff &^ page, Path: path, Read: target.Allowed, Write: target.Permit(s.Write), Exec: target.Permit(s.Exec)})
	}
	return list
}

func TestAddressSpace(t *testing.T) {
	exe := fixture.Build(t, "check/plain.c", "-O1", "-g", "-pie", "-fPIE")
	const first, second = 0x555555000000, 0x7f0000000000
	m := &mapped{maps: mapFile(t, exe, first)}
	gone := mapFile(t, exe, 0x600000000000)
	for i := range gone {
		gone[i].Path = "/no/such/file"
	}
	m.maps = append(m.maps, gone...)
	m.maps = append(m.maps, target.Mapping{Lo: 0x610000000000, Hi: 0x610000001000, Exec: target.Allowed}, // code that the program made
		target.Mapping{Lo: 0x610000002000, Hi: 0x610000003000, Exec: target.Denied},
		target.Mapping{Lo: 0x610000004000, Hi: 0x610000005000})
	m.maps = append(m.maps, mapFile(t, exe, second)...)
	space, err := frames.NewAddressSpace(m, frames.AddressSpaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close()
	images := space.Images()
	if len(images) != 2 || images[0].Bias != first || images[1].Bias != second || images[0].File != images[1].File {
		t.Fatalf("%d images: %+v", len(images), images)
	}
	main := uint64(0)
	for _, s := range images[0].File.Symbols() {
		if s.Name == "main" {
			main = uint64(s.Addr)
		}
	}
	for _, c := range []struct {
		at     target.Addr
		exec   bool
		module *frames.Module
	}{
		{target.Addr(main + first), true, images[0].Module},
		{target.Addr(main + second), true, images[1].Module},
		{images[0].Lo, false, images[0].Module}, // the ELF header
		{images[0].Hi, false, nil},
		{gone[0].Lo, false, nil},
		{0x610000000010, true, nil},
		{0x610000002010, false, nil},
		{0x610000004010, true, nil}, // nobody knows
		{0x10, false, nil},
	} {
		if exec, module := space.Executable(c.at), space.FindModule(c.at); exec != c.exec || module != c.module {
			t.Errorf("%v: executable %v, module %p, want %v, %p", c.at, exec, module, c.exec, c.module)
		}
	}
	// What is still mapped stays the same; what is not goes.
	version := space.Version()
	m.maps = m.maps[:len(m.maps)-len(gone)]
	if err := space.Refresh(); err != nil || len(space.Images()) != 1 || space.Images()[0] != images[0] || space.Version() == version {
		t.Errorf("%v, %+v", err, space.Images())
	}
	m.err = errors.New("the process has ended")
	if err := space.Refresh(); !errors.Is(err, m.err) || len(space.Images()) != 1 {
		t.Errorf("%v, %d images", err, len(space.Images()))
	}
	m.err = nil
	if space.Forget(); space.FindModule(target.Addr(main+first)) != nil {
		t.Error("an image that was forgotten is still there")
	}
}
