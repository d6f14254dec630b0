package minidump

import (
	"dbg/image"
	"dbg/target"
)

// Limits of the images that are read from memory.
const (
	largestImage = 1 << 28 // bytes of one image
	mostImages   = 1 << 29 // bytes of all images
	peHeaders    = 1 << 16 // bytes of headers
)

// Offsets in the headers of a PE image ("PE Format").
const (
	peOffsetAt      = 0x3c // of the signature, in the MS-DOS header
	coffSize        = 4 + 20
	sectionSize     = 40
	sectionWritable = 0x80000000
	debugDirectory  = 6
	debugEntrySize  = 28
)

// fromMemory makes a file of a PE image whose memory is in the dump, as in dumps with full memory. The
// loader has mapped the sections at other offsets than those of the file: the section headers of the
// copy say where they are. All sections that are not writable must be there. The addresses of the file
// are those of the process. The caller closes the file.
func (d *Dump) fromMemory(m *Module) (*image.File, bool) {
	head := make([]byte, min(uint64(m.Size), peHeaders))
	n, _ := d.inDump(m.Lo, head)
	p, ok := readPE(head[:n])
	if !ok || p.size != m.Size || p.size > largestImage {
		return nil, false
	}
	d.opening.Lock()
	defer d.opening.Unlock()
	if d.imagesLeft < int64(p.size) {
		return nil, false
	}
	out := make([]byte, p.size)
	copy(out, head[:min(p.headers, uint32(n))])
	for i := range p.sections {
		s := out[p.table+uint32(i)*sectionSize:][:sectionSize]
		size, at := le.Uint32(s[8:]), le.Uint32(s[12:])
		if at > p.size || size > p.size-at || at < p.headers {
			return nil, false
		}
		got, _ := d.inDump(m.Lo+target.Addr(at), out[at:at+size])
		if uint32(got) < size && le.Uint32(s[36:])&sectionWritable == 0 {
			return nil, false
		}
		le.PutUint32(s[8:], uint32(got))
		le.PutUint32(s[16:], uint32(got))
		le.PutUint32(s[20:], at)
	}
	p.patch(out, uint64(m.Lo))
	f, err := image.FromMemory(m.Path, out)
	if err != nil || f.Arch() != d.arch {
		return nil, false
	}
	d.imagesLeft -= int64(p.size)
	return f, true
}

// inDump reads memory that the dump itself has.
func (d *Dump) inDump(at target.Addr, buf []byte) (int, error) {
	return d.base.ReadMemory(at, buf, func(uint64, []byte) int { return 0 })
}

// peHeader is what fromMemory needs of the headers of an image.
type peHeader struct {
	coff, optional, table uint32 // offsets: of the COFF header, the optional header, the section headers
	directories           uint32 // offset of the data directories
	sections              uint16
	size, headers         uint32 // of the image, and of its headers
	wide                  bool
}

// readPE finds the headers of an image in memory. It returns false if they are not all in b.
func readPE(b []byte) (p peHeader, ok bool) {
	if len(b) < peOffsetAt+4 || string(b[:2]) != "MZ" {
		return p, false
	}
	at := le.Uint32(b[peOffsetAt:])
	if at > peHeaders || uint64(at)+coffSize+112 > uint64(len(b)) || string(b[at:at+4]) != "PE\x00\x00" {
		return p, false
	}
	p.coff, p.optional = at+4, at+coffSize
	p.sections = le.Uint16(b[p.coff+2:])
	p.table = p.optional + uint32(le.Uint16(b[p.coff+16:]))
	p.wide = le.Uint16(b[p.optional:]) == 0x20b
	p.size, p.headers = le.Uint32(b[p.optional+56:]), le.Uint32(b[p.optional+60:])
	p.directories = p.optional + 96
	if p.wide {
		p.directories += 16
	}
	end := p.table + uint32(p.sections)*sectionSize
	return p, p.table >= p.directories && end <= p.headers && uint64(p.headers) <= uint64(len(b)) && p.headers <= p.size
}

// patch makes the other headers of a copy fit: the base, the symbols, which are not loaded, and the
// places of debug records.
func (p *peHeader) patch(out []byte, base uint64) {
	le.PutUint64(out[p.coff+8:], 0) // PointerToSymbolTable, NumberOfSymbols
	if p.wide {
		le.PutUint64(out[p.optional+24:], base)
	} else {
		le.PutUint32(out[p.optional+28:], uint32(base))
	}
	at := p.directories + debugDirectory*8
	if at+8 > p.table {
		return
	}
	records, size := le.Uint32(out[at:]), le.Uint32(out[at+4:])
	if records > p.size || size > p.size-records {
		return
	}
	for b := out[records : records+size]; len(b) >= debugEntrySize; b = b[debugEntrySize:] {
		le.PutUint32(b[24:], le.Uint32(b[20:])) // PointerToRawData, from AddressOfRawData
	}
}
