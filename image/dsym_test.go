package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// copyFile copies a file, and makes the folders that it is in.
func copyFile(t testing.TB, from, to string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// dsym has dsymutil make the bundle of a file and returns the file in it.
func dsym(t testing.TB, path string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "made.dSYM")
	tool(t, "dsymutil-19", path, "-o", out)
	found, _ := filepath.Glob(filepath.Join(out, "Contents/Resources/DWARF/*"))
	if len(found) != 1 {
		t.Fatalf("dsymutil made %v", found)
	}
	return found[0]
}

func TestDSYM(t *testing.T) {
	x64 := fixture.MachO(t, "macho/image.c", "x86_64", "-g", "-O1")
	arm64 := fixture.MachO(t, "macho/image.c", "arm64", "-g", "-O1")
	dx64, darm64 := dsym(t, x64), dsym(t, arm64)
	fat := lipo(t, "image.dylib", nil, darm64, dx64)
	uuid := strings.ToUpper(open(t, x64).BuildID())
	byUUID := filepath.Join(uuid[:4], uuid[4:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:])
	const inside = ".dSYM/Contents/Resources/DWARF/"
	for _, c := range []struct {
		name, binary string
		files        map[string]string // to -> from
		dirs         []string
		found        string
		trouble      string
	}{
		{"beside", "a/image.dylib", map[string]string{"a/image.dylib" + inside + "image.dylib": dx64}, nil, "a/image.dylib" + inside + "image.dylib", ""},
		{"renamed", "a/renamed", map[string]string{"a/renamed" + inside + "image.dylib": dx64}, nil, "a/renamed" + inside + "image.dylib", ""},
		{"fat", "a/image.dylib", map[string]string{"a/image.dylib" + inside + "image.dylib": fat}, nil, "a/image.dylib" + inside + "image.dylib", ""},
		{"app", "A.app/Contents/MacOS/A", map[string]string{"A.app" + inside + "A": dx64}, nil, "A.app" + inside + "A", ""},
		{"framework", "A.app/Frameworks/F.framework/Versions/A/F", map[string]string{"A.app/Frameworks/F.framework" + inside + "F": dx64}, nil,
			"A.app/Frameworks/F.framework" + inside + "F", ""},
		{"debug dir", "a/image.dylib", map[string]string{"d/image.dylib" + inside + "image.dylib": dx64}, []string{"d"}, "d/image.dylib" + inside + "image.dylib", ""},
		{"debug dir, another name", "a/image.dylib", map[string]string{"d/x" + inside + "y": darm64, "d/z" + inside + "w": fat}, []string{"none", "d"}, "d/z" + inside + "w", ""},
		{"by UUID", "a/image.dylib", map[string]string{"d/" + byUUID: dx64}, []string{"d"}, "d/" + byUUID, ""},
		{"bundle by UUID", "a/image.dylib", map[string]string{"d/" + byUUID + "/Contents/Resources/DWARF/x": dx64}, []string{"d"}, "d/" + byUUID + "/Contents/Resources/DWARF/x", ""},
		{"another UUID", "a/image.dylib", map[string]string{"a/image.dylib" + inside + "image.dylib": darm64}, nil, "", "its UUID is"},
		{"another UUID, then the right one", "a/image.dylib", map[string]string{"a/image.dylib" + inside + "image.dylib": darm64, "d/" + byUUID: dx64}, []string{"d"}, "d/" + byUUID, ""},
		{"no debug information", "a/image.dylib", map[string]string{"a/image.dylib" + inside + "image.dylib": x64}, nil, "", ""},
		{"not Mach-O", "a/image.dylib", map[string]string{"a/image.dylib" + inside + "image.dylib": filepath.Join(fixture.Root(), "go.mod")}, nil, "", "neither"},
		{"none", "a/image.dylib", nil, []string{"d"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			bin := copyFile(t, x64, filepath.Join(dir, c.binary))
			for to, from := range c.files {
				copyFile(t, from, filepath.Join(dir, to))
			}
			dirs := []string{}
			for _, d := range c.dirs {
				dirs = append(dirs, filepath.Join(dir, d))
			}
			f := open(t, bin)
			d, why, err := f.DebugFile(dirs)
			if d != nil {
				defer d.Close()
			}
			if (d == nil) != (c.found == "") || d != nil && (why != "dSYM: "+filepath.Join(dir, c.found) || err != nil) {
				t.Fatalf("got %q, %v", why, err)
			}
			if d == nil {
				if !strings.Contains(why, strings.ToLower(uuid)) {
					t.Errorf("why: %q", why)
				}
				if (err == nil) != (c.trouble == "") || err != nil && !strings.Contains(err.Error(), c.trouble) {
					t.Errorf("got the error %v", err)
				}
				return
			}
			if d.BuildID() != f.BuildID() || !d.HasDebugInfo() || d.Machine() != "x86_64" || d.Kind() != Companion {
				t.Errorf("%s %s %v", d.BuildID(), d.Machine(), d.Kind())
			}
		})
	}
}

// TestDSYMContents: a dSYM has the headers of sections that it does not have.
func TestDSYMContents(t *testing.T) {
	for _, arch := range []string{"x86_64", "arm64"} {
		f := open(t, fixture.MachO(t, "macho/image.c", arch, "-g", "-O1"))
		d := open(t, dsym(t, f.Path()))
		text, ok := d.Section("__text")
		want, _ := f.Section("__text")
		if !ok || text.Addr != want.Addr || text.Size != want.Size || text.Data != nil {
			t.Errorf("%s: __text at %v, %d bytes of %d", arch, text.Addr, len(text.Data), text.Size)
		}
		if n, err := d.ReadAt(text.Addr, make([]byte, 4)); n != 0 || err == nil {
			t.Errorf("%s: %d bytes of __text", arch, n)
		}
		compareSymbols(t, d)
		if d.HeaderAddr() != f.HeaderAddr() || !d.HasSymtab() {
			t.Errorf("%s: %v, %v", arch, d.HeaderAddr(), d.HasSymtab())
		}
		byName := map[string]Symbol{}
		for _, s := range f.Symbols() {
			byName[s.Name] = s
		}
		for _, s := range d.Symbols() {
			if g := byName[s.Name]; g.Addr != s.Addr || g.Kind != s.Kind {
				t.Errorf("%s: %+v, in the file %+v", arch, s, g)
			}
		}
		for _, name := range []string{".debug_info", ".debug_line", ".debug_str", ".debug_abbrev"} {
			if s, _ := d.Section(name); len(s.Data) == 0 {
				t.Errorf("%s: no %s", arch, name)
			}
		}
	}
}
