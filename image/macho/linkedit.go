package macho

import "iter"

// The data that load commands point to, and their facts about the whole file.

// findText finds __TEXT by name. Some linkers put the header in a segment of another name; then
// the segment with the first bytes of the file is used instead.
func (f *File) findText() {
	for i, s := range f.Segments {
		if s.Name == "__TEXT" {
			f.text = i
			return
		}
	}
	for i, s := range f.Segments {
		if s.FileOff == 0 && s.FileSize != 0 && f.Type != TypeObject && f.Type != TypeCore {
			f.text = i
			return
		}
	}
}

// HeaderAddr returns the address of the Mach-O header, where __TEXT begins. It is 0 in an MH_OBJECT
// and in a core.
func (f *File) HeaderAddr() uint64 {
	if f.text < 0 || f.Type == TypeObject {
		return 0
	}
	return f.Segments[f.text].Lo
}

// entry returns the entry point, from LC_MAIN, which holds its offset in the file, or from
// LC_UNIXTHREAD, which holds all registers.
func (f *File) entry() uint64 {
	for cmd, b := range f.LoadCommands() {
		switch {
		case cmd == lcMain && len(b) >= 24:
			return f.HeaderAddr() + f.Order.Uint64(b[8:])
		case cmd == lcUnixThread && len(b) >= 16:
			// The flavor, the count of words, and the registers. The number of the PC's word is
			// from <mach/i386/thread_status.h> and <mach/arm/thread_status.h>.
			at, wide := 0, true
			switch flavor := f.Order.Uint32(b[8:]); {
			case f.CPU == cpuX8664 && flavor == 4: // x86_THREAD_STATE64: rip
				at = 16 * 8
			case f.CPU == cpuARM64 && flavor == 6: // ARM_THREAD_STATE64: pc
				at = 32 * 8
			case f.CPU == cpuI386 && flavor == 1: // x86_THREAD_STATE32: eip
				at, wide = 10*4, false
			case f.CPU == cpuARM && flavor == 1: // ARM_THREAD_STATE: pc
				at, wide = 15*4, false
			default:
				return 0
			}
			if wide && len(b) >= 16+at+8 {
				return f.Order.Uint64(b[16+at:])
			}
			if !wide && len(b) >= 16+at+4 {
				return uint64(f.Order.Uint32(b[16+at:]))
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
	off := f.Order.Uint32(b[8:])
	if off < 12 || uint64(off) >= uint64(len(b)) {
		return ""
	}
	return cstring(b[off:])
}

// Interp returns the path of the dynamic linker (LC_LOAD_DYLINKER), or "".
func (f *File) Interp() string { return f.commandString(lcLoadDylinker) }

// InstallName returns the path with which programs link to the library (LC_ID_DYLIB), or "".
func (f *File) InstallName() string { return f.commandString(lcIDDylib) }

// Libraries returns the paths of the libraries that the file is linked with, in file order
// (LC_LOAD_DYLIB, and its weak, re-exporting and upward kinds). "@rpath/" and similar prefixes are
// not expanded.
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

// FunctionStarts yields the start addresses of the functions in rising order (LC_FUNCTION_STARTS):
// ULEB128 deltas, the first from the Mach-O header, up to a zero.
func (f *File) FunctionStarts() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		if f.starts.count == 0 {
			return
		}
		b, ok := f.Linkedit(f.starts.off, f.starts.count)
		if !ok {
			return
		}
		at := f.HeaderAddr()
		for len(b) > 0 {
			delta, n := uint64(0), 0
			for shift := 0; ; shift += 7 {
				if n == len(b) || shift > 63 {
					return
				}
				c := b[n]
				n++
				delta |= uint64(c&0x7f) << shift
				if c&0x80 == 0 {
					break
				}
			}
			b = b[n:]
			if delta == 0 || at+delta < at {
				return
			}
			at += delta
			start := at
			if f.CPU == cpuARM {
				start &^= 1 // the Thumb bit
			}
			if !yield(start) {
				return
			}
		}
	}
}
