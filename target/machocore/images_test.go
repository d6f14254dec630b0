package machocore

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/machocore/coretest"
)

// loaded is a Mach-O file as a process has it in memory.
type loaded struct {
	path, uuid string
	base       uint64
	file       *image.File
	segments   []coretest.Segment
	placed     []coretest.Placed
}

// load maps a file at an address; nothing is relocated.
func load(t testing.TB, path string, base uint64) *loaded {
	t.Helper()
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	l := &loaded{path: path, uuid: f.BuildID(), base: base, file: f}
	for _, s := range f.Segments() {
		b := make([]byte, s.Hi-s.Lo)
		if _, err := f.ReadAt(s.Lo, b); err != nil {
			t.Fatal(err)
		}
		var prot uint32
		for i, has := range []bool{s.Read, s.Write, s.Exec} {
			if has {
				prot |= 1 << i
			}
		}
		at := base + uint64(s.Lo-f.HeaderAddr())
		l.segments = append(l.segments, coretest.Segment{Addr: at, Prot: prot, Data: b})
		l.placed = append(l.placed, coretest.Placed{Name: s.Name, Addr: at})
	}
	return l
}

func (l *loaded) image(path string) coretest.Image {
	return coretest.Image{Path: path, UUID: l.uuid, Header: l.base, Segments: l.placed}
}

