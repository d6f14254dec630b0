package vmcore

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"dbg/arch"
	"dbg/image"
	"dbg/image/elfheader"
	"dbg/target"
	"dbg/target/corefile"
	"dbg/target/vmcore/btf"
)

// Options specifies where the files of a dump are.
type Options struct {
	Exe string // the kernel's vmlinux, or "" if there is none
}

// Core is a dump. Its methods may be called from any goroutine.
type Core struct {
	base       *corefile.File // its segments have physical addresses
	info       info
	root       uint64 // physical address of the kernel's top page table
	levels     int
	encryption uint64 // the bit of a page table's entry that marks encrypted memory
	pages      struct {
		sync.Mutex
		known map[uint64]uint64 // physical addresses of pages
	}

	exe     string      // the vmlinux that is used, or ""
	file    *image.File // exe
	symbols []symbol    // by address
	names   map[string]uint64
	types   *btf.Types

	processors [][]byte // registers of each processor
	tasks      []task
	byID       map[target.ThreadID]int
	images     []loaded
	steps      int // elements of the kernel's lists that were read
}

var _ target.Target = (*Core)(nil)

// maxProcessors bounds the processors (CONFIG_NR_CPUS is at most 8192 on x86-64).
const maxProcessors = 8192

// compressedFormats are the first bytes of dumps that are not ELF.
var compressedFormats = map[string]string{"KDUMP   ": "kdump-compressed format",
	"makedumpfile\x00": "flattened format of makedumpfile"}

// Is reports whether a file is a dump of a kernel, also one in a format that Open refuses.
func Is(path string) bool {
	var head [16]byte
	n, err := image.Peek(path, head[:])
	if err != nil {
		return false
	}
	for magic := range compressedFormats {
		if bytes.HasPrefix(head[:n], []byte(magic)) {
			return true
		}
	}
	if !bytes.HasPrefix(head[:n], []byte(elf.ELFMAG)) {
		return false
	}
	m, err := image.Map(path)
	if err != nil {
		return false
	}
	defer m.Close()
	found := false
	eachNote(m.Bytes(), func(n elfheader.Note) {
		found = found || n.Name == "VMCOREINFO"
	})
	return found
}

// eachNote calls f for each note of an ELF core.
func eachNote(data []byte, f func(elfheader.Note)) {
	h, err := elfheader.Parse(data)
	if err != nil || h.Type != elf.ET_CORE || h.Progs.EntrySize < h.SegmentSize() {
		return
	}
	for i := range h.Progs.Within(uint64(len(data))) {
		s, ok := h.Segment(data, i)
		if !ok {
			return
		}
		if s.Type == elf.PT_NOTE {
			elfheader.EachNote(elfheader.CutSome(data, s.Off, s.FileSize), h.Order, 4, func(n elfheader.Note) bool {
				f(n)
				return true
			})
		}
	}
}

// Open maps a dump. The error is one sentence for the user.
func Open(path string, opts Options) (*Core, error) {
	return corefile.OpenWith(path, func(f *corefile.File) (*Core, error) { return parse(f, opts) })
}

