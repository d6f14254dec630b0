package minidump

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"dbg/image"
	"dbg/target"
)

// Module is a file that the process had loaded: MINIDUMP_MODULE.
type Module struct {
	// Image.UUID is the module's id: for PE the GUID and the age of its PDB, as image.File.BuildID
	// writes it, for ELF the build id, for Mach-O the UUID. It is "" if the dump does not contain it.
	target.Image

	Stamp, Size uint32 // of a PE module's headers: link time or hash, and size of the image
	Debug       string // the file with debug information that the module names, or ""

	// other is another way to read the same id. Breakpad stored the first 16 bytes of a build id as a
	// GUID, and Crashpad as one with its bytes in the order of the text.
	other string
	cut   bool // the id is only the first 16 bytes of a build id

	local  *image.File // for memory that the dump lacks; guarded by Dump.opening
	looked bool
}

// Signatures of CodeView records.
const (
	codeViewPDB70 = "RSDS"
	codeViewELF   = "LEpB" // 0x4270454c
)

// readModules reads MINIDUMP_MODULE_LIST. A module of size 0 has no code.
func (d *Dump) readModules() {
	for i, b := range d.list(streamModules, "modules", 108, mostModules) {
		lo, size := le.Uint64(b), le.Uint32(b[8:])
		m := &Module{Size: size, Stamp: le.Uint32(b[16:])}
		m.Path, m.Header, m.Lo, m.Hi = d.text(uint64(le.Uint32(b[20:]))), target.Addr(lo), target.Addr(lo),
			target.Addr(lo+uint64(size))
		m.Slide = lo
		if m.Path == "" {
			m.Path = fmt.Sprintf("[module at %v]", m.Lo)
		}
		record, _ := d.at(b[76:])
		d.readCodeView(m, record)
		if m.Hi < m.Lo {
			d.warn("the minidump is damaged: module %d (%s) ends beyond the address space", i, m.Path)
			continue
		}
		d.modules = append(d.modules, m)
	}
	d.byAddr = slices.DeleteFunc(slices.Clone(d.modules), func(m *Module) bool { return m.Size == 0 })
	slices.SortStableFunc(d.byAddr, func(a, b *Module) int { return cmp.Compare(a.Lo, b.Lo) })
	end, overlaps := target.Addr(0), 0
	d.byAddr = slices.DeleteFunc(d.byAddr, func(m *Module) bool {
		if m.Lo < end {
			overlaps++
			return true
		}
		end = m.Hi
		return false
	})
	if overlaps > 0 {
		d.warn("the minidump is damaged: %d modules overlap others and are ignored", overlaps)
	}
}

// readCodeView sets the id of a module.
func (d *Dump) readCodeView(m *Module, b []byte) {
	switch {
	case len(b) > 4 && string(b[:4]) == codeViewELF:
		m.UUID = fmt.Sprintf("%x", b[4:min(len(b), 4+64)])
	case len(b) >= 24 && string(b[:4]) == codeViewPDB70:
		if name, _, _ := bytes.Cut(b[24:min(len(b), 24+longestText)], []byte{0}); len(name) > 0 {
			m.Debug = string(bytes.ToValidUTF8(name, []byte("\uFFFD")))
		}
		if bytes.Equal(b[4:20], make([]byte, 16)) {
			return
		}
		switch m.UUID = guid(b[4:]); {
		case d.system.windows():
			m.UUID += fmt.Sprintf("%x", le.Uint32(b[20:]))
		case !d.system.apple():
			m.cut, m.other = true, fmt.Sprintf("%x", b[4:20])
		}
	}
}

// isFile reports whether a file has the id of the module. Without an id, a PE file is recognised by
// its time stamp and its size, and no other file is.
func (m *Module) isFile(f *image.File) bool {
	id := f.BuildID()
	switch {
	case m.cut:
		const digits = 32
		id = (id + strings.Repeat("0", digits))[:digits]
		return id == m.UUID || id == m.other
	case m.UUID != "":
		return id == m.UUID
	case f.Format() == image.PE:
		stamp, size := f.StampAndSize()
		return stamp == m.Stamp && size == m.Size && stamp != 0
	}
	return false
}

// identified reports whether a file can be told to be the module.
func (m *Module) identified(d *Dump) bool { return m.UUID != "" || d.system.windows() && m.Stamp != 0 }

// Modules lists the modules in the order of the dump: the main program comes first. The list belongs
// to the dump and does not change.
func (d *Dump) Modules() []*Module { return slices.Clone(d.modules) }

// moduleAt returns the module at an address, or nil.
func (d *Dump) moduleAt(at uint64) *Module {
	i := sort.Search(len(d.byAddr), func(i int) bool { return uint64(d.byAddr[i].Lo) > at }) - 1
	if i < 0 || at >= uint64(d.byAddr[i].Hi) {
		return nil
	}
	return d.byAddr[i]
}

// findMain compares the user's program with the main module.
func (d *Dump) findMain() {
	exe := d.options.Exe
	if exe == "" || len(d.modules) == 0 {
		return
	}
	m := d.modules[0]
	f, err := d.openAs(exe, m)
	if err != nil {
		d.warn("%s is not the program of this minidump: %v", exe, err)
	}
	_ = f.Close()
}

// auxSysinfoEhdr is AT_SYSINFO_EHDR, the address of Linux's vdso: getauxval(3).
const auxSysinfoEhdr = 33

// ListImages describes the modules, by address. The vdso is left out: the auxiliary vector leads to
// it, and there is no file for it.
func (d *Dump) ListImages() []target.Image {
	vdso, _ := d.Auxv(auxSysinfoEhdr)
	var out []target.Image
	for _, m := range d.byAddr {
		if uint64(m.Lo) == vdso && vdso != 0 {
			continue
		}
		out = append(out, m.Image)
	}
	return out
}
