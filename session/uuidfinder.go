package session

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"dbg/image"
)

// uuidFinder finds the files of Mach-O images, whose paths are those of another
// machine, in a directory: by path, and if that isn't there or is another file, by
// UUID among all files.
type uuidFinder struct {
	root  string // "": this machine's root
	logf  func(string, ...any)
	index map[string][]string // files by UUID; nil until it is needed
}

// mostFiles bounds how many entries of the directory are looked at.
const mostFiles = 50_000

// find returns the files that may be the image of a path with a UUID, the likeliest
// first.
func (u *uuidFinder) find(path, uuid string) []string {
	var out []string
	if filepath.IsAbs(path) {
		out = append(out, filepath.Join(u.root, filepath.Clean(path)))
	}
	if u.root == "" || uuid == "" {
		return out
	}
	if u.index == nil {
		u.build()
	}
	for _, p := range u.index[uuid] {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// build reads the UUIDs of all Mach-O files below root. Symbolic links are not
// followed.
func (u *uuidFinder) build() {
	u.index = map[string][]string{}
	if filepath.Clean(u.root) == "/" {
		return // a whole machine
	}
	seen := 0
	_ = filepath.WalkDir(u.root, func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > mostFiles {
			u.logf("%s has more than %d files; images are searched in these only", u.root, mostFiles)
			return filepath.SkipAll
		}
		if err != nil || !e.Type().IsRegular() || !image.BeginsAsMachO(path) {
			return nil
		}
		list, err := image.Slices(path)
		if err != nil {
			return nil
		}
		for _, s := range list {
			if s.Arch == nil {
				continue
			}
			f, err := image.OpenArch(path, s.Name)
			if err != nil {
				continue
			}
			if id := f.BuildID(); id != "" {
				u.index[id] = append(u.index[id], path)
			}
			f.Close()
		}
		return nil
	})
}

// withSysroot adds to the directories of debug information those of the
// sysroot where an image's dSYM would be: the root itself, and the image's own.
func withSysroot(dirs []string, root, path string) []string {
	if root == "" {
		return dirs
	}
	dirs = append(slices.Clone(dirs), root)
	if strings.HasPrefix(path, "/") {
		dirs = append(dirs, filepath.Join(root, filepath.Dir(path)))
	}
	return dirs
}
