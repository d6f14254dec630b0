package image

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strings"
)

// DefaultDebugDirs lists the directories where distributions put separate debug files.
var DefaultDebugDirs = []string{"/usr/lib/debug"}

// HasDebugInfo reports whether the file itself contains DWARF.
func (f *File) HasDebugInfo() bool {
	i := f.findSection(".debug_info")
	return i >= 0 && f.sects[i].size > 0 && f.sects[i].typ != 8 // SHT_NOBITS
}

// DebugFile finds the separate debug file, by build id and then by .gnu_debuglink, in the places
// where gdb looks (its manual, "Debugging Information in Separate Files"). For a Mach-O file it
// finds the dSYM with the same UUID; openDSYM lists the places.
//
// The result is nil if f contains debug information itself, or if no such file exists. The string
// says where the file was found, or why no file was used. The error reports a file that exists but
// can't be used. If dirs is nil, DefaultDebugDirs is used. The caller closes the file.
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
	id := f.BuildID()
	name, crc, linked := f.debugLink()
	var search debugSearch
	if len(id) > 2 {
		for _, path := range buildIDPaths(dirs, id, ".debug") {
			if d := search.try(path, func(d *File) error { return d.needBuildID(id) }); d != nil {
				return d, "build id: " + path, nil
			}
		}
	}
	if linked {
		for _, path := range f.linkCandidates(name, dirs) {
			if sameFile(path, f.path) {
				continue
			}
			if d := search.try(path, func(d *File) error { return d.needLink(f, crc, id) }); d != nil {
				return d, ".gnu_debuglink: " + path, nil
			}
		}
	}
	var why string
	switch {
	case len(id) > 2 && linked:
		why = fmt.Sprintf("no debug file for build id %s or named %q", id, name)
	case len(id) > 2:
		why = "no debug file for build id " + id
	case linked:
		why = fmt.Sprintf("no debug file named %q", name)
	default:
		return nil, "the file has neither a build id nor a .gnu_debuglink section", nil
	}
	return nil, why + " (tried " + strings.Join(search.tried, ", ") + ")", search.trouble
}

// debugSearch records where a separate file was looked for.
type debugSearch struct {
	tried   []string
	trouble error // from the last file that exists but can't be used
}

// try opens a file, if it exists, and calls check to find out whether it is the right one.
func (x *debugSearch) try(path string, check func(*File) error) *File {
	x.tried = append(x.tried, path)
	d, err := Open(path)
	if err != nil {
		if e, ok := err.(*OpenError); !ok || e.Reason != NotFound {
			x.trouble = err
		}
		return nil
	}
	if err := check(d); err != nil {
		x.trouble = fmt.Errorf("%s: %w", path, err)
		d.Close()
		return nil
	}
	return d
}

// needBuildID returns an error if f does not have the build id.
func (f *File) needBuildID(id string) error {
	if got := f.BuildID(); got != id {
		return fmt.Errorf("its build id is %q, expected %s", got, id)
	}
	return nil
}

// needLink returns an error if f is not the file that the .gnu_debuglink section of another file
// refers to: if the checksums differ, or if both files have a build id and these differ.
func (f *File) needLink(of *File, crc uint32, id string) error {
	if sum := crc32.ChecksumIEEE(f.data); sum != crc {
		return fmt.Errorf("its checksum is %08x, but %s expects %08x", sum, of.path, crc)
	}
	if got := f.BuildID(); got != "" && id != "" {
		return f.needBuildID(id)
	}
	return nil
}

// OpenAsBuildID opens a file that is expected to have a build id, and checks that it does.
func OpenAsBuildID(path, id string) (*File, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	if err := f.needBuildID(id); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// AltFile finds the supplementary file (.gnu_debugaltlink) into which dwz moved debug information
// that several files share; f is the file with the DWARF. The result is nil if there is no such
// section or no such file. The string says where the file was found, or why no file was used.
func (f *File) AltFile(dirs []string) (*File, string, error) {
	name, id, ok := f.altLink()
	if !ok {
		if f.HasSection(".gnu_debugaltlink") {
			return nil, "malformed .gnu_debugaltlink", nil
		}
		return nil, "", nil
	}
	if dirs == nil {
		dirs = DefaultDebugDirs
	}
	var candidates []string
	if filepath.IsAbs(name) {
		candidates = append(candidates, name)
	} else if dir, err := realDir(f.path); err == nil {
		candidates = append(candidates, filepath.Join(dir, name))
	}
	for _, dir := range dirs {
		candidates = append(candidates, filepath.Join(dir, ".dwz", filepath.Base(name)))
	}
	if len(id) > 2 {
		candidates = append(candidates, buildIDPaths(dirs, id, ".debug")...)
	}
	var search debugSearch
	for _, path := range candidates {
		if d := search.try(path, func(d *File) error { return d.needBuildID(id) }); d != nil {
			return d, path, nil
		}
	}
	why := fmt.Sprintf("no supplementary debug file %s with build id %s (tried %s)", name, id, strings.Join(search.tried, ", "))
	return nil, why, search.trouble
}

// AltID returns the build id in .gnu_debugaltlink, or "" if there is no such section.
func (f *File) AltID() string {
	_, id, _ := f.altLink()
	return id
}

// altLink reads .gnu_debugaltlink: a file name and a build id.
func (f *File) altLink() (name, id string, ok bool) {
	s, _ := f.Section(".gnu_debugaltlink")
	i := bytes.IndexByte(s.Data, 0)
	if i <= 0 || i > maxPath || len(s.Data)-i-1 > maxBuildID {
		return "", "", false
	}
	return string(s.Data[:i]), hex.EncodeToString(s.Data[i+1:]), true
}

// Limits on the contents of a link to another file.
const (
	maxPath    = 4096
	maxBuildID = 64
)

// buildIDPaths returns DIR/.build-id/xx/yyyy.debug for each directory.
func buildIDPaths(dirs []string, id, suffix string) []string {
	var out []string
	for _, dir := range dirs {
		out = append(out, filepath.Join(dir, ".build-id", id[:2], id[2:]+suffix))
	}
	return out
}

// debugLink reads .gnu_debuglink: a file name, padding to 4 bytes, and the
// CRC-32 of the debug file.
func (f *File) debugLink() (name string, crc uint32, ok bool) {
	s, _ := f.Section(".gnu_debuglink")
	i := bytes.IndexByte(s.Data, 0)
	end := (i + 4) &^ 3
	if i <= 0 || i > maxPath || end+4 > len(s.Data) {
		return "", 0, false
	}
	return string(s.Data[:i]), f.header.Order.Uint32(s.Data[end:]), true
}

func (f *File) linkCandidates(name string, dirs []string) []string {
	// The name comes from an untrusted file: use only its last element.
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

// realDir returns the directory of a file, with symbolic links resolved.
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
