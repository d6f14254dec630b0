package image

import (
	"bytes"
	"debug/elf"
)

// maxRelease limits the length of a kernel's release (Linux's __NEW_UTS_LEN).
const maxRelease = 64

// KernelRelease returns the release of the Linux kernel, such as "6.1.0-56-amd64", if the file is one or a module of
// one, else "". It is in the module's vermagic, or in the kernel's banner.
func (f *File) KernelRelease() string {
	if f.Format() != ELF {
		return ""
	}
	if s, ok := f.Section(".modinfo"); ok && f.header.Type == elf.ET_REL {
		for field := range bytes.SplitSeq(s.Data, []byte{0}) {
			if v, ok := bytes.CutPrefix(field, []byte("vermagic=")); ok {
				return release(v)
			}
		}
		return ""
	}
	const banner = "Linux version "
	s, _ := f.Section(".rodata")
	for b := s.Data; ; {
		i := bytes.Index(b, []byte(banner))
		if i < 0 {
			return ""
		}
		b = b[i+len(banner):]
		if r := release(b); r != "" && r[0] >= '0' && r[0] <= '9' {
			return r
		}
	}
}

// release returns the first word of b, or "" if there is none of a plausible length.
func release(b []byte) string {
	b = b[:min(len(b), maxRelease+1)]
	i := bytes.IndexAny(b, " \x00")
	if i <= 0 {
		return ""
	}
	return string(b[:i])
}
