package emulate

import (
	"encoding/binary"
	"math/rand/v2"
)

// prefixSets are the prefixes that the generated instructions have.
var prefixSets = [][]byte{
	{}, {0x66}, {0x40}, {0x45}, {0x48}, {0x4d}, {0x66, 0x42}, {0x66, 0x48}, {0x64}, {0x65, 0x4b}, {0x67}, {0x67, 0x49}, {0x2e}, {0xf2}, {0xf3},
}

// generated returns instructions that Decode claims, of each opcode of its tables and with each set
// of prefixes: the libraries have only those that compilers choose.
func generated(perSet int) [][]byte {
	rng := rand.New(rand.NewPCG(3, 4))
	seen := map[string]bool{}
	var all [][]byte
	for _, escape := range [][]byte{{}, {0x0f}} {
		for op := range 256 {
			for _, prefixes := range prefixSets {
				for range perSet {
					code := append([]byte(nil), prefixes...)
					code = append(append(code, escape...), byte(op), byte(rng.Uint32()), byte(rng.Uint32()))
					code = binary.LittleEndian.AppendUint64(code, rng.Uint64())
					o, ok := Decode(code, 0)
					if !ok {
						continue
					}
					code = code[:o.Len()]
					if l, _ := parse(code); l.dispLen == 4 { // A stack operation needs RSP in the arena, too.
						binary.LittleEndian.PutUint32(code[l.dispAt:], uint32(int32(rng.IntN(0x1000)-0x800)))
					}
					if !seen[string(code)] {
						seen[string(code)] = true
						all = append(all, code)
					}
				}
			}
		}
	}
	return all
}

// generatedDisplaced returns perEntry instructions of each entry of the tables of Displace.
func generatedDisplaced(perEntry int) [][]byte {
	rng := rand.New(rand.NewPCG(5, 6))
	var all [][]byte
	for s := range displaceTables {
		for m, table := range displaceTables[s] {
			for op := range len(table) {
				for prefix := byte(1); prefix <= 8; prefix <<= 1 {
					if hexDigit(table[op])&prefix == 0 {
						continue
					}
					codes := encodings(scheme(s), opcodeMap(m), byte(op), prefix)
					for range perEntry {
						code := codes[rng.IntN(len(codes))]
						if _, n, ok := Displace(code, 0, 0); ok {
							all = append(all, code[:n])
						}
					}
				}
			}
		}
	}
	return all
}
