package elfcore

import (
	"debug/elf"
	"math/bits"
	"strings"

	"dbg/arch"
	"dbg/image/elfheader"
	"dbg/target"
)

// Note types, <linux/elf.h>.
const (
	ntPRSTATUS  = 1
	ntFPREGSET  = 2
	ntPRPSINFO  = 3
	ntAUXV      = 6
	ntXSTATE    = 0x202
	ntARMVFP    = 0x400
	ntPACMask   = 0x406
	ntPRXFPREG  = 0x46e62b7f
	ntSIGINFO   = 0x53494749
	ntFILE      = 0x46494c45
	mostThreads = 1 << 20
)

// thread is one thread of the core, with slices of the file.
type thread struct {
	id     target.ThreadID
	cursig int
	regs   []byte
	fp     []byte // NT_FPREGSET, NT_ARM_VFP or NT_PRXFPREG
	xstate []byte
	info   []byte
}

// readNote reads one note. The notes of a thread follow its NT_PRSTATUS.
func (c *Core) readNote(n elfheader.Note) bool {
	if n.Name != "CORE" && n.Name != "LINUX" {
		return true
	}
	var t *thread
	if len(c.threads) > 0 {
		t = &c.threads[len(c.threads)-1]
	}
	switch n.Type {
	case ntPRSTATUS:
		if len(c.threads) < mostThreads {
			c.readStatus(n.Desc)
		}
	case ntPRPSINFO:
		c.readProcess(n.Desc)
	case ntAUXV:
		if c.auxv == nil {
			c.auxv = n.Desc
		}
	case ntFILE:
		if c.files == nil {
			c.readFiles(n.Desc)
		}
	case ntSIGINFO:
		if t != nil && t.info == nil {
			t.info = n.Desc
		}
	case ntPACMask:
		c.readPACMask(n.Desc)
	case ntXSTATE:
		if t != nil {
			t.xstate = n.Desc
		}
	case ntFPREGSET:
		if t != nil && t.fp == nil {
			t.fp = n.Desc
		}
	case ntARMVFP, ntPRXFPREG:
		if t != nil {
			t.fp = n.Desc
		}
	}
	return true
}

// readStatus reads struct elf_prstatus, <linux/elfcore.h>: a signal, some ids and times,
// then the registers.
func (c *Core) readStatus(b []byte) {
	pid, regs := 24, 72
	if c.ptrSize() == 8 {
		pid, regs = 32, 112
	}
	size := len(c.arch.User) * c.arch.PtrSize
	if short := (len(b) - regs - 8) &^ 7; len(b) < regs+size && c.head.Machine == elf.EM_RISCV && short >= size*3/4 {
		// gdb writes the status of the machine on which it runs, which has fewer registers, and 8
		// bytes after them.
		c.warn("the core has %d of %d registers of each thread", short/8, size/8)
		size = short
	}
	if len(b) < regs+size {
		c.warn("the core file is damaged: the status of a thread has only %d of %d bytes", len(b), regs+size)
		return
	}
	c.threads = append(c.threads, thread{
		id:     target.ThreadID(int32(c.head.Order.Uint32(b[pid:]))),
		cursig: int(int16(c.head.Order.Uint16(b[12:]))),
		regs:   b[regs : regs+size],
	})
	if c.pid == 0 {
		c.pid = int(c.threads[0].id) // NT_PRPSINFO may replace it
	}
}

// readProcess reads struct elf_prpsinfo, <linux/elfcore.h>.
func (c *Core) readProcess(b []byte) {
	pid, fname := 12, 28
	if c.ptrSize() == 8 {
		pid, fname = 24, 40
	}
	if len(b) < fname+16 {
		return
	}
	if id := int(int32(c.head.Order.Uint32(b[pid:]))); id > 0 {
		c.pid = id
	}
	c.name, _, _ = strings.Cut(string(b[fname:fname+16]), "\x00")
	c.process = b
}

// readPACMask reads struct user_pac_mask of arm64, <asm/ptrace.h>: the signature bits in data
// addresses, and those in code addresses. They are the same for all threads.
func (c *Core) readPACMask(b []byte) {
	if c.arch != arch.ARM64 || c.codeBits != 0 || len(b) < 16 {
		return
	}
	if n := bits.TrailingZeros64(c.word(b[8:])); 32 <= n && n <= 52 { // else the mask is invalid
		c.codeBits = uint8(n)
	}
}

// CodeBits returns the number of address bits in a return address; the other bits are its
// signature. It returns 0 if the core does not contain that number.
func (c *Core) CodeBits() uint8 { return c.codeBits }

// readFiles reads NT_FILE (fs/binfmt_elf.c, fill_files_note): the number of mappings, the unit of
// offsets, three words for each mapping, then the paths.
func (c *Core) readFiles(b []byte) {
	w := c.ptrSize()
	if len(b) < 2*w {
		return
	}
	count, unit := c.word(b), c.word(b[w:])
	table := b[2*w:]
	if count > uint64(len(table)/(3*w)) {
		c.warn("the core file is damaged: it lists %d mapped files in %d bytes", count, len(b))
		return
	}
	paths := table[count*uint64(3*w):]
	for range count {
		lo, hi, off := c.word(table), c.word(table[w:]), c.word(table[2*w:])
		table = table[3*w:]
		path, rest, ok := cutZero(paths)
		if !ok {
			c.warn("the core file is damaged: paths of mapped files are missing")
			return
		}
		paths = rest
		if lo >= hi || unit != 0 && off > ^uint64(0)/unit {
			continue
		}
		f := mappedFile{lo: lo, hi: hi, off: off * unit}
		f.path, f.deleted = strings.CutSuffix(path, " (deleted)")
		c.files = append(c.files, f)
	}
	c.sortFiles()
}

func cutZero(b []byte) (string, []byte, bool) {
	for i, v := range b {
		if v == 0 {
			return string(b[:i]), b[i+1:], true
		}
	}
	return "", nil, false
}

// Threads implements target.Target. The first thread is the one whose signal killed the process.
// The others are in the order of the core, which differs from that of a live process. A core has
// only one name, that of the main thread.
func (c *Core) Threads() []target.Thread {
	out := make([]target.Thread, len(c.threads))
	for i := range c.threads {
		t := &c.threads[i]
		out[i] = target.Thread{ID: t.id, Signal: c.signal(t)}
		if int(t.id) == c.pid {
			out[i].Name = c.name
		}
	}
	return out
}

// signal returns the signal that killed the thread or with which it had stopped.
func (c *Core) signal(t *thread) *target.SignalInfo {
	s, ok := target.DecodeSigInfo(t.info, c.head.Order, c.ptrSize())
	switch {
	case ok && s.Number == 0 && t != &c.threads[0]:
		return nil // Write writes such a note for a thread without a signal; cursig is that of the process
	case ok && s.Number > 0 && s.Number < target.NumSignals:
		return &s
	case t.cursig > 0 && t.cursig < target.NumSignals:
		return &target.SignalInfo{Number: t.cursig}
	}
	return nil
}
