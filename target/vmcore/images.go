package vmcore

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"dbg/image"
	"dbg/target"
)

// loaded is the kernel, or a module that it has loaded.
type loaded struct {
	path   string
	lo, hi uint64       // its code
	slide  uint64       // of the file
	make   func() *plan // the parts of an ELF file that stands for it, or nil if there is a file
}

// plan holds the parts of the ELF file that is made of what is in memory.
type plan struct {
	text       uint64
	code       []byte
	ipAddr     uint64
	ip, unwind []byte
	header     []byte
	banner     string
	symbols    []elfSymbol
}

// Bounds on what is read for one image.
const (
	maxText          = 256 << 20 // of the kernel, and of all modules together
	maxORC           = 8 << 20   // entries
	maxModules       = 4096
	maxModuleSymbols = 1 << 20 // of all modules together
	chunk            = 1 << 20
)

// loadImages lists the kernel and its modules.
func (c *Core) loadImages() {
	lo, hi := c.names["_stext"], c.names["_etext"]
	if end := c.names["_einittext"]; end > hi {
		hi = end
	}
	if lo == 0 || hi <= lo || hi-lo > maxText {
		c.base.Warnf("the kernel's code is not found")
		return
	}
	kernel := loaded{path: "vmlinux", lo: lo, hi: hi, make: c.planKernel}
	if c.file != nil {
		kernel.path = c.exe
		if len(c.file.Symbols()) > 0 {
			kernel.slide, kernel.make = c.info.offset, nil
		}
	}
	c.images = append(c.images, kernel)
	c.loadModules()
}

func (c *Core) planKernel() *plan {
	at := func(name string) (lo, n uint64) {
		lo, hi := c.names["__start_"+name], c.names["__stop_"+name]
		if lo == 0 || hi < lo || hi-lo > 6*maxORC {
			return 0, 0
		}
		return lo, hi - lo
	}
	k := c.images[0]
	p := &plan{text: k.lo}
	p.code = c.some(k.lo, k.hi-k.lo)
	var n uint64
	if p.ipAddr, n = at("orc_unwind_ip"); n > 0 {
		p.ip = c.some(p.ipAddr, n)
		lo, n := at("orc_unwind")
		p.unwind = c.some(lo, n)
		lo, n = at("orc_header")
		p.header = c.some(lo, n)
	}
	p.banner = "Linux version " + c.info.release + " "
	end, last := k.hi, k.hi // of the symbols at an address: the next address that has one
	for _, s := range slices.Backward(c.symbols) {
		if s.addr < k.lo || s.addr >= k.hi {
			continue
		}
		if s.addr < last {
			end, last = last, s.addr
		}
		p.symbols = append(p.symbols, elfSymbol{s.name, s.addr, end - s.addr, s.code})
	}
	slices.Reverse(p.symbols)
	return p
}

// some reads up to n bytes; the caller bounds n. Memory is allocated for what is there.
func (c *Core) some(at, n uint64) (b []byte) {
	for uint64(len(b)) < n {
		have := len(b)
		b = append(b, make([]byte, min(chunk, n-uint64(have)))...)
		if got, err := c.read(at+uint64(have), b[have:]); err != nil {
			return b[:have+got]
		}
	}
	return b
}

// loadModules lists the loaded modules.
func (c *Core) loadModules() {
	head := c.names["modules"]
	if head == 0 {
		return
	}
	m, err := c.offsets("module", "list", "name", "arch.orc_unwind_ip", "arch.orc_unwind", "arch.num_orcs", "kallsyms")
	if err != nil {
		c.base.Warnf("the kernel's modules are not listed: %v", err)
		return
	}
	text, ok := c.types.Offset("module", "mem") // an array from Linux 6.4 on, of which the first is the code
	member := "module_memory"
	if !ok {
		text, ok = c.types.Offset("module", "core_layout")
		member = "module_layout"
	}
	base, ok2 := c.types.Offset(member, "base")
	size, ok3 := c.types.Offset(member, "text_size")
	if !ok3 {
		size, ok3 = c.types.Offset(member, "size")
	}
	if !ok || !ok2 || !ok3 {
		c.base.Warnf("the kernel's modules are not listed: struct module is unknown")
		return
	}
	code, symbols := uint64(0), uint64(0)
	c.each(head, "modules", func(at uint64) bool {
		mod := at - m[0]
		lo, err := c.word(mod + text + base)
		n, err2 := c.half(mod + text + size)
		name, err3 := c.bytesAt(mod+m[1], 56)
		if cmp.Or(err, err2, err3) != nil || uint64(n) > maxText-code || lo+uint64(n) < lo || len(c.images) > maxModules {
			c.base.Warnf("the module at 0x%x can't be read", mod)
			return len(c.images) <= maxModules
		}
		code += uint64(n)
		name, _, _ = bytes.Cut(name, []byte{0})
		im := loaded{path: fmt.Sprintf("[%s]", name), lo: lo, hi: lo + uint64(n)}
		most := min(maxModuleSymbols-symbols, c.countSymbols(mod+m[5]))
		symbols += most
		im.make = func() *plan { return c.planModule(&im, mod, m, most) }
		c.images = append(c.images, im)
		return true
	})
}

