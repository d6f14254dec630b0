package image

import (
	"bytes"
	"encoding/binary"

	"dbg/arch"
	"dbg/image/macho"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// lipo makes a fat file.
func lipo(t testing.TB, name string, flags []string, files ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	tool(t, "llvm-lipo-19", append(append(append([]string{"-create"}, flags...), "-output", out), files...)...)
	return out
}

func TestFat(t *testing.T) {
	x64 := fixture.MachO(t, "macho/image.c", "x86_64", "-g", "-O1")
	arm64 := fixture.MachO(t, "macho/image.c", "arm64", "-g", "-O1")
	for _, c := range []struct {
		name  string
		path  string
		thin  map[string]string // what lipo was given
		names string
	}{
		{"fat", lipo(t, "fat", nil, arm64, x64), map[string]string{"x86_64": x64, "arm64": arm64}, "x86_64 arm64"},
		{"fat64", lipo(t, "fat", []string{"-fat64"}, arm64, x64), map[string]string{"x86_64": x64, "arm64": arm64}, "x86_64 arm64"},
		{"one", lipo(t, "fat", nil, arm64), map[string]string{"arm64": arm64}, "arm64"},
		{"fsevents", node(t, "fsevents", "2.3.3"), nil, "x86_64 arm64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := Slices(c.path)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range list {
				names = append(names, s.Name)
				f, err := OpenArch(c.path, s.Name)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				path := c.thin[s.Name]
				if path == "" {
					path = thin(t, c.path, s.Name)
				}
				whole, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if f.Machine() != s.Name || f.Arch() != s.Arch || f.Offset() != s.Offset || !bytes.Equal(f.data, whole) {
					t.Errorf("%s is %s, %d bytes at %d", s.Name, f.Machine(), len(f.data), f.Offset())
				}
				if g, err := OpenArch(c.path, s.Arch.Name); err != nil || g.Machine() != s.Name {
					t.Errorf("%s: %v", s.Arch.Name, err)
				} else {
					g.Close()
				}
			}
			if got := strings.Join(names, " "); got != c.names {
				t.Errorf("the slices are %s", got)
			}
			f := open(t, c.path)
			if i, _ := preferred(nil, list); f.Machine() != list[i].Name {
				t.Errorf("Open takes %s", f.Machine())
			}
			if _, err := OpenArch(c.path, "ppc"); err == nil || !strings.Contains(err.Error(), c.names) {
				t.Errorf("ppc: %v", err)
			}
		})
	}
	if list, err := Slices(x64); err != nil || len(list) != 1 || list[0].Name != "x86_64" || list[0].Offset != 0 {
		t.Errorf("a thin file has %v, %v", list, err)
	}
	if f, err := OpenArch(x64, "arm64"); err == nil || !strings.Contains(err.Error(), "for x86_64, not for arm64") {
		t.Errorf("got %v, %v", f, err)
	}
	if _, err := Slices(build(t)); err == nil {
		t.Error("an ELF file has slices")
	}
}

func TestPreferredSlice(t *testing.T) {
	slice := func(names ...string) (list []Slice) {
		for _, n := range names {
			list = append(list, Slice{Name: n, Arch: map[string]*arch.Arch{"i386": arch.I386}[n]})
		}
		return list
	}
	for _, c := range []struct{ names, want string }{
		{"ppc armv7 i386", "i386"},
		{"ppc armv7", "ppc"},
		{"i386", "i386"},
		{"ppc i386 ppc64", "i386"},
	} {
		list := slice(strings.Fields(c.names)...)
		if i, err := preferred(nil, list); err != nil || list[i].Name != c.want {
			t.Errorf("of %s, %s is taken", c.names, list[i].Name)
		}
	}
}

func TestMachOOpenErrors(t *testing.T) {
	dylib, err := os.ReadFile(fixture.MachO(t, "macho/image.c", "x86_64", "-g", "-O1"))
	if err != nil {
		t.Fatal(err)
	}
	fat, err := os.ReadFile(lipo(t, "fat", nil, fixture.MachO(t, "macho/image.c", "arm64", "-g", "-O1")))
	if err != nil {
		t.Fatal(err)
	}
	changed := func(b []byte, at int, v uint32, order binary.ByteOrder) []byte {
		b = bytes.Clone(b)
		order.PutUint32(b[at:], v)
		return b
	}
	le, be := binary.LittleEndian, binary.BigEndian
	commands := int(le.Uint32(dylib[20:])) + 32
	for _, c := range []struct {
		name   string
		data   []byte
		reason Reason
		text   string
	}{
		{"java", []byte("\xca\xfe\xba\xbe\x00\x00\x00\x41 and so on"), UnknownFormat, "a Java class"},
		{"cache", []byte("dyld_v1  arm64e\x00 and so on"), UnsupportedFormat, "this is a dyld shared cache, which is not supported yet"},
		{"header", dylib[:30], Truncated, "the Mach-O header has 30 bytes"},
		{"commands", dylib[:commands-1], Truncated, "the load commands end at"},
		{"end", dylib[:len(dylib)-1], Truncated, "the segment __LINKEDIT extends beyond the end of the file"},
		{"command too large", changed(dylib, 36, 0x7fffffff, le), Malformed, "malformed Mach-O file: the load command at offset 0x20"},
		{"command too small", changed(dylib, 36, 4, le), Malformed, "the load command at offset 0x20"},
		{"too many sections", changed(dylib, 32+64, 0x10000000, le), Malformed, "no room for 268435456 sections"},
		{"no slices", fat[:8:8], Truncated, "the fat header"},
		{"slice past the end", changed(fat, 20, uint32(len(fat)), be), Truncated, "the slice for arm64"},
		{"slice in the header", changed(changed(fat, 16, 0, be), 20, 100, be), Truncated, "the slice for arm64"},
		{"slice of another kind", changed(fat, int(be.Uint32(fat[16:])), be.Uint32([]byte("!<ar")), be), Malformed, "begins with"},
		{"none", changed(fat, 4, 0, be), Malformed, "has 0 slices"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, c.data, 0o644); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path)
			var e *OpenError
			if !errors.As(err, &e) || e.Reason != c.reason || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, %v", f, err)
			}
			Slices(path)
		})
	}
}

// TestMachOKinds reads headers of every kind of file.
func TestMachOKinds(t *testing.T) {
	header := func(filetype uint32) []byte {
		b := make([]byte, 32)
		for i, v := range []uint32{0xfeedfacf, 0x01000007, 3, filetype} {
			binary.LittleEndian.PutUint32(b[4*i:], v)
		}
		return b
	}
	for filetype, want := range map[uint32]Kind{macho.TypeObject: Relocatable, macho.TypeExecute: Executable, macho.TypeCore: CoreFile, macho.TypeDylib: Shared,
		macho.TypeDylinker: Shared, macho.TypeBundle: Shared, macho.TypeDSYM: Companion, macho.TypeKextBundle: KernelPart, macho.TypeFileset: KernelPart, 99: Other} {
		f, err := FromMemory("file", header(filetype))
		if err != nil || f.Kind() != want || f.Kind().String() == "" || f.Machine() != "x86_64" || f.CheckArch() != nil {
			t.Errorf("%d is %v, %v", filetype, f.Kind(), err)
		}
	}
}
