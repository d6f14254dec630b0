package session

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"dbg/image"
)

// uuidFinder finds the files of Mach-O images, whose paths are from another machine, in a
// directory: by path, and also by UUID among all files there.
type uuidFinder struct {
	root  string // "" means this machine's root
	logf  func(string, ...any)
	index map[string][]string // files by UUID; nil until it is needed
}

// mostFiles limits the number of directory entries that are examined.
const mostFiles = 50_000

// find returns the files that may be the image with a path and a UUID, the most likely first.
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

// build reads the UUIDs of all Mach-O files below root. It does not follow symbolic links.
func (u *uuidFinder) build() {
	u.index = map[string][]string{}
	if filepath.Clean(u.root) == "/" {
		return // a whole machine
	}
	seen := 0
	_ = filepath.WalkDir(u.root, func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > mostFiles {
			u.logf("%s has more than %d files; only these are searched for images", u.root, mostFiles)
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

// withSysroot adds to the directories of debug information those where an image's dSYM would be in
// the sysroot: the root itself, and the image's directory.
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