// symbol returns where a symbol is in memory.
func (l *loaded) symbol(t testing.TB, name string) uint64 {
	t.Helper()
	for _, s := range l.file.Symbols() {
		if s.Name == name {
			return uint64(s.Addr-l.file.HeaderAddr()) + l.base
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}

// at is a FindFile that finds one file for everything.
func at(path string) func(string, string) []string {
	return func(string, string) []string { return []string{path} }
}

func nowhere(string, string) []string { return nil }

func TestImages(t *testing.T) {
	for _, a := range []struct {
		arch *arch.Arch
		name string
	}{{arch.AMD64, "x86_64"}, {arch.ARM64, "arm64"}} {
		exe := load(t, fixture.MachO(t, crash, a.name, "-O1", "link:-execute", "link:-e", "link:_run"), 0x1_0400_0000)
		lib := load(t, fixture.MachO(t, crash, a.name, "-O1"), 0x2_0000_8000)
		const exePath, libPath = "/Applications/A.app/A", "/usr/lib/libcrash.dylib"
		list := coretest.AllImageInfos(exe.image(exePath), lib.image(libPath))
		for _, c := range []struct {
			name  string
			notes []coretest.Note
			code  bool // the core has the files' code
			find  func(string, string) []string
			exe   string // Exe
			lib   string // the library's path
			warn  string
		}{
			{"listed", []coretest.Note{list}, true, nowhere, exePath, libPath, ""},
			{"listed, no code", []coretest.Note{list}, false, nowhere, "", libPath, ""},
			{"no list", nil, true, nowhere, "[program]", "@rpath/crash.dylib", ""},
			{"load binary", []coretest.Note{coretest.LoadBinary(exe.uuid, exe.base, coretest.None, "A"), coretest.LoadBinary("", lib.base, coretest.None, "")}, true, nowhere, "A", "@rpath/crash.dylib", ""},
			{"main bin spec 1", []coretest.Note{coretest.MainBinary(1, 0, lib.base, 0, lib.uuid, 0), coretest.LoadBinary(exe.uuid, exe.base, coretest.None, "A")}, true, nowhere, "A", "@rpath/crash.dylib", ""},
			{"main bin spec 3", []coretest.Note{coretest.MainBinary(3, 3, lib.base, coretest.None, lib.uuid, 2), coretest.LoadBinary(exe.uuid, exe.base, coretest.None, "A")}, true, nowhere, "A", "@rpath/crash.dylib", ""},
			{"main bin spec 9", []coretest.Note{list, coretest.MainBinary(9, 3, lib.base, coretest.None, lib.uuid, 2)}, true, nowhere, exePath, libPath, "has an unknown version"},
			{"neither address nor file", []coretest.Note{list, coretest.LoadBinary(strings.Repeat("12", 16), coretest.None, 0x1000, "gone")}, true, nowhere, exePath, libPath, "gone: the core does not contain the image"},
			{"file only", []coretest.Note{coretest.AllImageInfos(lib.image(libPath))}, false, at(lib.path), "", libPath, ""},
		} {
			t.Run(a.name+" "+c.name, func(t *testing.T) {
				s := sample(a.arch)
				s.Notes = c.notes
				if c.code {
					s.Segments = append(append(s.Segments, exe.segments...), lib.segments...)
				}
				core := open(t, s, Options{FindFile: c.find})
				if w := strings.Join(core.Warnings(), "\n"); (w == "") != (c.warn == "") || !strings.Contains(w, c.warn) {
					t.Errorf("warnings %q", w)
				}
				if core.Exe() != c.exe {
					t.Errorf("Exe is %q, not %q", core.Exe(), c.exe)
				}
				var im *Image
				for _, i := range core.Images() {
					if uint64(i.Header) == lib.base {
						im = i
					}
				}
				if im == nil || im.Path != c.lib || im.UUID != lib.uuid || uint64(im.Lo) != lib.base || im.Hi <= im.Lo {
					t.Fatalf("the library is %+v", im)
				}
				leaf := lib.symbol(t, "leaf")
				if uint64(im.Hi) <= leaf {
					t.Errorf("the library ends at %v, before leaf", im.Hi)
				}
				maps, _ := core.Mappings()
				found := false
				for _, m := range maps {
					if uint64(m.Lo) <= leaf && leaf < uint64(m.Hi) {
						found = m.Path == c.lib && m.Exec != target.Denied
					}
				}
				if !found {
					t.Errorf("leaf isn't mapped: %+v", maps)
				}
				f, slide, err := core.OpenImage(im)
				if !c.code && c.find("", "") == nil {
					if err == nil {
						t.Error("an image of nothing")
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				for _, name := range []string{"leaf", "run"} {
					ok := false
					for _, s := range f.Symbols() {
						ok = ok || s.Name == name && uint64(s.Addr)+slide == lib.symbol(t, name)
					}
					if !ok {
						t.Errorf("no symbol %s, or elsewhere", name)
					}
				}
				// The code is there, from the core or from the file.
				want, got := make([]byte, 64), make([]byte, 64)
				_, _ = lib.file.ReadAt(image.Addr(leaf-lib.base)+lib.file.HeaderAddr(), want)
				if _, err := core.ReadMemory(target.Addr(leaf), got); err != nil || !bytes.Equal(got, want) {
					t.Errorf("% x, %v, want % x", got, err, want)
				}
				// What can be written is never taken from the file.
				seen := make([]byte, 8)
				if n, err := core.ReadMemory(target.Addr(lib.symbol(t, "seen")), seen); (n == 8) != c.code {
					t.Errorf("data: %d bytes, %v", n, err)
				}
			})
		}
	}
}

// TestSharedCache: an image's segments are apart, its file is laid out otherwise.
func TestSharedCache(t *testing.T) {
	l := load(t, fixture.MachO(t, crash, "arm64", "-O1"), 0x1_8000_0000)
	im := l.image("/usr/lib/libcrash.dylib")
	for i := 1; i < len(im.Segments); i++ {
		im.Segments[i].Addr += 0x4000_0000
		l.segments[i].Addr += 0x4000_0000
	}
	s := sample(arch.ARM64)
	s.Notes = []coretest.Note{coretest.AllImageInfos(im)}
	s.Segments = append(s.Segments, l.segments[1:]...)
	c := open(t, s, Options{FindFile: at(l.path)})
	images := c.Images()
	if len(images) != 1 || images[0].Lo != 0x1_8000_0000 || images[0].Hi > 0x1_8001_0000 {
		t.Fatalf("images %+v", images)
	}
	// dyld's cache builder changes code: it isn't that of the file.
	if n, err := c.ReadMemory(target.Addr(l.symbol(t, "leaf")), make([]byte, 4)); n != 0 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if maps, _ := c.Mappings(); len(maps) < 3 || maps[len(maps)-1].Path != im.Path {
		t.Errorf("%+v", maps)
	}
}

func TestExe(t *testing.T) {
	exe := load(t, fixture.MachO(t, crash, "x86_64", "-O1", "link:-execute", "link:-e", "link:_run"), 0x1_0400_0000)
	other := fixture.MachO(t, crash, "x86_64", "-O0", "link:-execute", "link:-e", "link:_run")
	s := sample(arch.AMD64)
	s.Notes = []coretest.Note{coretest.AllImageInfos(exe.image("/A"))}
	c := open(t, s, Options{Exe: exe.path, FindFile: nowhere})
	if w := c.Warnings(); len(w) > 0 || c.Exe() != "/A" {
		t.Errorf("%q, warnings %q", c.Exe(), w)
	}
	if n, err := c.ReadMemory(target.Addr(exe.symbol(t, "leaf")), make([]byte, 4)); n != 4 {
		t.Error(err)
	}
	s.Segments = append(s.Segments, exe.segments...)
	c = open(t, s, Options{Exe: other, FindFile: nowhere})
	if w := strings.Join(c.Warnings(), "\n"); !strings.Contains(w, "is not the program of this core (UUID ") {
		t.Errorf("warnings %q", w)
	}
	s.Notes = nil
	if c = open(t, s, Options{Exe: exe.path, FindFile: nowhere}); c.Exe() != exe.path {
		t.Errorf("%q, warnings %q", c.Exe(), c.Warnings())
	}
}

// TestFatFile: of a fat file the slice with the UUID is taken.
func TestFatFile(t *testing.T) {
	x, a := fixture.MachO(t, crash, "x86_64", "-O1"), fixture.MachO(t, crash, "arm64", "-O1")
	fat := filepath.Join(t.TempDir(), "fat")
	var head, body []byte
	be := func(vs ...uint32) {
		for _, v := range vs {
			head = append(head, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
		}
	}
	be(0xcafebabe, 2)
	for i, path := range []string{x, a} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		be([]uint32{0x01000007, 0x0100000c}[i], []uint32{3, 0}[i], uint32(0x4000+len(body)), uint32(len(data)), 14)
		body = append(body, data...)
		body = append(body, make([]byte, (0x4000-len(body)%0x4000)%0x4000)...)
	}
	if err := os.WriteFile(fat, append(append(head, make([]byte, 0x4000-len(head))...), body...), 0o600); err != nil {
		t.Fatal(err)
	}
	l := load(t, a, 0x1_0000_0000)
	s := sample(arch.ARM64)
	s.Notes = []coretest.Note{coretest.AllImageInfos(l.image("/a"))}
	c := open(t, s, Options{FindFile: at(fat)})
	f, slide, err := c.OpenImage(c.Images()[0])
	if err != nil || f.Machine() != "arm64" || slide != l.base-uint64(l.file.HeaderAddr()) {
		t.Fatalf("slide %#x, %v", slide, err)
	}
	f.Close()
	if n, err := c.ReadMemory(target.Addr(l.symbol(t, "leaf")), make([]byte, 4)); n != 4 {
		t.Error(err)
	}
}

// TestDyld: where there is no list, dyld has one in memory.
func TestDyld(t *testing.T) {
	dyld := load(t, fixture.MachO(t, "../target/machocore/testdata/dyld.c", "arm64", "link:-install_name", "link:/usr/lib/dyld"), 0x1_0900_0000)
	exe := load(t, fixture.MachO(t, crash, "arm64", "-O1", "link:-execute", "link:-e", "link:_run"), 0x1_0400_0000)
	lib := load(t, fixture.MachO(t, crash, "arm64", "-O1"), 0x2_0000_8000)
	poke := func(at uint64, b []byte) {
		for _, s := range dyld.segments {
			if at >= s.Addr && at < s.Addr+uint64(len(s.Data)) {
				copy(s.Data[at-s.Addr:], b)
			}
		}
	}
	poke(dyld.base+12, []byte{typeDylinker})
	const paths = 0x3_0000_0000
	infos, list := dyld.symbol(t, "dyld_all_image_infos"), dyld.symbol(t, "list")
	poke(infos+4, le.AppendUint64(le.AppendUint32(nil, 2), list))
	for i, v := range []uint64{exe.base, paths, 0, lib.base, paths + 16, 0} {
		poke(list+8*uint64(i), le.AppendUint64(nil, v))
	}
	s := sample(arch.ARM64)
	s.Segments = append(append(append(s.Segments, exe.segments...), lib.segments...), dyld.segments...)
	s.Segments = append(s.Segments, coretest.Segment{Addr: paths, Prot: 3, Data: []byte("/bin/program\x00...\x00/usr/lib/lib.dylib\x00")[:36]})
	copy(s.Segments[len(s.Segments)-1].Data[16:], "/usr/lib/l.dylib\x00")
	for _, notes := range [][]coretest.Note{nil, {coretest.MainBinary(1, 2, dyld.base, 0, "", 0)}} {
		s.Notes = notes
		c := open(t, s, Options{FindFile: nowhere})
		got := map[string]uint64{}
		for _, im := range c.Images() {
			got[im.Path] = uint64(im.Header)
		}
		want := map[string]uint64{"/bin/program": exe.base, "/usr/lib/l.dylib": lib.base, "/usr/lib/dyld": dyld.base}
		if len(got) != 3 || c.Exe() != "/bin/program" || len(c.Warnings()) > 0 {
			t.Errorf("%v, %q, warnings %q", got, c.Exe(), c.Warnings())
		}
		for path, at := range want {
			if got[path] != at {
				t.Errorf("%s is at %#x, not %#x", path, got[path], at)
			}
		}
	}
	// Half of the list is not there.
	poke(list+24, make([]byte, 24))
	poke(infos+8, le.AppendUint64(nil, 0x3_0000_0000-24))
	s.Notes = nil
	if c := open(t, s, Options{FindFile: nowhere}); len(c.Images()) == 0 {
		t.Error("no images")
	}
}
