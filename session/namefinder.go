package session

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"dbg/target/minidump"
)

// nameFinder finds the files of the modules of a minidump, whose paths are from another machine and
// perhaps another system: by path, and by the last part of the path in the sysroot and beside the
// dump. The caller checks the ids.
type nameFinder struct {
	sysroot string // "" means this machine's root
	beside  string // the folder of the dump
	uuids   *uuidFinder
	logf    func(string, ...any)
	index   map[string][]string // files of the sysroot, by name in lower case; nil until it is needed
}

// uuidDigits is the length of a Mach-O UUID in hexadecimal. Other ids are longer, or those of no file
// of that format.
const uuidDigits = 32

// find returns the files that may be the module with a path and an id, the most likely first.
func (n *nameFinder) find(path, id string) []string {
	var out []string
	add := func(p string) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if filepath.IsAbs(path) {
		if n.sysroot != "" {
			add(filepath.Join(n.sysroot, filepath.Clean(path)))
		}
		add(filepath.Clean(path))
	}
	name := minidump.BaseName(path)
	if name == "" || name == "." || name == ".." {
		return out
	}
	if n.sysroot != "" {
		if n.index == nil {
			n.build()
		}
		for _, p := range n.index[strings.ToLower(name)] {
			add(p)
		}
		if len(id) == uuidDigits && filepath.IsAbs(path) {
			for _, p := range n.uuids.find(path, id) {
				add(p)
			}
		}
	}
	add(filepath.Join(n.beside, name))
	return out
}

// build lists the files below the sysroot. It does not follow symbolic links to folders.
func (n *nameFinder) build() {
	n.index = map[string][]string{}
	if filepath.Clean(n.sysroot) == "/" {
		return // a whole machine
	}
	seen := 0
	_ = filepath.WalkDir(n.sysroot, func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > mostFiles {
			n.logf("%s has more than %d files; only these are searched for modules", n.sysroot, mostFiles)
			return filepath.SkipAll
		}
		if err != nil || e.IsDir() {
			return nil
		}
		name := strings.ToLower(e.Name())
		n.index[name] = append(n.index[name], path)
		return nil
	})
}