// planModule reads a module's code, its part of the unwind tables and its symbols.
func (c *Core) planModule(im *loaded, mod uint64, m []uint64, symbols uint64) *plan {
	p := &plan{text: im.lo, code: c.some(im.lo, im.hi-im.lo), banner: "Linux version " + c.info.release + " "}
	ip, err := c.word(mod + m[2])
	unwind, err2 := c.word(mod + m[3])
	n, err3 := c.half(mod + m[4])
	if err == nil && err2 == nil && err3 == nil && n <= maxORC {
		p.ipAddr, p.ip, p.unwind = ip, c.some(ip, 4*uint64(n)), c.some(unwind, 6*uint64(n))
		if lo, hi := c.names["__start_orc_header"], c.names["__stop_orc_header"]; hi > lo && hi-lo <= 64 {
			p.header = c.some(lo, hi-lo)
		}
	}
	p.symbols = c.moduleSymbols(im, mod+m[5], symbols)
	return p
}

// countSymbols returns the number of a module's symbols. at is the place of the pointer to its struct mod_kallsyms.
func (c *Core) countSymbols(at uint64) uint64 {
	k, err := c.offsets("mod_kallsyms", "num_symtab")
	if err != nil {
		return 0
	}
	at, err = c.word(at)
	n, err2 := c.half(at + k[0])
	if err != nil || err2 != nil {
		return 0
	}
	return uint64(n)
}

// moduleSymbols reads n symbols of a module (struct mod_kallsyms).
func (c *Core) moduleSymbols(im *loaded, at, n uint64) (list []elfSymbol) {
	k, err := c.offsets("mod_kallsyms", "symtab", "strtab")
	if err != nil {
		return nil
	}
	at, err = c.word(at)
	symtab, err2 := c.word(at + k[0])
	strtab, err3 := c.word(at + k[1])
	if err != nil || err2 != nil || err3 != nil {
		return nil
	}
	for b := c.some(symtab, symbolSize*n); len(b) >= symbolSize; b = b[symbolSize:] {
		s := parseSymbol(b)
		if s.addr < im.lo || s.addr >= im.hi {
			continue
		}
		var name [512]byte // KSYM_NAME_LEN
		got, _ := c.read(strtab+s.nameAt, name[:])
		text, _, ok := bytes.Cut(name[:got], []byte{0})
		if !ok || len(text) == 0 {
			continue
		}
		list = append(list, elfSymbol{string(text), s.addr, min(s.size, im.hi-s.addr), s.code})
	}
	return list
}

// ListImages implements frames.ImageLister.
func (c *Core) ListImages() []target.Image {
	var list []target.Image
	for _, im := range c.images {
		list = append(list, target.Image{Path: im.path, Header: target.Addr(im.lo), Slide: im.slide,
			Lo: target.Addr(im.lo), Hi: target.Addr(im.hi)})
	}
	return list
}

// OpenListed implements frames.ImageLister. The caller closes the file.
func (c *Core) OpenListed(g target.Image) (*image.File, uint64, error) {
	c.base.RLock()
	defer c.base.RUnlock()
	for i := range c.images {
		im := &c.images[i]
		if im.lo != uint64(g.Lo) || c.base.Closed() {
			continue
		}
		if im.make == nil {
			f, err := image.Open(im.path)
			return f, im.slide, err
		}
		f, err := image.FromMemory(im.path, im.make().elf())
		return f, 0, err
	}
	return nil, 0, fmt.Errorf("%s is not in the dump", g.Path)
}

// Mappings implements target.Target: the code of the kernel and of its modules.
func (c *Core) Mappings() ([]target.Mapping, error) {
	var list []target.Mapping
	for _, im := range c.images {
		list = append(list, target.Mapping{Lo: target.Addr(im.lo), Hi: target.Addr(im.hi), Path: im.path,
			Read: target.Allowed, Write: target.Denied, Exec: target.Allowed})
	}
	sortMappings(list)
	return list, nil
}
