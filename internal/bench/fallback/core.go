package main

import (
	"bytes"
	"encoding/binary"
	"os"

	"dbg/arch"
	"dbg/target"
)

// source is what a core is written from.
type source interface {
	target.Memory
	Mappings() ([]target.Mapping, error)
	PID() int
}

// userOrder are the registers of struct user_regs_struct, of which the general ones matter here.
var userOrder = []arch.Reg{arch.R15, arch.R14, arch.R13, arch.R12, arch.RBP, arch.RBX, arch.R11, arch.R10, arch.R9, arch.R8, arch.RAX, arch.RCX,
	arch.RDX, arch.RSI, arch.RDI, arch.NoReg, arch.RIP, arch.CS, arch.RFLAGS, arch.RSP, arch.SS, arch.FSBase, arch.GSBase, arch.DS, arch.ES, arch.FS, arch.GS}

// writeCore writes a core of one thread: its registers, the auxiliary vector, the list of mapped files, and all writable
// memory and the vDSO. Code is left to the files, so that a debugger sees those that it is given.
func writeCore(path string, p source, regs *arch.Registers, auxv []byte) error {
	maps, err := p.Mappings()
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	status := make([]byte, 336) // struct elf_prstatus
	le.PutUint16(status[12:], 5)
	le.PutUint32(status[32:], uint32(p.PID()))
	for i, r := range userOrder {
		if v, ok := regs.Get(r); ok && r != arch.NoReg {
			le.PutUint64(status[112+8*i:], v)
		}
	}
	var notes bytes.Buffer
	note := func(typ uint32, desc []byte) {
		var h [12]byte
		le.PutUint32(h[0:], 5)
		le.PutUint32(h[4:], uint32(len(desc)))
		le.PutUint32(h[8:], typ)
		notes.Write(h[:])
		notes.WriteString("CORE\x00\x00\x00\x00")
		notes.Write(desc)
		notes.Write(make([]byte, -len(desc)&3))
	}
	const prstatus, ntAuxv, ntFile = 1, 6, 0x46494c45
	note(prstatus, status)
	note(ntAuxv, auxv)
	var file, names []byte
	files := 0
	for _, m := range maps {
		if m.Inode != 0 && m.Path != "" {
			files++
			for _, v := range []uint64{uint64(m.Lo), uint64(m.Hi), m.Offset / 4096} {
				file = le.AppendUint64(file, v)
			}
			names = append(append(names, m.Path...), 0)
		}
	}
	head := le.AppendUint64(le.AppendUint64(nil, uint64(files)), 4096)
	note(ntFile, append(append(head, file...), names...))

	type segment struct {
		m    target.Mapping
		data []byte
	}
	var segments []segment
	for _, m := range maps {
		if m.Write != target.Allowed && m.Path != "[vdso]" || m.Path == "[vsyscall]" || m.Hi-m.Lo > 64<<20 {
			if m.Inode == 0 {
				continue
			}
			segments = append(segments, segment{m: m}) // of a file: no bytes
			continue
		}
		data := make([]byte, m.Hi-m.Lo)
		n, _ := p.ReadMemory(m.Lo, data)
		segments = append(segments, segment{m, data[:n]})
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	eh := make([]byte, 64)
	copy(eh, "\x7fELF\x02\x01\x01")
	le.PutUint16(eh[16:], 4) // ET_CORE
	le.PutUint16(eh[18:], 62)
	le.PutUint32(eh[20:], 1)
	le.PutUint64(eh[32:], 64)
	le.PutUint16(eh[52:], 64)
	le.PutUint16(eh[54:], 56)
	le.PutUint16(eh[56:], uint16(1+len(segments)))
	var ph []byte
	header := func(typ, flags uint32, off, vaddr, filesz, memsz, align uint64) {
		ph = le.AppendUint32(le.AppendUint32(ph, typ), flags)
		for _, v := range []uint64{off, vaddr, 0, filesz, memsz, align} {
			ph = le.AppendUint64(ph, v)
		}
	}
	off := uint64(64 + 56*(1+len(segments)))
	header(4, 4, off, 0, uint64(notes.Len()), 0, 4)
	at := (off + uint64(notes.Len()) + 4095) &^ 4095
	start := at
	for _, s := range segments {
		flags := uint32(4)
		if s.m.Write == target.Allowed {
			flags |= 2
		}
		if s.m.Exec == target.Allowed {
			flags |= 1
		}
		header(1, flags, at, uint64(s.m.Lo), uint64(len(s.data)), uint64(s.m.Hi-s.m.Lo), 4096)
		at += (uint64(len(s.data)) + 4095) &^ 4095
	}
	out.Write(eh)
	out.Write(ph)
	out.Write(notes.Bytes())
	var zero [4096]byte
	end := int64(start)
	for _, s := range segments {
		for len(s.data) > 0 { // pages of zeros become holes
			n := min(len(s.data), len(zero))
			if !bytes.Equal(s.data[:n], zero[:n]) {
				if _, err := out.WriteAt(s.data[:n], end); err != nil {
					return err
				}
			}
			s.data = s.data[n:]
			end += int64(len(zero))
		}
	}
	return out.Truncate(end)
}
