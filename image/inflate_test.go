package image

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"dbg/internal/fixture"
)

// TestCompressed reads the sections of one program in every compression that there is,
// by the tool that makes it, in steps and at once.
func TestCompressed(t *testing.T) {
	fixture.Need(t, "objcopy", "llvm-objcopy-19")
	static, dynamic := build(t, "-g", "-static"), build(t, "-g") // llvm-objcopy does not take the first
	for _, c := range []struct{ name, tool, flag string }{
		{"zlib", "objcopy", "zlib"},
		{"zlib-gabi", "objcopy", "zlib-gabi"},
		{"zdebug", "objcopy", "zlib-gnu"},
		{"zstd", "objcopy", "zstd"},
		{"llvm-zlib", "llvm-objcopy-19", "zlib"},
		{"llvm-zstd", "llvm-objcopy-19", "zstd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain := static
			if c.tool != "objcopy" {
				plain = dynamic
			}
			want, path := open(t, plain), plain+"."+c.name
			run(t, ".", c.tool, "--compress-debug-sections="+c.flag, plain, path)
			compressed := 0
			atOnce, inSteps := open(t, path), open(t, path)
			for _, s := range want.Sections() {
				if !strings.HasPrefix(s.Name, ".debug_") {
					continue
				}
				w, _ := want.Section(s.Name)
				g, ok := atOnce.Section(s.Name)
				if !ok || !bytes.Equal(g.Data, w.Data) || g.Size != w.Size {
					t.Errorf("%s: %d bytes, want %d", s.Name, len(g.Data), len(w.Data))
				}
				if i := inSteps.findSection(s.Name); inSteps.sects[i].flags&elf.SHF_COMPRESSED != 0 || strings.HasPrefix(inSteps.sects[i].name, ".zdebug") {
					compressed++
				}
				for n := uint64(0); n < w.Size; n += w.Size/7 + 1 {
					if got := inSteps.Prefix(s.Name, n); uint64(len(got)) != w.Size || !bytes.Equal(got[:n], w.Data[:n]) {
						t.Fatalf("%s: after %d bytes", s.Name, n)
					}
				}
			}
			if compressed == 0 || len(atOnce.Errors()) != 0 {
				t.Errorf("%d sections are compressed; %v", compressed, atOnce.Errors())
			}
		})
	}
}

// withSection writes an ELF file whose only section is raw, compressed with typ and
// claiming a size.
func withSection(typ elf.CompressionType, claim uint64, raw []byte) []byte {
	var b bytes.Buffer
	names := "\x00.debug_info\x00.shstrtab\x00"
	const head, entry = 64, 64
	chdr := 24
	off := head + 3*entry
	w := func(v any) { binary.Write(&b, binary.LittleEndian, v) }
	w(elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1,
		Shoff: head, Ehsize: head, Phentsize: 56, Shentsize: entry, Shnum: 3, Shstrndx: 2})
	w(elf.Section64{})
	w(elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_COMPRESSED), Off: uint64(off), Size: uint64(chdr + len(raw))})
	w(elf.Section64{Name: 13, Type: uint32(elf.SHT_STRTAB), Off: uint64(off + chdr + len(raw)), Size: uint64(len(names))})
	w(elf.Chdr64{Type: uint32(typ), Size: claim, Addralign: 1})
	b.Write(raw)
	b.WriteString(names)
	return b.Bytes()
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

func zstded(data []byte) []byte {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return z.EncodeAll(data, nil)
}

