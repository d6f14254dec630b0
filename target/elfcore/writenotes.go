package elfcore

import (
	"encoding/binary"

	"dbg/target"
)

// notes makes the contents of the PT_NOTE segment. As in the kernel's cores, the notes of the
// process follow the NT_PRSTATUS of the first thread.
func (w *writer) notes() []byte {
	var b noteBuffer
	for i := range w.c.Threads {
		t := &w.c.Threads[i]
		b.add("CORE", ntPRSTATUS, w.c.status(t))
		if i == 0 {
			b.add("CORE", ntPRPSINFO, w.c.process())
			b.add("CORE", ntAUXV, w.c.Auxv)
			b.add("CORE", ntFILE, w.c.files())
		}
		if len(t.State.FP) > 0 {
			b.add("CORE", ntFPREGSET, t.State.FP)
		}
		if len(t.State.XState) > 0 {
			b.add("LINUX", ntXSTATE, t.State.XState)
		}
		info := t.State.SigInfo
		if len(info) == 0 {
			info = make([]byte, target.SigInfoSize) // it had no signal
		}
		b.add("CORE", ntSIGINFO, info)
	}
	return b.bytes
}

// noteBuffer collects notes.
type noteBuffer struct{ bytes []byte }

func (b *noteBuffer) add(name string, typ uint32, desc []byte) {
	o := binary.LittleEndian
	b.bytes = o.AppendUint32(b.bytes, uint32(len(name)+1))
	b.bytes = o.AppendUint32(b.bytes, uint32(len(desc)))
	b.bytes = o.AppendUint32(b.bytes, typ)
	b.padded(append([]byte(name), 0))
	b.padded(desc)
}

func (b *noteBuffer) padded(data []byte) {
	b.bytes = append(b.bytes, data...)
	for len(b.bytes)%4 != 0 {
		b.bytes = append(b.bytes, 0)
	}
}

// status makes struct elf_prstatus, <linux/elfcore.h>.
func (c *Contents) status(t *WrittenThread) []byte {
	const regs, size = 112, 336
	b := make([]byte, size)
	o := binary.LittleEndian
	o.PutUint32(b, uint32(t.Signal)) // pr_info.si_signo
	if len(t.State.SigInfo) >= 12 {
		copy(b[4:8], t.State.SigInfo[8:12]) // si_code
		copy(b[8:12], t.State.SigInfo[4:8]) // si_errno
	}
	o.PutUint16(b[12:], uint16(c.Threads[0].Signal)) // as the kernel does; gdb takes that of the last thread
	for i, id := range []int{int(t.ID), c.Process.PPID, c.Process.PGID, c.Process.SID} {
		o.PutUint32(b[32+4*i:], uint32(id))
	}
	copy(b[regs:regs+target.AMD64UserRegsSize], t.State.User)
	if len(t.State.FP) > 0 {
		o.PutUint32(b[regs+target.AMD64UserRegsSize:], 1) // pr_fpvalid
	}
	return b
}

// process makes struct elf_prpsinfo, <linux/elfcore.h>.
func (c *Contents) process() []byte {
	p := &c.Process
	b := make([]byte, 136)
	o := binary.LittleEndian
	b[1], b[3] = p.State, byte(p.Nice)
	if p.State == 'Z' {
		b[2] = 1
	}
	o.PutUint64(b[8:], p.Flags)
	o.PutUint32(b[16:], p.UID)
	o.PutUint32(b[20:], p.GID)
	for i, id := range []int{p.PID, p.PPID, p.PGID, p.SID} {
		o.PutUint32(b[24+4*i:], uint32(id))
	}
	copy(b[40:40+15], p.Name)
	copy(b[56:56+79], p.Args)
	return b
}

// files makes NT_FILE, see readFiles. Offsets are counted in pages.
func (c *Contents) files() []byte {
	o := binary.LittleEndian
	var table, paths []byte
	count := uint64(0)
	for i := range c.Regions {
		r := &c.Regions[i]
		if r.Inode == 0 || r.Path == "" {
			continue
		}
		count++
		table = o.AppendUint64(table, uint64(r.Lo))
		table = o.AppendUint64(table, uint64(r.Hi))
		table = o.AppendUint64(table, r.Offset/target.PageSize)
		paths = append(paths, r.Path...)
		if r.Deleted {
			paths = append(paths, " (deleted)"...)
		}
		paths = append(paths, 0)
	}
	b := o.AppendUint64(nil, count)
	b = o.AppendUint64(b, target.PageSize)
	return append(append(b, table...), paths...)
}
