package natvis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// rustFiles returns the folder of rustc's own views: intrinsic, liballoc, libcore and libstd.natvis.
//
// They are src/etc/natvis in the repository rust-lang/rust. Debian's package rust-src installs them
// under /usr/src. A toolchain for MSVC has them in lib/rustlib/etc. DBG_RUST_NATVIS names another
// folder.
func rustFiles(t *testing.T) string {
	t.Helper()
	home, _ := os.UserHomeDir()
	for _, pattern := range []string{
		os.Getenv("DBG_RUST_NATVIS"), "/usr/src/rustc-*/src/etc/natvis", "/usr/lib/rustlib/etc", filepath.Join(home, ".rustup/toolchains/*/lib/rustlib/etc"),
	} {
		folders, _ := filepath.Glob(pattern)
		for _, folder := range folders {
			if _, err := os.Stat(filepath.Join(folder, "libstd.natvis")); err == nil {
				return folder
			}
		}
	}
	fixture.Missing(t, "rustc's .natvis files are not installed (Debian's package rust-src)")
	return ""
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
		{"std::collections::hash::map::HashMap<i32,u8,std::collections::hash::map::RandomState>", "std::collections::hash::map::HashMap<*,*,*>", "i32"},
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