func parse(f *corefile.File, opts Options) (*Core, error) {
	path, data := f.Path(), f.Bytes()
	for magic, name := range compressedFormats {
		if bytes.HasPrefix(data, []byte(magic)) {
			return nil, fmt.Errorf("%s: dumps in the %s are not read, only ELF dumps (makedumpfile -E; -R undoes the flattened format): "+
				"read it with crash", path, name)
		}
	}
	c := &Core{base: f, names: map[string]uint64{}, byID: map[target.ThreadID]int{}}
	c.pages.known = map[uint64]uint64{}
	h, err := elfheader.Parse(data)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w", path, err, corefile.ErrNotCore)
	case h.Type != elf.ET_CORE:
		return nil, fmt.Errorf("%s: %w", path, corefile.ErrNotCore)
	case h.Machine != elf.EM_X86_64 || !h.Wide || h.Order != binary.LittleEndian:
		return nil, fmt.Errorf("%s is a dump of a kernel for an unsupported processor: %s", path, h.MachineName())
	}
	if err := c.readHeaders(&h); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := c.load(opts); err != nil {
		_ = c.file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// readHeaders reads the notes, and arranges the segments by their physical addresses.
func (c *Core) readHeaders(h *elfheader.Header) error {
	data := c.base.Bytes()
	found := false
	eachNote(data, func(n elfheader.Note) {
		const ntPRSTATUS, regs = 1, 112
		size := 8 * len(arch.AMD64.User)
		switch {
		case n.Name == "VMCOREINFO" && !found:
			c.info, found = parseInfo(n.Desc), true
		case n.Name == "CORE" && n.Type == ntPRSTATUS && len(c.processors) < maxProcessors && len(n.Desc) >= regs+size:
			c.processors = append(c.processors, n.Desc[regs:][:size])
		}
	})
	if !found {
		return errors.New("it has no note VMCOREINFO, without which a kernel's dump can't be read (QEMU: -device vmcoreinfo)")
	}
	if h.Progs.EntrySize < h.SegmentSize() {
		return errors.New("its program headers are too short")
	}
	var segments []corefile.Segment
	short := 0
	for i := range h.Progs.Within(uint64(len(data))) {
		s, ok := h.Segment(data, i)
		if !ok {
			break
		}
		at, ok := physicalAddress(data, h, i)
		if s.Type != elf.PT_LOAD || !ok || s.FileSize == 0 || at+s.FileSize < at {
			continue
		}
		have := uint64(len(elfheader.CutSome(data, s.Off, s.FileSize)))
		if have < s.FileSize {
			short++
		}
		segments = append(segments, corefile.Segment{Addr: at, Size: s.FileSize, Off: s.Off, Have: have})
	}
	if short > 0 {
		c.base.Warnf("the dump is truncated: %d of %d segments are incomplete", short, len(segments))
	}
	c.base.Arrange(segments)
	return c.findRoot()
}

// physicalAddress reads p_paddr of a program header.
func physicalAddress(data []byte, h *elfheader.Header, i uint64) (uint64, bool) {
	const paddr = 24
	b, ok := elfheader.Cut(data, h.Progs.Off+i*h.Progs.EntrySize+paddr, 8)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// findRoot finds the kernel's page tables.
func (c *Core) findRoot() error {
	top := c.info.symbols["swapper_pg_dir"]
	if top == 0 {
		top = c.info.symbols["init_top_pgt"]
	}
	base, ok := c.info.numbers["phys_base"]
	if top < imageMap || !ok {
		return errors.New("VMCOREINFO does not tell where the kernel's page tables are (swapper_pg_dir, phys_base)")
	}
	c.root = top - imageMap + uint64(base)
	c.levels = 4
	if c.info.numbers["pgtable_l5_enabled"] == 1 {
		c.levels = 5
	}
	c.encryption = uint64(c.info.numbers["sme_mask"])
	return nil
}

// Warnings returns sentences about problems with the dump.
func (c *Core) Warnings() []string { return c.base.Warnings() }

func (c *Core) Arch() *arch.Arch  { return arch.AMD64 }
func (c *Core) Kind() target.Kind { return target.Core }
func (c *Core) PID() int          { return 0 }
func (c *Core) Exe() string       { return c.exe }

// SetRegister and WriteMemory return target.ErrReadOnly.
func (c *Core) SetRegister(target.ThreadID, arch.Reg, uint64) error { return target.ErrReadOnly }
func (c *Core) WriteMemory(target.Addr, []byte) (int, error)        { return 0, target.ErrReadOnly }

// WideRegister returns target.ErrNoRegister: the kernel does not use those registers.
func (c *Core) WideRegister(target.ThreadID, arch.Reg) ([]byte, error) {
	return nil, target.ErrNoRegister
}

// Auxv implements target.Target: a kernel has none.
func (c *Core) Auxv(uint64) (uint64, bool) { return 0, false }

// Close implements target.Target.
func (c *Core) Close() error {
	c.base.Lock()
	defer c.base.Unlock()
	_ = c.file.Close()
	return c.base.Close()
}
