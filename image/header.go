package image

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"

	"dbg/image/elfheader"
)

// parseELF reads the three kinds of headers. With strict, section headers outside the data are an
// error; otherwise they are ignored.
func (f *File) parseELF(strict bool) error {
	fail := func(r Reason, format string, args ...any) error {
		return &OpenError{Path: f.path, Reason: r, Detail: fmt.Sprintf(format, args...)}
	}
	head, err := elfheader.Parse(f.data)
	if bad := (*elfheader.Error)(nil); errors.As(err, &bad) {
		if bad.Kind == elfheader.Truncated {
			return fail(Truncated, "%s", bad.Detail)
		}
		return fail(Malformed, "%s", bad.Detail)
	}
	f.header = head
	if head.Progs.Count != 0 && head.Progs.Off != 0 {
		if err := f.parseProgs(&head); err != "" {
			return fail(Truncated, "%s", err)
		}
	}
	if head.Sections.Count != 0 && head.Sections.Off != 0 {
		if err := f.parseSections(&head); err != "" && strict {
			return fail(Truncated, "%s", err)
		}
	}
	// The section headers are near the end of a file: if they are present, so is the rest.
	// Separate debug files have segments without contents, so this check applies only to files
	// without section headers. Core files are often truncated; their reader handles that.
	if strict && len(f.sects) == 0 && f.header.Type != elf.ET_CORE {
		for _, s := range f.loads {
			if _, ok := f.bytes(s.FileOff, s.FileSize); !ok {
				return fail(Truncated, "the segment at %v extends beyond the end of the file", s.Lo)
			}
		}
	}
	return nil
}

// parseProgs reads the program headers. The result is the reason why they can't be used, or "".
func (f *File) parseProgs(h *elfheader.Header) string {
	t := h.Progs
	switch {
	case t.EntrySize < h.SegmentSize():
		return fmt.Sprintf("program headers of %d bytes are too short", t.EntrySize)
	case t.Within(uint64(len(f.data))) < t.Count:
		return fmt.Sprintf("%d program headers at offset 0x%x are not in the file", t.Count, t.Off)
	}
	f.progs = make([]elfheader.Segment, 0, t.Count)
	for i := range t.Count {
		p, _ := h.Segment(f.data, i)
		f.progs = append(f.progs, p)
		if p.Type != elf.PT_LOAD || p.MemSize == 0 || p.Addr+p.MemSize < p.Addr {
			continue
		}
		f.loads = append(f.loads, Segment{
			Lo: Addr(p.Addr), Hi: Addr(p.Addr + p.MemSize), FileOff: p.Off, FileSize: min(p.FileSize, p.MemSize),
			Read: p.Flags&elf.PF_R != 0, Write: p.Flags&elf.PF_W != 0, Exec: p.Flags&elf.PF_X != 0,
		})
	}
	return ""
}

// describe returns the first bytes of a file of another format, and names the formats that people
// mistake for programs.
func describe(b []byte) string {
	for _, m := range []struct{ magic, name string }{
		{"\xca\xfe\xba\xbe", "the signature of a Java class"},
		{"!<arch>\n", "the signature of an archive"},
		{"\x1f\x8b", "the signature of a gzip file"},
	} {
		if bytes.HasPrefix(b, []byte(m.magic)) {
			return m.name
		}
	}
	return fmt.Sprintf("%q", b[:min(len(b), 4)])
}
