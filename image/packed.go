package image

import (
	"encoding/binary"
	"fmt"

	"dbg/image/inflate"
)

// Linux stores the kernel and its modules compressed: vmlinuz is a program that unpacks the ELF file vmlinux in
// it, and modules are ELF files in xz, zstd or gzip.

// unpack replaces the contents of such a file by the ELF file. Other files stay as they are.
func (f *File) unpack() error {
	packed, what := f.data, "a compressed file"
	if payload, ok := kernelPayload(f.data); ok {
		packed, what = payload, "a Linux kernel"
	} else if inflate.WholeFormat(packed) == "" {
		return nil
	}
	data, err := inflate.Whole(packed)
	if err != nil {
		return &OpenError{Path: f.path, Reason: Malformed, Detail: fmt.Sprintf("%s that can't be unpacked: %v", what, err)}
	}
	if !isELF(data) {
		return &OpenError{Path: f.path, Reason: UnknownFormat, Detail: what + " with no ELF file in it"}
	}
	f.Close()
	f.data = data
	return nil
}

// kernelPayload returns the compressed kernel in a bzImage (Linux's Documentation/arch/x86/boot.rst: setup_sects,
// header, version, payload_offset, payload_length). Its last four bytes are the inflated size.
func kernelPayload(b []byte) ([]byte, bool) {
	const setupSects, magic, version, payloadOffset, end = 0x1f1, 0x202, 0x206, 0x248, 0x250
	le := binary.LittleEndian
	if len(b) < end || string(b[magic:magic+4]) != "HdrS" || le.Uint16(b[version:]) < 0x208 {
		return nil, false
	}
	sectors := uint64(b[setupSects])
	if sectors == 0 {
		sectors = 4
	}
	lo := (sectors+1)*512 + uint64(le.Uint32(b[payloadOffset:]))
	n := uint64(le.Uint32(b[payloadOffset+4:]))
	if n < 8 || lo > uint64(len(b)) || n > uint64(len(b))-lo {
		return nil, false
	}
	payload := b[lo:][:n]
	if inflate.WholeFormat(payload) == "gzip" {
		return payload, true // gzip's own last word is the size
	}
	return payload[:n-4], true
}

// Whole returns the file's bytes, those of the ELF file if it was compressed. They are valid until
// Close, and must not be changed.
func (f *File) Whole() []byte { return f.data }
