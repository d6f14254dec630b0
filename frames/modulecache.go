package frames

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"dbg/cfi"
	"dbg/image"
)

// ModuleCache holds object files and their unwind tables for several address spaces. Processes that map the
// same file share its tables: they are found, decoded and compiled once. A file that was replaced on disk is
// another file.
//
// A file stays open while an AddressSpace uses it. Of the others, the cache keeps the ones that were used
// last, as many as its limit. Several goroutines may use a ModuleCache.
type ModuleCache struct {
	mu     sync.Mutex // guards all fields below
	files  map[string]*cachedFile
	unused []*cachedFile // the one that was used last is at the end
	limit  int           // of unused
	stats  ModuleCacheStats
	closed bool

	compiler cfi.Compiler // shared by all tables
}

// ModuleCacheStats counts what a ModuleCache has done.
type ModuleCacheStats struct {
	Opened int // files that were opened
	Shared int // requests that found an open file
	Placed int // modules that share the tables of an earlier one
	Open   int // files that are open now
}

// cachedFile is an open file.
type cachedFile struct {
	key    string
	file   *image.File
	module *Module // the first module of the file, or nil
	users  int
}

var errCacheClosed = errors.New("the module cache is closed")

// NewModuleCache returns a cache that keeps at most unused files open that no AddressSpace uses.
func NewModuleCache(unused int) *ModuleCache {
	return &ModuleCache{files: map[string]*cachedFile{}, limit: max(unused, 0)}
}

// Close closes all files. No AddressSpace that uses the cache may be used after that.
func (c *ModuleCache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, f := range c.files {
		errs = append(errs, f.file.Close())
	}
	c.files, c.unused, c.closed = nil, nil, true
	return errors.Join(errs...)
}

// Stats returns the counts so far.
func (c *ModuleCache) Stats() ModuleCacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Open = len(c.files)
	return s
}

// open opens a file, or finds it open. The caller calls release once for each call of open.
func (c *ModuleCache) open(path string, offset uint64) (*cachedFile, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("opening a mapped file: %w", err)
	}
	key := fmt.Sprintf("%s+%x:%d:%d", path, offset, st.Size(), st.ModTime().UnixNano())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errCacheClosed
	}
	f := c.files[key]
	if f != nil {
		c.stats.Shared++
		if i := slices.Index(c.unused, f); i >= 0 {
			c.unused = slices.Delete(c.unused, i, i+1)
		}
	} else {
		file, err := openMapped(path, offset)
		if err != nil {
			return nil, err
		}
		f = &cachedFile{key: key, file: file}
		c.files[key] = f
		c.stats.Opened++
	}
	f.users++
	return f, nil
}

// module returns the module of an open file at a place.
func (c *ModuleCache) module(f *cachedFile, p Placement) *Module {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.module != nil {
		c.stats.Placed++
		return f.module.Placed(p)
	}
	p.Compiler = &c.compiler
	f.module = ModuleAt(f.file, nil, p)
	return f.module
}

// release ends one use of a file. It closes the file that was unused longest, if there are too many.
func (c *ModuleCache) release(f *cachedFile) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.users--; f.users > 0 || c.closed {
		return nil
	}
	c.unused = append(c.unused, f)
	if len(c.unused) <= c.limit {
		return nil
	}
	f = c.unused[0]
	c.unused = slices.Delete(c.unused, 0, 1)
	delete(c.files, f.key)
	return f.file.Close()
}

// openMapped opens the file of a mapping. offset is where its first mapping begins in the file.
func openMapped(path string, offset uint64) (f *image.File, err error) {
	if offset != 0 { // stored in an archive
		f, err = image.OpenAt(path, offset)
	}
	if f == nil {
		f, err = image.Open(path)
	}
	return f, err
}
