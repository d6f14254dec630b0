package emulate

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// disassembly is what objdump prints about an instruction.
type disassembly struct {
	length int
	text   string
	bad    bool
}

// objdump runs objdump and returns the instructions by address.
func objdump(t *testing.T, args ...string) map[uint64]disassembly {
	fixture.Need(t, "objdump")
	cmd := exec.Command("objdump", append([]string{"-w", "--insn-width=16", "-M", "intel"}, args...)...)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	all := map[uint64]disassembly{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		// "  addr:\tbytes \ttext"
		parts := strings.SplitN(lines.Text(), "\t", 3)
		if len(parts) < 2 || !strings.HasSuffix(parts[0], ":") {
			continue
		}
		addr, err := strconv.ParseUint(strings.Trim(parts[0], " :"), 16, 64)
		check(t, err)
		d := disassembly{length: len(strings.Fields(parts[1]))}
		if len(parts) == 3 {
			d.text = parts[2]
		}
		d.bad = len(parts) < 3 || strings.Contains(d.text, "(bad)") || strings.HasPrefix(d.text, ".byte")
		all[addr] = d
	}
	check(t, cmd.Wait())
	return all
}

// TestTablesLikeObjdump checks each entry of the tables of Displace: objdump must know an
// instruction of that opcode, and its length must be the one that Displace returns.
func TestTablesLikeObjdump(t *testing.T) {
	const slot = 16
	type entry struct {
		scheme scheme
		opmap  opcodeMap
		opcode int
		prefix byte // its bit in the tables
	}
	var bytesOf []byte
	var entryOf []entry
	known := map[entry]bool{}
	for s := range displaceTables {
		for m, table := range displaceTables[s] {
			for op := range len(table) {
				for prefix := byte(1); prefix <= 8; prefix <<= 1 {
					if hexDigit(table[op])&prefix == 0 {
						continue
					}
					e := entry{scheme(s), opcodeMap(m), op, prefix}
					known[e] = false
					for _, code := range encodings(e.scheme, e.opmap, byte(op), prefix) {
						if _, _, ok := Displace(code, 0, 0); ok {
							bytesOf = append(bytesOf, code...)
							entryOf = append(entryOf, e)
						}
					}
				}
			}
		}
	}
	file := filepath.Join(t.TempDir(), "code")
	check(t, os.WriteFile(file, bytesOf, 0o600))
	listing := objdump(t, "-D", "-b", "binary", "-m", "i386:x86-64", file)
	for i, e := range entryOf {
		d := listing[uint64(i*slot)]
		if d.bad {
			continue
		}
		known[e] = true
		code := bytesOf[i*slot:][:slot]
		if _, n, _ := Displace(code, 0, 0); n != d.length {
			t.Errorf("% x (%s): length %d, by objdump %d", code, d.text, n, d.length)
		}
	}
	for e, known := range known {
		if !known {
			t.Errorf("scheme %d, map %d, opcode %02x, prefix bit %d: unknown to objdump", e.scheme, e.opmap, e.opcode, e.prefix)
		}
	}
	t.Logf("%d entries, %d encodings", len(known), len(entryOf))
}

// encodings returns encodings of an opcode in slots of 16 bytes, which NOP fills.
func encodings(s scheme, m opcodeMap, op, prefix byte) [][]byte {
	var all [][]byte
	for _, w := range []byte{0, 1} {
		for _, length := range []byte{0, 1, 2} {
			for modrm := range 16 {
				code := opcodeBytes(s, m, op, prefix, w, length)
				if code == nil {
					continue
				}
				code = append(code, byte(modrm&7<<3|0xc2)) // the register 2: with F3 0F 1E it is ENDBR64
				if modrm >= 8 {
					code[len(code)-1] = byte(modrm&7<<3 | 0x44) // SIB and an 8-bit displacement
					code = append(code, 0x88, 0x10)
				}
				for len(code) < 16 {
					code = append(code, 0x90)
				}
				all = append(all, code)
			}
		}
	}
	return all
}

// opcodeBytes returns prefixes and opcode of an instruction.
func opcodeBytes(s scheme, m opcodeMap, op, prefix, w, length byte) []byte {
	pp := map[byte]byte{1: 0, 2: 1, 4: 2, 8: 3}[prefix]
	switch {
	case s == evex:
		// It has the mask K1, as gathers demand.
		return []byte{0x62, 0xf0 | byte(m), w<<7 | 0x7c | pp, length<<5 | 8 | 1, op}
	case s == vex && length < 2:
		return []byte{0xc4, 0xe0 | byte(m), w<<7 | 0x78 | length<<2 | pp, op}
	case s == vex || length > 0:
		return nil
	}
	var code []byte
	if pp != 0 {
		code = append(code, []byte{0, 0x66, 0xf3, 0xf2}[pp])
	}
	if w != 0 {
		code = append(code, 0x48)
	}
	code = append(code, [...][]byte{{}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}}[m]...)
	return append(code, op)
}

// TestBoundariesLikeObjdump compares the lengths of all instructions of the libraries.
func TestBoundariesLikeObjdump(t *testing.T) {
	fixture.Sweep(t)
	for _, path := range libraries {
		listing := objdump(t, "-d", "-j", ".text", path)
		compared, failures := 0, 0
		for _, f := range functions(t, path) {
			for _, in := range f.instructions() {
				d, ok := listing[in.addr]
				if !ok || d.bad || len(in.code) == 0 {
					continue // It is inside of data, or unknown.
				}
				compared++
				if d.length != len(in.code) {
					if failures++; failures <= 20 {
						t.Errorf("%#x: % x: length %d, by objdump %d (%s)", in.addr, in.code, len(in.code), d.length, d.text)
					}
				}
			}
		}
		t.Logf("%s: %d lengths compared", path, compared)
	}
}
