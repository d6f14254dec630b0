package image

import "debug/elf"

// EHFrame returns .eh_frame_hdr and .eh_frame, found through the program header PT_GNU_EH_FRAME.
// Use it for files with stripped section headers, and for images that exist only in memory. The
// end of .eh_frame is its terminator. It returns false if there is no such program header, or if
// it can't be read.
func (f *File) EHFrame() (hdr, frame Section, ok bool) {
	if f.macho != nil {
		return hdr, frame, false
	}
	for _, p := range f.progs {
		if p.Type != elf.PT_GNU_EH_FRAME {
			continue
		}
		hdr = Section{Name: ".eh_frame_hdr", Addr: Addr(p.Addr), Offset: p.Off, Size: p.FileSize}
		if hdr.Data, ok = f.bytes(p.Off, p.FileSize); !ok {
			hdr.Data, _ = f.fromAddr(hdr.Addr)
		}
		addr, ok := f.ehFramePointer(hdr.Data, p.Addr)
		if !ok {
			return hdr, frame, false
		}
		frame = Section{Name: ".eh_frame", Addr: addr}
		if frame.Data, frame.Offset = f.fromAddr(addr); frame.Data == nil {
			return hdr, frame, false
		}
		frame.Data = f.upToTerminator(frame.Data)
		frame.Size = uint64(len(frame.Data))
		return hdr, frame, len(frame.Data) > 0
	}
	return hdr, frame, false
}

// ContentsFrom returns the bytes of the file from an address to the end of the contents of its
// segment, or nil if there are none. They are valid until the file is closed.
func (f *File) ContentsFrom(addr Addr) []byte {
	if f.macho != nil {
		return nil
	}
	b, _ := f.fromAddr(addr)
	return b
}

// fromAddr returns the bytes of the file from an address to the end of its segment, and their
// offset in the file.
func (f *File) fromAddr(addr Addr) ([]byte, uint64) {
	for i := range f.loads {
		s := &f.loads[i]
		if off := uint64(addr - s.Lo); addr >= s.Lo && off < s.FileSize {
			at := s.FileOff + off
			n := min(s.FileSize-off, uint64(len(f.data))-min(at, uint64(len(f.data))))
			b, _ := f.bytes(at, n)
			return b, at
		}
	}
	return nil, 0
}

// Pointer encodings: LSB Core, "DWARF Exception Header Encoding".
const (
	ehAbsptr, ehUdata4, ehUdata8 = 0x00, 0x03, 0x04
	ehSdata4, ehSdata8           = 0x0b, 0x0c
	ehPCRel, ehDataRel, ehOmit   = 0x10, 0x30, 0xff
)

// ehFramePointer decodes eh_frame_ptr of .eh_frame_hdr (LSB Core, "The .eh_frame_hdr section").
func (f *File) ehFramePointer(b []byte, addr uint64) (Addr, bool) {
	if len(b) < 12 || b[0] != 1 || b[1] == ehOmit {
		return 0, false
	}
	o := f.header.Order
	var v uint64
	switch b[1] & 0x0f {
	case ehUdata4:
		v = uint64(o.Uint32(b[4:]))
	case ehSdata4:
		v = uint64(int64(int32(o.Uint32(b[4:]))))
	case ehUdata8, ehSdata8:
		v = o.Uint64(b[4:])
	case ehAbsptr:
		v = f.header.Word(b[4:])
	default:
		return 0, false
	}
	switch b[1] & 0xf0 {
	case 0:
	case ehPCRel:
		v += addr + 4
	case ehDataRel:
		v += addr
	default:
		return 0, false
	}
	if !f.header.Wide {
		v = uint64(uint32(v))
	}
	return Addr(v), true
}

// upToTerminator cuts b before the entry of length 0, or before an entry that is longer than the
// remaining bytes.
func (f *File) upToTerminator(b []byte) []byte {
	o := f.header.Order
	for at := uint64(0); ; {
		if uint64(len(b))-at < 4 {
			return b[:at]
		}
		n, head := uint64(o.Uint32(b[at:])), uint64(4)
		if n == 0xffffffff {
			if uint64(len(b))-at < 12 {
				return b[:at]
			}
			n, head = o.Uint64(b[at+4:]), 12
		}
		if n == 0 || n > uint64(len(b))-at-head {
			return b[:at]
		}
		at += head + n
	}
}
