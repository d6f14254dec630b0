package minidump

import (
	"slices"

	"dbg/arch"
	"dbg/target"
)

// thread is one thread of the dump, with slices of the file.
type thread struct {
	id      uint32
	teb     uint64 // thread environment block, on Windows
	name    string
	context []byte
	layout  *layout // of the context; nil if the registers are unknown
	stack   memory  // the memory that the dump lists as its stack
}

// memory is a MINIDUMP_MEMORY_DESCRIPTOR: an address, and a place in the file.
type memory struct{ addr, size, off uint64 }

func memoryOf(b []byte) memory {
	return memory{le.Uint64(b), uint64(le.Uint32(b[8:])), uint64(le.Uint32(b[12:]))}
}

// readThreads reads MINIDUMP_THREAD_LIST, or MINIDUMP_THREAD_EX_LIST, whose entries begin in the same
// way.
func (d *Dump) readThreads() {
	all := d.list(streamThreads, "threads", 48, mostThreads)
	if len(all) == 0 {
		all = d.list(streamThreadsEx, "threads", 64, mostThreads)
	}
	seen := map[uint32]bool{}
	for _, b := range all {
		t := thread{id: le.Uint32(b), teb: le.Uint64(b[16:]), stack: memoryOf(b[24:])}
		if seen[t.id] {
			d.warn("the minidump is damaged: it lists thread %d twice", t.id)
			continue
		}
		seen[t.id] = true
		t.context, _ = d.at(b[40:])
		d.threads = append(d.threads, t)
	}
}

// archOfContexts returns the processor of the first context whose flags and size name one. It is for
// a dump without system information.
func (d *Dump) archOfContexts() *arch.Arch {
	if d.streams[streamSystem] != nil {
		return nil
	}
	for i := range d.threads {
		if l := layoutOf(nil, d.threads[i].context); l != nil {
			d.warn("the minidump has no system information; the registers show that the processor is %s", l.arch.Name)
			return l.arch
		}
	}
	return nil
}

// checkContexts finds the layout of each thread's context. A context whose flags are those of
// another processor has no known registers.
func (d *Dump) checkContexts() {
	missing, other, short := 0, 0, 0
	for i := range d.threads {
		t := &d.threads[i]
		if len(t.context) == 0 {
			missing++
			continue
		}
		if t.layout = layoutOf(d.arch, t.context); t.layout == nil {
			other++
		} else if len(t.context) < t.layout.floatAt {
			short++
		}
	}
	for _, p := range []struct {
		n    int
		what string
	}{{missing, "have no registers in the minidump"}, {other, "have registers of another processor, or damaged ones"},
		{short, "have incomplete registers"}} {
		if p.n > 0 {
			d.warn("%d of %d threads %s", p.n, len(d.threads), p.what)
		}
	}
}

// nameThreads reads MINIDUMP_THREAD_NAME_LIST: an id, and a 64-bit offset of the name, packed to 4
// bytes.
func (d *Dump) nameThreads() {
	names := map[uint32]string{}
	for _, b := range d.list(streamThreadNames, "thread names", 12, mostThreads) {
		names[le.Uint32(b)] = d.text(le.Uint64(b[4:]))
	}
	for i := range d.threads {
		d.threads[i].name = names[d.threads[i].id]
	}
}

// readBreakpad reads MDRawBreakpadInfo: which of its fields are valid, the thread that wrote the
// dump, and the thread that asked for it.
func (d *Dump) readBreakpad() {
	b := d.streams[streamBreakpad]
	if len(b) < 12 {
		return
	}
	valid := le.Uint32(b)
	if valid&1 != 0 {
		d.writer = le.Uint32(b[4:])
	}
	if valid&2 != 0 {
		d.requester = le.Uint32(b[8:])
	}
}

// orderThreads puts the thread of the exception first, or else the one that asked for the dump. A
// thread that wrote the dump is last: it did not run when the exception happened.
func (d *Dump) orderThreads() {
	rank := func(t thread) int {
		switch {
		case d.fault != nil && t.id == d.fault.thread, d.fault == nil && t.id == d.requester && t.id != 0:
			return 0
		case t.id == d.writer && t.id != 0:
			return 2
		}
		return 1
	}
	slices.SortStableFunc(d.threads, func(a, b thread) int { return rank(a) - rank(b) })
}

// thread returns a thread by id, or nil.
func (d *Dump) thread(id target.ThreadID) *thread {
	for i := range d.threads {
		if target.ThreadID(d.threads[i].id) == id {
			return &d.threads[i]
		}
	}
	return nil
}

// writerMark follows the name of the thread that wrote the dump.
const writerMark = "[wrote the dump]"

// Threads implements target.Target. The first thread is that of the exception, or the one that asked
// for the dump. The others are in the order of the dump, which is that of their creation. The name of
// the thread that wrote the dump ends in "[wrote the dump]".
func (d *Dump) Threads() []target.Thread {
	out := make([]target.Thread, len(d.threads))
	for i := range d.threads {
		t := &d.threads[i]
		out[i] = target.Thread{ID: target.ThreadID(t.id), Name: t.name}
		if t.id == d.writer && t.id != 0 {
			if out[i].Name != "" {
				out[i].Name += " "
			}
			out[i].Name += writerMark
		}
		if d.fault != nil && d.fault.thread == t.id {
			out[i].Signal = d.fault.signal
		}
	}
	return out
}

// Registers implements target.Target. On Windows, GS of x86-64 begins at the thread environment
// block.
func (d *Dump) Registers(id target.ThreadID) (arch.Registers, error) {
	d.base.RLock()
	defer d.base.RUnlock()
	r := arch.Registers{Arch: d.arch}
	t := d.thread(id)
	if t == nil || d.base.Closed() {
		return r, target.ErrNoThread
	}
	if t.layout != nil {
		t.layout.decode(t.context, &r)
	}
	if d.arch == arch.AMD64 && d.system.windows() && t.teb != 0 {
		r.Set(arch.GSBase, t.teb)
	}
	return r, nil
}

// WideRegister implements target.Target.
func (d *Dump) WideRegister(id target.ThreadID, reg arch.Reg) ([]byte, error) {
	d.base.RLock()
	defer d.base.RUnlock()
	t := d.thread(id)
	if t == nil || d.base.Closed() {
		return nil, target.ErrNoThread
	}
	if t.layout != nil {
		if b, ok := t.layout.wide(t.context, reg); ok {
			return b, nil
		}
	}
	return nil, target.ErrNoRegister
}

// CodeBits returns the number of bits in a code address of ARM64, or 0 if the dump does not tell.
// Crashpad records a mask: either of the bits of an address, or of those of the signature.
func (d *Dump) CodeBits() uint8 {
	switch {
	case d.arch != arch.ARM64:
		return 0
	case d.crashpad.codeBits != 0:
		return d.crashpad.codeBits
	case d.system.apple():
		return appleBits
	}
	return 0
}

// appleBits is the largest number of address bits that Apple's processes use.
const appleBits = 47
