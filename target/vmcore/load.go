package vmcore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"dbg/image"
	"dbg/target/vmcore/btf"
)

// maxBTF bounds the kernel's BTF: that of Debian's kernels has 6 MB.
const maxBTF = 128 << 20

// load finds the kernel's symbols, types, tasks and modules.
func (c *Core) load(opts Options) error {
	if opts.Exe != "" {
		if err := c.openKernel(opts.Exe); err != nil {
			return err
		}
	}
	list, err := c.kallsyms()
	if err != nil {
		if list = c.symbolsOfFile(); len(list) == 0 {
			return fmt.Errorf("the kernel's symbols can't be read: %w; a vmlinux with a symbol table has them too", err)
		}
	}
	slices.SortStableFunc(list, func(a, b symbol) int { return cmp.Compare(a.addr, b.addr) })
	c.symbols = list
	for _, s := range list {
		if _, twice := c.names[s.name]; !twice {
			c.names[s.name] = s.addr
		}
	}
	if err := c.loadTypes(); err != nil {
		return err
	}
	c.loadImages()
	return c.loadTasks()
}

// openKernel opens the vmlinux that the user has given.
func (c *Core) openKernel(path string) error {
	f, err := image.Open(path)
	if err != nil {
		return err
	}
	if have := f.BuildID(); c.info.buildID != "" && have != c.info.buildID {
		_ = f.Close()
		return fmt.Errorf("%s is not the kernel of the dump: its build id is %s, the dump has %s (Linux %s)",
			path, have, c.info.buildID, c.info.release)
	}
	c.file, c.exe = f, path
	return nil
}

// symbolsOfFile lists the symbols of the vmlinux, where the kernel was.
func (c *Core) symbolsOfFile() (list []symbol) {
	if c.file == nil {
		return nil
	}
	for _, s := range c.file.Symbols() {
		addr := uint64(s.Addr)
		if addr >= imageMap { // variables of processors have small numbers
			addr += c.info.offset
		}
		list = append(list, symbol{s.Name, addr, s.Kind == image.Func})
	}
	return list
}

func (c *Core) loadTypes() error {
	lo, hi := c.names["__start_BTF"], c.names["__stop_BTF"]
	if lo == 0 || hi <= lo || hi-lo > maxBTF {
		return errors.New("the kernel has no BTF, which has the layouts of its structures")
	}
	b, err := c.bytesAt(lo, hi-lo)
	if err != nil {
		return err
	}
	if c.types, err = btf.Parse(b); err != nil {
		return fmt.Errorf("the kernel's types at 0x%x: %w", lo, err)
	}
	return nil
}

// offsets looks up members of a structure: paths are as those of btf.Types.Offset.
func (c *Core) offsets(structure string, paths ...string) (list []uint64, err error) {
	for _, p := range paths {
		off, ok := c.types.Offset(structure, p)
		if !ok {
			return nil, fmt.Errorf("the kernel's struct %s has no member %s", structure, p)
		}
		list = append(list, off)
	}
	return list, nil
}
