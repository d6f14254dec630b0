package natvis

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// rustFiles returns the folder of rustc's own views: intrinsic, liballoc, libcore and libstd.natvis.
//
// They are src/etc/natvis in the repository rust-lang/rust. Debian's package rust-src installs them
// under /usr/src. A toolchain for MSVC has them in lib/rustlib/etc. Where they are not installed,
// they are taken from Debian's package, once, and kept in the cache: installed, it has 150 MB.
func rustFiles(t *testing.T) string {
	t.Helper()
	home, _ := os.UserHomeDir()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	kept := filepath.Join(cache, "dbg-fixtures", "rust-natvis")
	for _, pattern := range []string{
		kept, "/usr/src/rustc-*/src/etc/natvis",
		"/usr/lib/rustlib/etc", filepath.Join(home, ".rustup/toolchains/*/lib/rustlib/etc"),
	} {
		folders, _ := filepath.Glob(pattern)
		for _, folder := range folders {
			if _, err := os.Stat(filepath.Join(folder, "libstd.natvis")); err == nil {
				return folder
			}
		}
	}
	fixture.Need(t, "apt-get", "dpkg-deb", "tar", "sh")
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(kept), "fetch")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	cmd := exec.Command("sh", "-c", "apt-get download -qq rust-src && "+
		"dpkg-deb --fsys-tarfile rust-src_*.deb | tar -x --wildcards '*/src/etc/natvis/*'")
	cmd.Dir = tmp
	text, err := cmd.CombinedOutput()
	found, _ := filepath.Glob(filepath.Join(tmp, "usr/src/rustc-*/src/etc/natvis"))
	if err != nil || len(found) != 1 {
		fixture.Missing(t, fmt.Sprintf("rustc's .natvis files can't be fetched (Debian's package rust-src): %v %s", err, text))
	}
	if err := os.Rename(found[0], kept); err != nil {
		if _, there := os.Stat(kept); there != nil { // another test was first
			t.Fatal(err)
		}
	}
	return kept
}

// TestRust reads rustc's files and finds the views of names that rustc writes for MSVC.
func TestRust(t *testing.T) {
	folder := rustFiles(t)
	var s Set
	for _, name := range []string{"intrinsic", "liballoc", "libcore", "libstd"} {
		data, err := os.ReadFile(filepath.Join(folder, name+".natvis"))
		if err != nil {
			t.Fatal(err)
		}
		f, problems := Parse(name+".natvis", data)
		for _, p := range problems {
			t.Error(p.Error())
		}
		if len(f.Types) == 0 {
			t.Errorf("%s has no types", name)
		}
		for _, typ := range f.Types {
			if len(typ.Displays) == 0 && typ.Expand == nil {
				t.Errorf("%s:%s: the type has no view", name, typ.Pos)
			}
		}
		s.Add(f, System)
	}
	// Each view is the preferred one for its own name.
	for _, views := range s.views {
		for _, v := range views {
			name := strings.ReplaceAll(v.pattern.Name.Text, "*", "i32")
			m := s.Match(name)
			if len(m) == 0 || !m[0].Pattern.Name.Equal(v.pattern.Name) || len(m[0].Args) != strings.Count(v.pattern.Name.Text, "*") {
				t.Errorf("%s: %s finds %v", v.pattern.Name, name, m)
			}
		}
	}
	for _, c := range []struct{ name, pattern, first string }{
		{"alloc::vec::Vec<i32,alloc::alloc::Global>", "alloc::vec::Vec<*>", "i32"},
		{"alloc::string::String", "alloc::string::String", ""},
		{"alloc::rc::Rc<i32>", "alloc::rc::Rc<*>", "i32"},
		{"core::ptr::non_null::NonNull<u8>", "core::ptr::non_null::NonNull<*>", "u8"},
		{"tuple$<i32,u8>", "tuple$<*,*>", "i32"},
		{"tuple$<>", "tuple$<>", ""},
		{"std::collections::hash::map::HashMap<i32,u8,std::collections::hash::map::RandomState>",
			"std::collections::hash::map::HashMap<*,*,*>", "i32"},
	} {
		m := s.Match(c.name)
		if len(m) == 0 {
			t.Errorf("%s has no view", c.name)
			continue
		}
		if got := m[0].Pattern.Name.Text; got != c.pattern {
			t.Errorf("%s: the view is %s, want %s", c.name, got, c.pattern)
		}
		if c.first != "" && (len(m[0].Args) == 0 || m[0].Args[0].Text != c.first) {
			t.Errorf("%s: $T1 is %v", c.name, m[0].Args)
		}
	}
}
