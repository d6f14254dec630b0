package image

import (
	"dbg/image/inflate"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// OpenSplit opens a file of split debug information (.dwo). compDir and name are DW_AT_comp_dir
// and DW_AT_dwo_name of a unit of f. It looks where the compiler wrote the file, then next to the
// program, and in the debug directories, like gdb. accept returns an error if a file is not the
// right one; then the search goes on. The error says why no file was opened. The caller closes
// the file.
func (f *File) OpenSplit(compDir, name string, dirs []string, accept func(*File) error) (*File, error) {
	if name == "" || strings.IndexByte(name+compDir, 0) >= 0 {
		return nil, errors.New("the unit does not name its .dwo file")
	}
	if dirs == nil {
		dirs = DefaultDebugDirs
	}
	at := name
	if !filepath.IsAbs(at) {
		at = filepath.Join(compDir, at)
	}
	var paths []string
	if filepath.IsAbs(at) {
		paths = append(paths, at)
	}
	if dir, err := realDir(f.path); err == nil {
		if !filepath.IsAbs(name) {
			paths = append(paths, filepath.Join(dir, name))
		}
		paths = append(paths, filepath.Join(dir, filepath.Base(name)))
	}
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, at), filepath.Join(dir, filepath.Base(name)))
	}
	d, err := openFirst(paths, accept)
	if d == nil && err == nil {
		err = fmt.Errorf("there is no file %s", at)
	}
	return d, err
}

// OpenPackage opens the package of f's .dwo files: PROGRAM.dwp, next to the program or in the
// debug directories. It returns nil without an error if there is none. The caller closes the
// file.
func (f *File) OpenPackage(dirs []string, accept func(*File) error) (*File, error) {
	if dirs == nil {
		dirs = DefaultDebugDirs
	}
	paths := []string{f.path + ".dwp"}
	// prog.debug was once prog, so its package is still prog.dwp.
	if short, ok := strings.CutSuffix(f.path, ".debug"); ok {
		paths = append(paths, short+".dwp")
	}
	if real, err := filepath.EvalSymlinks(f.path); err == nil {
		if real, err = filepath.Abs(real); err == nil {
			paths = append(paths, real+".dwp")
			for _, dir := range dirs {
				paths = append(paths, filepath.Join(dir, real+".dwp"))
			}
		}
	}
	if id := f.BuildID(); len(id) > 2 {
		for _, dir := range dirs {
			paths = append(paths, filepath.Join(dir, ".build-id", id[:2], id[2:]+".dwp"))
		}
	}
	return openFirst(paths, accept)
}

// openFirst opens the first file that accept accepts. It returns nil without an error if no file
// exists.
func openFirst(paths []string, accept func(*File) error) (*File, error) {
	var trouble error
	refuse := func(err error) {
		if trouble != nil {
			err = fmt.Errorf("%w; %w", trouble, err)
		}
		trouble = err
	}
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			continue
		}
		d, err := Open(path)
		if err != nil {
			if e, ok := err.(*OpenError); !ok || e.Reason != NotFound {
				refuse(err)
			}
			continue
		}
		if err := accept(d); err != nil {
			refuse(fmt.Errorf("%s: %w", path, err))
			d.Close()
			continue
		}
		return d, nil
	}
	return nil, trouble
}

// SplitSource gives access to the sections of a .dwo file or package. A .dwo file with type units
// has one section for each, all with the same name, so that linkers can drop copies. SplitSource
// joins them. It implements dwarf.Source.
type SplitSource struct {
	*File
	joined map[string][]byte
}

// Split returns the sections of f as those of one program.
func (f *File) Split() *SplitSource { return &SplitSource{File: f} }

// Prefix is File.Prefix for all sections with a name.
func (s *SplitSource) Prefix(name string, n uint64) []byte {
	first, ok := s.byName[name]
	if !ok {
		return s.File.Prefix(name, n)
	}
	if data, ok := s.joined[name]; ok {
		return data
	}
	var data []byte
	parts := 0
	for i := first; i < len(s.sects); i++ {
		if s.sects[i].name != name {
			continue
		}
		if parts++; parts == 2 {
			data = append(data, s.section(first).Data...)
		}
		if parts > 1 {
			data = append(data, s.section(i).Data...)
		}
		if len(data) > len(s.data)*inflate.MaxRatio {
			break // sections of a corrupt file may overlap
		}
	}
	if parts == 1 {
		return s.File.Prefix(name, n)
	}
	if s.joined == nil {
		s.joined = map[string][]byte{}
	}
	s.joined[name] = data
	return data
}
