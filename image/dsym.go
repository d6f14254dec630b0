package image

import (
	"dbg/image/macho"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxBundles limits how many entries of a directory are examined in the search for a dSYM.
const maxBundles = 4096

// openDSYM finds the debug information of a Mach-O file: the file with the same UUID in a dSYM
// bundle, which dsymutil makes. It looks
//   - next to the file: NAME.dSYM/Contents/Resources/DWARF/,
//   - next to each .app, .framework and so on that contains the file,
//   - in each of dirs: by UUID, as DIR/XXXX/XXXX/XXXX/XXXX/XXXX/XXXXXXXXXXXX (the layout of
//     lldb's file-mapped UUID directories), then in NAME.dSYM, then in any *.dSYM.
//
// In a fat file it takes the slice with the UUID. A file with another UUID is never taken. If the
// first place has such a file, that is the error.
func (f *File) openDSYM(dirs []string) (*File, string, error) {
	uuid := f.macho.UUID
	if uuid == "" {
		return nil, "the file has no UUID", nil
	}
	var trouble error
	try := func(path string) *File {
		d, err := openUUID(path, uuid)
		if err != nil && trouble == nil {
			trouble = err
		}
		return d
	}
	for _, path := range f.dsymCandidates() {
		for _, file := range bundleFiles(path, filepath.Base(f.path)) {
			if d := try(file); d != nil {
				return d, "dSYM: " + file, nil
			}
		}
	}
	for _, dir := range dirs {
		// A dSYM for another file is not an error here.
		for _, file := range f.debugDirFiles(dir) {
			if d, _ := openUUID(file, uuid); d != nil {
				return d, "dSYM: " + file, nil
			}
		}
	}
	return nil, "no dSYM with UUID " + uuid, trouble
}

// openUUID opens the slice of a file that has the UUID and debug information. The result is nil
// if there is no such file. The error reports a file that exists but is not the right one.
func openUUID(path, uuid string) (*File, error) {
	found := ""
	f, err := openChosen(path, func(data []byte, list []Slice) (int, error) {
		for i, s := range list {
			b := data[s.Offset : s.Offset+s.Size]
			if !macho.Begins(b) {
				continue
			}
			if m, err := macho.Parse(b); err == nil {
				found = m.UUID
				if found == uuid {
					return i, nil
				}
			}
		}
		return 0, fmt.Errorf("it has other UUIDs, such as %q", found)
	})
	if err != nil {
		if e, ok := err.(*OpenError); ok && e.Reason == NotFound {
			err = nil
		}
		return nil, err
	}
	if got := f.BuildID(); got != uuid || !f.HasDebugInfo() {
		f.Close()
		if got == uuid {
			return nil, nil // the file itself, or its copy
		}
		return nil, fmt.Errorf("%s: its UUID is %q", path, got)
	}
	return f, nil
}

// dsymCandidates returns the possible paths of bundles next to the file, or next to the bundles
// that contain it.
func (f *File) dsymCandidates() []string {
	var out []string
	for _, path := range []string{f.path, realPath(f.path)} {
		if path == "" {
			continue
		}
		out = append(out, path+".dSYM")
		for dir := filepath.Dir(path); len(dir) > 1; dir = filepath.Dir(dir) {
			if filepath.Ext(dir) != "" {
				out = append(out, dir+".dSYM")
			}
		}
	}
	return out
}

// realPath returns the path with symbolic links resolved, or "" if it does not exist.
func realPath(path string) string {
	dir, err := realDir(path)
	if err != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, filepath.Base(real))
}

// bundleFiles returns the files in a dSYM bundle. The file with the given name comes first.
func bundleFiles(bundle, name string) []string {
	dir := filepath.Join(bundle, "Contents", "Resources", "DWARF")
	var out []string
	for _, e := range listDir(dir, 64) {
		path := filepath.Join(dir, e)
		if e == name {
			out = append([]string{path}, out...)
		} else {
			out = append(out, path)
		}
	}
	return out
}

// debugDirFiles returns the files under a debug directory that may be the dSYM, the likely ones
// first.
func (f *File) debugDirFiles(dir string) []string {
	u := strings.ToUpper(f.macho.UUID)
	byUUID := filepath.Join(dir, u[:4], u[4:8], u[8:12], u[12:16], u[16:20], u[20:])
	out := append([]string{byUUID}, bundleFiles(byUUID, "")...)
	name := filepath.Base(f.path)
	out = append(out, bundleFiles(filepath.Join(dir, name+".dSYM"), name)...)
	for _, e := range listDir(dir, maxBundles) {
		if strings.HasSuffix(e, ".dSYM") && e != name+".dSYM" {
			out = append(out, bundleFiles(filepath.Join(dir, e), name)...)
		}
	}
	return out
}

// listDir returns at most max names in a directory.
func listDir(dir string, max int) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(max)
	return names
}
