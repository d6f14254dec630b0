package cfi_test

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dbg/arch"
	"dbg/cfi"
)

// sections opens a file's tables without package image, which is a higher layer.
func sections(t testing.TB, path string) (eh, debug *cfi.Table) {
	ehConfig, debugConfig := configs(path)
	if ehConfig.Data != nil {
		eh = cfi.New(ehConfig)
	}
	if debugConfig.Data != nil {
		debug = cfi.New(debugConfig)
	}
	return eh, debug
}

// archOf returns the architecture of a file, and the size of its addresses; nil if package arch
// does not have it.
func archOf(f *elf.File) (*arch.Arch, int) {
	if f.Data != elf.ELFDATA2LSB {
		return nil, 0
	}
	switch is64 := f.Class == elf.ELFCLASS64; {
	case f.Machine == elf.EM_X86_64 && is64:
		return arch.AMD64, 8
	case f.Machine == elf.EM_X86_64:
		return arch.AMD64, 4 // x32
	case f.Machine == elf.EM_386:
		return arch.I386, 4
	case f.Machine == elf.EM_AARCH64 && is64:
		return arch.ARM64, 8
	case f.Machine == elf.EM_ARM:
		return arch.ARM, 4
	case f.Machine == elf.EM_RISCV && is64:
		return arch.RISCV64, 8
	}
	return nil, 0
}

func configs(path string) (eh, debug cfi.Config) {
	f, err := elf.Open(path)
	if err != nil {
		return eh, debug
	}
	defer f.Close()
	a, ptr := archOf(f)
	if a == nil || f.Type == elf.ET_REL {
		return eh, debug
	}
	if s := f.Section(".eh_frame"); s != nil && s.Type != elf.SHT_NOBITS {
		data, _ := s.Data()
		eh = cfi.Config{Arch: a, PtrSize: ptr, Data: data, Addr: s.Addr}
		if h := f.Section(".eh_frame_hdr"); h != nil {
			eh.Hdr, _ = h.Data()
			eh.HdrAddr = h.Addr
		}
		if s := f.Section(".text"); s != nil {
			eh.Text = s.Addr
		}
		if s := f.Section(".got.plt"); s != nil {
			eh.DataBase = s.Addr
		} else if s := f.Section(".got"); s != nil {
			eh.DataBase = s.Addr
		}
	}
	debug = cfi.Config{Arch: a, PtrSize: ptr, Debug: true}
	if s := f.Section(".debug_frame"); s != nil && s.Type != elf.SHT_NOBITS {
		debug.Data, _ = s.Data()
	} else if s := f.Section(".zdebug_frame"); s != nil {
		raw, _ := s.Data()
		if len(raw) > 12 {
			if z, err := zlib.NewReader(bytes.NewReader(raw[12:])); err == nil {
				debug.Data, _ = io.ReadAll(z)
			}
		}
	}
	return eh, debug
}

// realFiles returns programs and libraries on this machine.
func realFiles() (files []string) {
	for _, pattern := range []string{
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/libcrypto.so*",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1",
		"/usr/lib/x86_64-linux-gnu/libpython3*.so*", "/usr/bin/python3*", "/usr/lib/x86_64-linux-gnu/libpthread*",
		"/usr/bin/[b-e]*", "/usr/lib/x86_64-linux-gnu/lib[g-z]*.so.*",
		"/usr/lib32/libc.so.6", "/usr/*-linux-gnu*/lib/libc.so.6",
	} {
		m, _ := filepath.Glob(pattern)
		n := 0
		for _, f := range m {
			if f, err := filepath.EvalSymlinks(f); err != nil || slices.Contains(files, f) {
				continue
			}
			if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() && st.Size() < 12<<20 && n < 14 {
				f, _ = filepath.EvalSymlinks(f)
				files = append(files, f)
				n++
			}
		}
	}
	return files
}

// allFiles returns every ELF file, executable or shared, in these directories.
func allFiles(roots []string) (files []string) {
	seen := map[string]bool{}
	for _, root := range roots {
		root, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || seen[path] {
				return nil
			}
			f, err := os.Open(path)
			if err != nil {
				return nil
			}
			defer f.Close()
			var magic [18]byte
			if _, err := io.ReadFull(f, magic[:]); err == nil && string(magic[:4]) == elf.ELFMAG {
				seen[path] = true
				files = append(files, path)
			}
			return nil
		})
	}
	return files
}
