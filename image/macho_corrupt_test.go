package image

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"dbg/image/macho"
	"dbg/internal/fixture"
)

// exerciseFile asks a file for everything.
func exerciseFile(f *File) {
	f.CompactUnwind()
	f.Kind()
	f.Interp()
	f.BuildID()
	f.CheckArch()
	f.TLS()
	f.PIE()
	f.Symbols()
	f.HasSymtab()
	f.HasDebugInfo()
	f.FunctionStarts()
	f.Stubs()
	f.Libraries()
	f.InstallName()
	f.HeaderAddr()
	for _, s := range f.Sections() {
		f.Prefix(s.Name, 10)
		f.Section(s.Name)
		f.SectionIn(s.Segment, s.Name)
	}
	f.Prefix(".debug_str_offsets", 10)
	buf := make([]byte, 64)
	for _, s := range f.Segments() {
		f.ReadAt(s.Lo, buf)
		f.ReadAt(s.Hi-1, buf)
	}
	f.debugLink()
}

// exerciseMapped takes the bytes as an image that is mapped at an address.
func exerciseMapped(data []byte) {
	const base = 0x7fff00000000
	f, err := FromMapped("mapped", func(addr uint64, buf []byte) (int, error) {
		if addr < base || addr-base >= uint64(len(data)) {
			return 0, nil
		}
		return copy(buf, data[addr-base:]), nil
	}, base)
	if err == nil {
		exerciseFile(f)
	}
}

// smallMachO are files that corruption starts from.
func smallMachO(t testing.TB) [][]byte {
	t.Helper()
	var out [][]byte
	for _, path := range []string{
		fixture.MachO(t, "macho/image.c", "x86_64", "-g", "-O1", "link:-execute", "link:-e", "link:_main"),
		fixture.MachO(t, "macho/image.c", "i386", "-g", "-c", "-D_Thread_local="),
		fixture.MachO(t, "macho/image.c", "arm64", "-c"),
		dsym(t, fixture.MachO(t, "macho/image.c", "x86_64", "-g", "-O1")),
		lipo(t, "fat", nil, fixture.MachO(t, "macho/image.c", "x86_64", "-O1", "link:-x")),
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

// commandsOf is where the headers and load commands are.
func commandsOf(data []byte) (from, to int) {
	if macho.BeginsFat(data) {
		from = int(binary.BigEndian.Uint32(data[16:]))
	}
	return from, from + 32 + int(binary.LittleEndian.Uint32(data[from+20:]))
}

// TestMachOCorrupt changes every byte of the headers and load commands, cuts the
// file everywhere, and changes bytes at random. Nothing panics, and memory stays
// in proportion to the file.
func TestMachOCorrupt(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	runs, size := 0, 0
	try := func(data []byte) {
		runs++
		size = max(size, len(data))
		exercise(data)
		exerciseMapped(data)
	}
	for _, data := range smallMachO(t) {
		from, to := commandsOf(data)
		copied := bytes.Clone(data)
		for at := range to {
			if at == 32 && from > 32 {
				at = from // between the fat header and the slice there are zeros
			}
			if at >= 32 && at < from {
				continue
			}
			for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff, data[at] ^ 1, data[at] ^ 0x20} {
				if v != data[at] {
					copied[at] = v
					try(copied)
				}
			}
			copied[at] = data[at]
		}
		step := max(1, len(data)/1000)
		for n := 0; n < to; n += 3 {
			try(data[:n:n])
		}
		for n := to; n < len(data); n += step {
			try(data[:n:n])
		}
		r := rand.New(rand.NewPCG(3, 4))
		for range 2000 {
			copy(copied, data)
			for range 1 + r.IntN(5) {
				copied[r.IntN(len(data))] = byte(r.Uint32())
				copied[from+r.IntN(to-from)] = byte(r.Uint32())
			}
			try(copied)
		}
	}
	runtime.ReadMemStats(&after)
	each := int((after.TotalAlloc - before.TotalAlloc) / uint64(runs))
	t.Logf("%d files, %d bytes allocated for each", runs, each)
	if each > 16*size {
		t.Errorf("%d bytes allocated for a file of up to %d", each, size)
	}
}

// TestMachOEncrypted: encrypted pages are neither shown nor taken for zeros.
func TestMachOEncrypted(t *testing.T) {
	data, err := os.ReadFile(fixture.MachO(t, "macho/image.c", "arm64", "-g", "-O1"))
	if err != nil {
		t.Fatal(err)
	}
	const lcSymtab, lcDysymtab, lcSegment64, lcUUID, lcEncryptionInfo64 = 0x2, 0xb, 0x19, 0x1b, 0x2c
	// LC_SOURCE_VERSION or another command without use here becomes LC_ENCRYPTION_INFO.
	f, err := FromMemory("file", data)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := f.Section("__text")
	at, done := 32, false
	for cmd, b := range f.LoadCommands() {
		if len(b) >= 24 && cmd != lcSegment64 && cmd != lcSymtab && cmd != lcDysymtab && cmd != lcUUID && !done {
			le := binary.LittleEndian
			for i, v := range []uint32{lcEncryptionInfo64, uint32(len(b)), uint32(text.Offset), uint32(text.Size), 1} {
				le.PutUint32(data[at+4*i:], v)
			}
			done = true
		}
		at += len(b)
	}
	if !done {
		t.Fatal("no command can be replaced")
	}
	f, err = FromMemory("file", data)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := f.SectionData("__text"); b != nil || err == nil || !strings.Contains(err.Error(), "encrypted") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if n, err := f.ReadAt(text.Addr, make([]byte, 4)); n != 0 || err == nil {
		t.Errorf("ReadAt: %d, %v", n, err)
	}
	if b, err := f.SectionData("__cstring"); len(b) == 0 || err != nil {
		t.Errorf("__cstring: %v", err)
	}
}

func FuzzMachO(f *testing.F) {
	for _, data := range smallMachO(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		exercise(data)
		exerciseMapped(data)
	})
}
