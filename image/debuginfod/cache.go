package debuginfod

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dbg/image"
)

// cache is the directory that all clients on this machine share. It has a directory for each
// build id, with the files "debuginfo" and "executable". An empty file records that no server has
// it. Files named *_s in the cache directory itself hold its settings.
type cache struct{ dir string }

// The settings of the cache: the file names and default values of elfutils.
const (
	missFile, missDefault         = "cache_miss_s", 600
	intervalFile, intervalDefault = "cache_clean_interval_s", 86400
	unusedFile, unusedDefault     = "max_unused_age_s", 604800
)

var fileNames = [...]string{image.FetchDebug: "debuginfo", image.FetchExecutable: "executable"}

func (c cache) path(kind image.FetchKind, id string) string {
	return filepath.Join(c.dir, id, fileNames[kind])
}

// errMissed reports that no server had the file when it was last asked for.
var errMissed = errors.New("no server had it when last asked")

// find returns the path of a cached file. It fails with errMissed, or with fs.ErrNotExist if the
// servers should be asked for the file.
func (c cache) find(kind image.FetchKind, id string) (string, error) {
	path := c.path(kind, id)
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().IsRegular() && info.Size() > 0 {
		now := time.Now()
		_ = os.Chtimes(path, now, time.Time{}) // mark it as used; a read-only directory is fine
		return path, nil
	}
	if age := time.Since(info.ModTime()); age >= 0 && age < c.seconds(missFile, missDefault) {
		return "", errMissed
	}
	_ = os.Remove(path) // renaming over it would work as well
	return "", os.ErrNotExist
}

// miss records that no server has a file.
func (c cache) miss(kind image.FetchKind, id string) error {
	path := c.path(kind, id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// As in elfutils, the file has no permissions.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// create opens a temporary file next to the final path of a file, to be renamed to it.
func (c cache) create(kind image.FetchKind, id string) (*os.File, error) {
	if c.dir == "" {
		return nil, errors.New("no cache directory: neither DEBUGINFOD_CACHE_PATH nor HOME is set")
	}
	path := c.path(kind, id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.CreateTemp(filepath.Dir(path), fileNames[kind]+".*")
}

// room returns an error if n bytes do not fit on the disk.
func (c cache) room(n int64) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(c.dir, &st); err != nil {
		return nil // a failing write will report it
	}
	if free := st.Bavail * uint64(st.Bsize); uint64(n) > free {
		return fmt.Errorf("%d bytes do not fit into %s: only %d are free", n, c.dir, free)
	}
	return nil
}

// seconds reads a setting.
func (c cache) seconds(name string, otherwise int64) time.Duration {
	n := otherwise
	if b, err := os.ReadFile(filepath.Join(c.dir, name)); err == nil && len(b) < 32 {
		if v, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 32); err == nil && v >= 0 {
			n = v
		}
	}
	return time.Duration(n) * time.Second
}

// clean removes files that were not used for a long time. All clients together do this once in an
// interval: the modification time of the interval's file records the last time.
func (c cache) clean() {
	stamp := filepath.Join(c.dir, intervalFile)
	info, err := os.Stat(stamp)
	if err != nil {
		if os.MkdirAll(c.dir, 0o700) == nil {
			_ = os.WriteFile(stamp, []byte(strconv.Itoa(intervalDefault)), 0o644)
		}
		return
	}
	if time.Since(info.ModTime()) < c.seconds(intervalFile, intervalDefault) {
		return
	}
	now := time.Now()
	if os.Chtimes(stamp, now, now) != nil {
		return
	}
	unused := c.seconds(unusedFile, unusedDefault)
	const mostEntries = 1 << 16
	dir, err := os.Open(c.dir)
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(mostEntries)
	dir.Close()
	for _, id := range names {
		if !validID(id) {
			continue
		}
		sub := filepath.Join(c.dir, id)
		entries, _ := os.ReadDir(sub)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && now.Sub(lastUse(info)) > unused {
				_ = os.Remove(filepath.Join(sub, e.Name()))
			}
		}
		_ = os.Remove(sub) // if it is empty now
	}
}

// lastUse returns when a file was last read or written.
func lastUse(info os.FileInfo) time.Time {
	t := info.ModTime()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if a := time.Unix(st.Atim.Unix()); a.After(t) {
			t = a
		}
	}
	return t
}

// validID reports whether a build id is usable as a directory name: only hexadecimal digits.
func validID(id string) bool {
	if len(id) < 4 || len(id) > 128 || len(id)%2 != 0 {
		return false
	}
	return strings.Trim(id, "0123456789abcdef") == ""
}
