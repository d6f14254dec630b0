package emulate

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"dbg/internal/fixture"
)

// libraries are the files whose instructions the tests use.
var libraries = []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"}

// routine is the code of a function of a library.
type routine struct {
	addr uint64
	code []byte
}

// functions returns the functions of an ELF file that its .eh_frame_hdr lists. Their extents are
// those of the FDEs: libcrypto has tables between its functions.
func functions(t testing.TB, path string) []routine {
	f, err := elf.Open(path)
	if os.IsNotExist(err) {
		fixture.Missing(t, "no "+path)
	}
	check(t, err)
	defer f.Close()
	header, frames, text := f.Section(".eh_frame_hdr"), f.Section(".eh_frame"), f.Section(".text")
	index, err := header.Data()
	check(t, err)
	fdes, err := frames.Data()
	check(t, err)
	code, err := text.Data()
	check(t, err)

	// Version, three encodings, the address of .eh_frame, the count, then pairs relative to the
	// header.
	if !slices.Equal(index[:4], []byte{1, 0x1b, 3, 0x3b}) {
		t.Fatalf("%s: unusual .eh_frame_hdr: % x", path, index[:4])
	}
	var all []routine
	for pairs := index[12:]; len(pairs) >= 8; pairs = pairs[8:] {
		start := header.Addr + uint64(int32(binary.LittleEndian.Uint32(pairs)))
		fde := header.Addr + uint64(int32(binary.LittleEndian.Uint32(pairs[4:]))) - frames.Addr
		size := uint64(binary.LittleEndian.Uint32(fdes[fde+12:]))
		if start >= text.Addr && start+size <= text.Addr+text.Size {
			all = append(all, routine{start, code[start-text.Addr:][:size]})
		}
	}
	return all
}

// instruction is one of a function.
type instruction struct {
	addr  uint64
	code  []byte
	first bool // of its function
}

// instructions returns the instructions of a function in order of addresses. Where the length of
// one is unknown, it is returned last, without code.
func (f routine) instructions() []instruction {
	var all []instruction
	for at := 0; at < len(f.code); {
		in := instruction{addr: f.addr + uint64(at), first: at == 0}
		l, ok := parse(f.code[at:])
		if ok {
			in.code = f.code[at:][:l.length]
		}
		all = append(all, in)
		if !ok {
			break
		}
		at += int(l.length)
	}
	return all
}

// distinct returns the different instructions of the libraries, in a fixed order. Distances of
// branches and of addresses relative to RIP count as equal.
func distinct(t testing.TB) [][]byte {
	seen := map[string]bool{}
	var all [][]byte
	for _, path := range libraries {
		for _, f := range functions(t, path) {
			for _, in := range f.instructions() {
				if in.code == nil {
					continue
				}
				code := normalized(in.code)
				if !seen[string(code)] {
					seen[string(code)] = true
					all = append(all, code)
				}
			}
		}
	}
	return all
}

// normalized returns the instruction with distances set to 0.
func normalized(code []byte) []byte {
	code = slices.Clone(code)
	l, _ := parse(code)
	if l.ripRelative() {
		clear(code[l.dispAt:][:4])
	}
	if l.isRelativeBranch() {
		clear(code[l.length-l.immLen:])
	}
	return code
}

func (l *layout) isRelativeBranch() bool {
	var fields byte
	switch {
	case l.scheme != legacy:
	case l.opmap == map1Byte:
		fields = fields1Byte[l.opcode]
	case l.opmap == map0F:
		fields = fields0F[l.opcode]
	}
	return fields == 'r' || fields == 'j'
}

// sample returns some of the instructions: perForm of each form, which is what remains without
// register numbers, displacements and immediates, and every stride-th of the others.
func sample(all [][]byte, perForm, stride int) [][]byte {
	count := map[layout]int{}
	var chosen [][]byte
	for i, code := range all {
		key, _ := parse(code)
		group := key.scheme != legacy
		if key.opmap == map1Byte {
			_, group = groups[oneByte[key.opcode].kind]
		}
		if !group {
			key.reg = 0
		}
		if key.mod == 3 || key.rm != 4 && key.rm != 5 {
			key.rm = 0
		}
		key.rexR, key.rexX, key.rexB, key.sib, key.disp, key.imm = 0, 0, 0, 0, 0, 0
		if count[key]++; count[key] <= perForm || i%stride == 0 {
			chosen = append(chosen, code)
		}
	}
	return chosen
}