// TestBombs gives sections that claim or inflate to more than is believed: an error
// that names section and offset, and no memory.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 96<<20)
	// A frame without a size, of blocks of 128 KB in four bytes each (RFC 8878, 3.1.1).
	var rle bytes.Buffer
	rle.Write([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38})
	for range 1 << 20 { // 128 GB
		rle.Write([]byte{2, 0, 0x10, 0})
	}
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 3, 0, 0x10, 0} // 2 GB and more
	for _, c := range []struct {
		name  string
		typ   elf.CompressionType
		claim uint64
		raw   []byte
		want  string
	}{
		{"zlib claims 10 GB", elf.COMPRESS_ZLIB, 10 << 30, deflated(zeros), "implausible inflated size"},
		{"zstd claims 10 GB", elf.COMPRESS_ZSTD, 10 << 30, zstded(zeros), "implausible inflated size"},
		{"zstd of 4 MB is 128 GB", elf.COMPRESS_ZSTD, 128 << 30, rle.Bytes(), "implausible inflated size"},
		{"zstd of 4 MB is 16 GB", elf.COMPRESS_ZSTD, 16 << 30, rle.Bytes(), "implausible inflated size"},
		{"everything", elf.COMPRESS_ZSTD, 1<<64 - 1, zstded(nil), "implausible inflated size"},
		{"zlib is shorter than it claims", elf.COMPRESS_ZLIB, 1000, deflated(zeros[:999]), "only 999 of 1000 bytes could be inflated"},
		{"zstd is shorter than it claims", elf.COMPRESS_ZSTD, 1000, zstded(zeros[:999]), "only 999 of 1000 bytes could be inflated"},
		{"zlib is no zlib", elf.COMPRESS_ZLIB, 1000, []byte("hello"), "zlib"},
		{"zstd is no zstd", elf.COMPRESS_ZSTD, 1000, []byte("hello there"), "only 0 of 1000 bytes"},
		{"zstd with a window of gigabytes", elf.COMPRESS_ZSTD, 1000, window, "window size exceeded"},
		{"unknown", 7, 1000, nil, "compression type 7 is unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := withSection(c.typ, c.claim, c.raw)
			for _, how := range []func(*File) []byte{
				func(f *File) []byte { s, _ := f.Section(".debug_info"); return s.Data },
				func(f *File) []byte { return f.Prefix(".debug_info", 1<<62) },
			} {
				f, err := FromMemory("bomb", data)
				if err != nil {
					t.Fatal(err)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got := how(f)
				runtime.ReadMemStats(&after)
				trouble := fmt.Sprint(f.Errors())
				if got != nil || len(f.Errors()) != 1 || !strings.Contains(trouble, "bomb: section .debug_info at offset 0x100: ") || !strings.Contains(trouble, c.want) {
					t.Errorf("%d bytes, %v; want %q", len(got), trouble, c.want)
				}
				if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
					t.Errorf("it took %d bytes", used)
				}
			}
		})
	}
	// More than is claimed is not looked at.
	f, err := FromMemory("bomb", withSection(elf.COMPRESS_ZSTD, 1000, rle.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := f.Section(".debug_info"); len(s.Data) != 1000 || s.Size != 1000 {
		t.Errorf("%d bytes of 1000", len(s.Data))
	}
}

// TestTotal gives many headers of one compressed piece: together they may not inflate to
// any size.
func TestTotal(t *testing.T) {
	raw := withSection(elf.COMPRESS_ZSTD, 60<<20, zstded(make([]byte, 60<<20)))
	f, err := FromMemory("many", raw)
	if err != nil {
		t.Fatal(err)
	}
	one := f.sects[1]
	for i := range 20 {
		one.name = fmt.Sprintf(".debug_%d", i)
		f.byName[one.name] = len(f.sects)
		f.sects = append(f.sects, one)
	}
	good := 0
	for i := range 20 {
		// The room is not touched: one byte is enough.
		if f.Prefix(fmt.Sprintf(".debug_%d", i), 1) != nil {
			good++
		}
	}
	if good == 0 || good > 5 || len(f.Errors()) != 20-good {
		t.Errorf("%d sections of 60 MB in a file of %d bytes; %v", good, len(raw), f.Errors())
	}
}

// FuzzInflate gives compressed sections of any kind.
func FuzzInflate(f *testing.F) {
	for _, data := range [][]byte{nil, []byte("hello, hello, hello"), bytes.Repeat([]byte{1, 2, 3}, 5000)} {
		f.Add(uint8(1), uint64(len(data)), deflated(data))
		f.Add(uint8(2), uint64(len(data)), zstded(data))
	}
	f.Fuzz(func(t *testing.T, typ uint8, claim uint64, raw []byte) {
		file, err := FromMemory("fuzz", withSection(elf.CompressionType(typ), claim, raw))
		if err != nil {
			return
		}
		file.Prefix(".debug_info", 10)
		s, _ := file.Section(".debug_info")
		if s.Data != nil && uint64(len(s.Data)) != s.Size {
			t.Errorf("%d bytes of %d", len(s.Data), s.Size)
		}
		if s.Data == nil && s.Size > 0 && len(file.Errors()) == 0 {
			t.Error("no data and no reason")
		}
	})
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
