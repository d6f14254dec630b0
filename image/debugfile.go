package image

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"path/filepath"
)

// DefaultDebugDirs is where distributions put separate debug files.
var DefaultDebugDirs = []string{"/usr/lib/debug"}

// HasDebugInfo reports whether this file itself has DWARF.
func (f *File) HasDebugInfo() bool {
	i := f.findSection(".debug_info")
	return i >= 0 && f.sects[i].size > 0 && f.sects[i].typ != 8 // SHT_NOBITS
}

// DebugFile finds the separate debug file, by build id and then by
// .gnu_debuglink, in the places where gdb looks (its manual, "Debugging
// Information in Separate Files"). It is nil if f has debug information of
// its own, or if there is no such file; the string says where the file was
// found, or why there is none. The error is of a file that is there and can't
// be used. dirs nil means DefaultDebugDirs. The caller closes the file.
//
// Of a Mach-O file it is the dSYM with its UUID; openDSYM says where it is
// looked for.
func (f *File) DebugFile(dirs []string) (*File, string, error) {
	if f.HasDebugInfo() {
		return nil, "the file has debug information", nil
	}
	if dirs == nil {
		dirs = DefaultDebugDirs
	}
	if f.macho != nil {
		return f.openDSYM(dirs)
	}
	var trouble error
	why := "the file has neither a build id nor a .gnu_debuglink section"
	if id := f.BuildID(); len(id) > 2 {
		why = "no debug file for build id " + id
		d, path, err := openBuildID(dirs, id, ".debug")
		if d != nil {
			return d, "build id: " + path, nil
		}
		trouble = err
	}
	name, crc, ok := f.debugLink()
	if !ok {
		return nil, why, trouble
	}
	why = fmt.Sprintf("no debug file named %q", name)
	for _, path := range f.linkCandidates(name, dirs) {
		if sameFile(path, f.path) {
			continue
		}
		d, err := Open(path)
		if err != nil {
			if e, ok := err.(*OpenError); !ok || e.Reason != NotFound {
				trouble = err
			}
			continue
		}
		if sum := crc32.ChecksumIEEE(d.data); sum != crc {
			trouble = fmt.Errorf("%s: its checksum is %08x, but %s asks for %08x", path, sum, f.path, crc)
			d.Close()
			continue
		}
		return d, ".gnu_debuglink: " + path, nil
	}
	return nil, why, trouble
}

// AltFile finds the file that dwz has put common debug information into
// (.gnu_debugaltlink); f is the file with the DWARF. It is nil if there is
// no such section or no such file.
func (f *File) AltFile(dirs []string) (*File, string, error) {
	s, ok := f.Section(".gnu_debugaltlink")
	if !ok {
		return nil, "", nil
	}
	i := bytes.IndexByte(s.Data, 0)
	if i <= 0 {
		return nil, "malformed .gnu_debugaltlink", nil
	}
	if dirs == nil {
		dirs = DefaultDebugDirs
	}
	name, id := string(s.Data[:i]), hex.EncodeToString(s.Data[i+1:])
	var candidates []string
	if filepath.IsAbs(name) {
		candidates = append(candidates, name)
	} else if dir, err := realDir(f.path); err == nil {
		candidates = append(candidates, filepath.Join(dir, name))
	}
	for _, dir := range dirs {
		candidates = append(candidates, filepath.Join(dir, ".dwz", filepath.Base(name)))
	}
	for _, path := range candidates {
		if d, err := Open(path); err == nil {
			if d.BuildID() == id {
				return d, path, nil
			}
			d.Close()
		}
	}
	if len(id) > 2 {
		if d, path, _ := openBuildID(dirs, id, ".debug"); d != nil {
			return d, path, nil
		}
	}
	return nil, fmt.Sprintf("no supplementary debug file %s with build id %s", name, id), nil
}

// openBuildID opens DIR/.build-id/xx/yyyy.debug and checks that the file has
// that build id. It does not follow a link to a file without debug
// information.
func openBuildID(dirs []string, id, suffix string) (*File, string, error) {
	var trouble error
	for _, dir := range dirs {
		path := filepath.Join(dir, ".build-id", id[:2], id[2:]+suffix)
		d, err := Open(path)
		if err != nil {
			if e, ok := err.(*OpenError); !ok || e.Reason != NotFound {
				trouble = err
			}
			continue
		}
		if got := d.BuildID(); got != id {
			trouble = fmt.Errorf("%s: its build id is %q", path, got)
			d.Close()
			continue
		}
		return d, path, nil
	}
	return nil, "", trouble
}

// debugLink reads .gnu_debuglink: a file name, padding to 4 bytes, and the
// CRC-32 of the debug file.
func (f *File) debugLink() (name string, crc uint32, ok bool) {
	s, _ := f.Section(".gnu_debuglink")
	i := bytes.IndexByte(s.Data, 0)
	end := (i + 4) &^ 3
	if i <= 0 || end+4 > len(s.Data) {
		return "", 0, false
	}
	return string(s.Data[:i]), f.header.order.Uint32(s.Data[end:]), true
}

func (f *File) linkCandidates(name string, dirs []string) []string {
	// The name comes from the file: only its last element is believed.
	name = filepath.Base(name)
	dir, err := realDir(f.path)
	if err != nil {
		return nil
	}
	out := []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name)}
	for _, d := range dirs {
		out = append(out, filepath.Join(d, dir, name))
	}
	return out
}

// realDir returns the directory that the file is really in.
func realDir(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	real, err = filepath.Abs(real)
	return filepath.Dir(real), err
}

func sameFile(a, b string) bool {
	ra, err1 := filepath.EvalSymlinks(a)
	rb, err2 := filepath.EvalSymlinks(b)
	return err1 == nil && err2 == nil && ra == rb
}
