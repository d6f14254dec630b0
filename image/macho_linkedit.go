package image

// The data that load commands point to, and their facts about the whole file.

// findText finds __TEXT by name. Some linkers put the header in a segment of another name; then
// the segment with the first bytes of the file is used instead.
func (f *File) findText() {
	m := f.macho
	for i, s := range m.segments {
		if s.Name == "__TEXT" {
			m.text = i
			return
		}
	}
	for i, s := range m.segments {
		if s.FileOff == 0 && s.FileSize != 0 && m.filetype != machObject && m.filetype != machCore {
			m.text = i
			return
		}
	}
}

// HeaderAddr returns the address of the Mach-O header, where __TEXT begins. Offsets in
// __unwind_info and LC_FUNCTION_STARTS count from it. It is 0 in an MH_OBJECT, a core, and an ELF
// file.
func (f *File) HeaderAddr() Addr {
	if f.macho == nil || f.macho.text < 0 || f.macho.filetype == machObject {
		return 0
	}
	return f.macho.segments[f.macho.text].Lo
}

// machoEntry returns the entry point, from LC_MAIN, which holds its offset in the file, or from
// LC_UNIXTHREAD, which holds all registers.
func (f *File) machoEntry() uint64 {
	h := &f.header
	for cmd, b := range f.LoadCommands() {
		switch {
		case cmd == lcMain && len(b) >= 24:
			return uint64(f.HeaderAddr()) + h.Order.Uint64(b[8:])
		case cmd == lcUnixThread && len(b) >= 16:
			// The flavor, the count of words, and the registers. The number of the PC's word is
			// from <mach/i386/thread_status.h> and <mach/arm/thread_status.h>.
			at, wide := 0, true
			switch flavor := h.Order.Uint32(b[8:]); {
			case f.macho.cpu == cpuX8664 && flavor == 4: // x86_THREAD_STATE64: rip
				at = 16 * 8
			case f.macho.cpu == cpuARM64 && flavor == 6: // ARM_THREAD_STATE64: pc
				at = 32 * 8
			case f.macho.cpu == cpuI386 && flavor == 1: // x86_THREAD_STATE32: eip
				at, wide = 10*4, false
			case f.macho.cpu == cpuARM && flavor == 1: // ARM_THREAD_STATE: pc
				at, wide = 15*4, false
			default:
				return 0
			}
			if wide && len(b) >= 16+at+8 {
				return h.Order.Uint64(b[16+at:])
			}
			if !wide && len(b) >= 16+at+4 {
				return uint64(h.Order.Uint32(b[16+at:]))
			}
		}
	}
	return 0
}

// commandString returns the string of the first command cmd that has one (union lc_str). The word
// after the command's size holds its offset.
func (f *File) commandString(cmd uint32) string {
	for c, b := range f.LoadCommands() {
		if c == cmd {
			return f.lcString(b)
		}
	}
	return ""
}

func (f *File) lcString(b []byte) string {
	if len(b) < 12 {
		return ""
	}
	off := f.header.Order.Uint32(b[8:])
	if off < 12 || uint64(off) >= uint64(len(b)) {
		return ""
	}
	return cstring(b[off:])
}

// InstallName returns the path with which programs link to a Mach-O library (LC_ID_DYLIB), or ""
// if it has none.
func (f *File) InstallName() string { return f.commandString(lcIDDylib) }

// Libraries returns the paths of the libraries that a Mach-O file is linked with, in file order
// (LC_LOAD_DYLIB, and its weak, re-exporting and upward kinds). "@rpath/" and similar prefixes
// are not expanded.
func (f *File) Libraries() []string {
	var out []string
	for cmd, b := range f.LoadCommands() {
		switch cmd {
		case lcLoadDylib, lcLoadWeakDylib, lcReexportDylib, lcLoadUpwardDylib:
			if s := f.lcString(b); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// linked returns n bytes at an offset in the file. It also works for an image in memory, without
// a file.
func (f *File) linked(off, n uint64) ([]byte, bool) {
	if m := f.macho.mapped; m != nil {
		return m.linked(f.macho.segments, off, n)
	}
	return f.bytes(off, n)
}

// FunctionStarts returns the start addresses of the functions of a Mach-O file, in rising order
// (LC_FUNCTION_STARTS): ULEB128 deltas, the first from the Mach-O header, up to a zero. It is nil
// if the file has no such list. Each call decodes the list again.
func (f *File) FunctionStarts() []Addr {
	if f.macho == nil || f.macho.starts.count == 0 {
		return nil
	}
	b, ok := f.linked(f.macho.starts.off, f.macho.starts.count)
	if !ok {
		return nil
	}
	var out []Addr
	at := f.HeaderAddr()
	for len(b) > 0 {
		var delta uint64
		n := 0
		for shift := 0; ; shift += 7 {
			if n == len(b) || shift > 63 {
				return out
			}
			c := b[n]
			n++
			delta |= uint64(c&0x7f) << shift
			if c&0x80 == 0 {
				break
			}
		}
		b = b[n:]
		if delta == 0 || at+Addr(delta) < at {
			break
		}
		if at += Addr(delta); f.macho.cpu == cpuARM {
			out = append(out, at&^1) // the Thumb bit
			continue
		}
		out = append(out, at)
	}
	return out
}
