package disasm

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
)

// decodeARM64 decodes one instruction of A64. A word that arm64asm does not know is .inst: SVE,
// pointer authentication beyond the hints.
func decodeARM64(code []byte, pc uint64, symbol Symbolizer) Instruction {
	if len(code) < 4 {
		return Instruction{}
	}
	word := binary.LittleEndian.Uint32(code)
	if word < 1<<16 {
		return Instruction{Len: 4, Text: fmt.Sprintf("udf #%d", word)}
	}
	if s := atomicARM64(word) + tagARM64(word); s != "" {
		return Instruction{Len: 4, Text: s}
	}
	in, err := arm64asm.Decode(code[:4])
	if err != nil {
		return Instruction{Len: 4, Text: fmt.Sprintf(".inst 0x%08x ; undefined", word)}
	}
	return Instruction{Len: 4, Text: textARM64(in, pc, symbol), IsCall: in.Op == arm64asm.BL || in.Op == arm64asm.BLR}
}

// textARM64 returns arm64asm's text with the blanks, targets, register names and notes of objdump.
func textARM64(in arm64asm.Inst, pc uint64, symbol Symbolizer) string {
	if in.Op == arm64asm.HINT {
		if hint, ok := in.Args[0].(arm64asm.Imm_hint); ok && hints[hint] != "" {
			return hints[hint]
		}
	}
	for i, arg := range in.Args {
		if target, ok := arg.(arm64asm.PCRel); ok {
			to := pc + uint64(target)
			if in.Op == arm64asm.ADRP {
				to = pc&^0xfff + uint64(target)
			}
			t := x86Text{symbol: symbol}
			if cond, ok := in.Args[0].(arm64asm.Cond); ok && in.Op == arm64asm.B {
				name := strings.ToLower(cond.String())
				s := "b." + name + " " + t.address(to)
				if names := conditionNames[name]; names != nil {
					s += "  // b." + strings.Join(names, ", b.")
				}
				return s
			}
			in.Args[i] = nil // the last one
			s := strings.TrimSpace(arm64asm.GNUSyntax(in))
			if strings.Contains(s, " ") {
				s += ","
			}
			return s + " " + t.address(to)
		}
	}
	s := spaced(arm64asm.GNUSyntax(in))
	if in.Op == arm64asm.FCMP || in.Op == arm64asm.FCMPE {
		if strings.HasSuffix(s, " #0") {
			s += ".0"
		}
	}
	return s + noteARM64(in, s)
}

// noteARM64 returns objdump's note: the decimal value of a constant, other names of a condition.
func noteARM64(in arm64asm.Inst, s string) string {
	if imm, ok := strings.CutPrefix(s, "mov "); ok {
		reg, imm, _ := strings.Cut(imm, ", #")
		if v, err := strconv.ParseUint(imm, 0, 64); err == nil {
			n := int64(v)
			if reg[0] == 'w' {
				n = int64(int32(v))
			}
			return "  // #" + strconv.FormatInt(n, 10)
		}
		return ""
	}
	i := strings.LastIndexByte(s, ' ')
	if names := conditionNames[s[i+1:]]; names != nil && i > 0 {
		return "  // " + s[i+1:] + " = " + strings.Join(names, ", ")
	}
	return ""
}

// conditionNames are other names of conditions (Arm ARM, C1.2.4; the last ones are SVE's).
var conditionNames = map[string][]string{
	"eq": {"none"}, "ne": {"any"}, "cs": {"hs", "nlast"}, "cc": {"lo", "ul", "last"}, "mi": {"first"}, "pl": {"nfrst"},
	"hi": {"pmore"}, "ls": {"plast"}, "ge": {"tcont"}, "lt": {"tstop"},
}

// spaced puts a blank after each comma, and names system registers.
func spaced(s string) string {
	s = strings.TrimSpace(s)
	var b strings.Builder
	for i, c := range s {
		b.WriteRune(c)
		if c == ',' && i+1 < len(s) && s[i+1] != ' ' {
			b.WriteByte(' ')
		}
	}
	s = b.String()
	if name, rest, ok := strings.Cut(s, " "); ok && (name == "mrs" || name == "msr") {
		for _, word := range strings.Split(rest, ", ") {
			if reg := systemRegisters[word]; reg != "" {
				s = strings.Replace(s, word, reg, 1)
			}
		}
	}
	return s
}

// systemRegisters are the names of the registers that programs use (Arm ARM, D17.2).
var systemRegisters = map[string]string{
	"s3_3_c13_c0_2": "tpidr_el0", "s3_3_c13_c0_3": "tpidrro_el0", "s3_3_c4_c4_0": "fpcr", "s3_3_c4_c4_1": "fpsr",
	"s3_3_c4_c2_0": "nzcv", "s3_3_c0_c0_1": "ctr_el0", "s3_3_c0_c0_7": "dczid_el0", "s3_3_c14_c0_0": "cntfrq_el0",
	"s3_3_c14_c0_1": "cntpct_el0", "s3_3_c14_c0_2": "cntvct_el0", "s3_0_c0_c0_0": "midr_el1", "s3_0_c0_c4_0": "id_aa64pfr0_el1",
	"s3_0_c0_c4_1": "id_aa64pfr1_el1", "s3_0_c0_c4_4": "id_aa64zfr0_el1", "s3_0_c0_c6_0": "id_aa64isar0_el1",
	"s3_0_c0_c6_1": "id_aa64isar1_el1", "s3_0_c0_c7_0": "id_aa64mmfr0_el1", "s3_3_c2_c4_0": "rndr", "s3_3_c2_c4_1": "rndrrs",
}

// hints are the names of hint numbers (Arm ARM, C6.2 HINT).
var hints = map[arm64asm.Imm_hint]string{
	7: "xpaclri", 8: "pacia1716", 10: "pacib1716", 12: "autia1716", 14: "autib1716", 16: "esb", 17: "psb csync", 18: "tsb csync",
	20: "csdb", 24: "paciaz", 25: "paciasp", 26: "pacibz", 27: "pacibsp", 28: "autiaz", 29: "autiasp", 30: "autibz", 31: "autibsp",
	32: "bti", 34: "bti c", 36: "bti j", 38: "bti jc",
}

// atomicOperations are the names by the opc field of the atomic memory operations (Arm ARM, C4.1.96).
var atomicOperations = [8]string{"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"}

// atomicARM64 returns the text of the atomic instructions of Armv8.1, or "". arm64asm lacks them.
func atomicARM64(word uint32) string {
	size, acquire, release := word>>30, false, false
	rs, rn, rt := word>>16&31, word>>5&31, word&31
	name := ""
	switch {
	case word&0x3f200c00 == 0x38200000:
		acquire, release = word>>23&1 != 0, word>>22&1 != 0
		switch operation := word >> 12 & 15; {
		case operation == 8:
			name = "swp"
		case operation > 8:
			return ""
		case !acquire && rt == 31:
			name = "st" + atomicOperations[operation]
		default:
			name = "ld" + atomicOperations[operation]
		}
	case word&0x3fa07c00 == 0x08a07c00:
		name, acquire, release = "cas", word>>22&1 != 0, word>>15&1 != 0
	default:
		return ""
	}
	store := strings.HasPrefix(name, "st")
	if acquire {
		name += "a"
	}
	if release {
		name += "l"
	}
	if size < 2 {
		name += string("bh"[size])
	}
	register := func(n uint32) string {
		prefix := "w"
		if size == 3 {
			prefix = "x"
		}
		if n == 31 {
			return prefix + "zr"
		}
		return prefix + strconv.Itoa(int(n))
	}
	base := "sp"
	if rn != 31 {
		base = "x" + strconv.Itoa(int(rn))
	}
	if store {
		return fmt.Sprintf("%s %s, [%s]", name, register(rs), base)
	}
	return fmt.Sprintf("%s %s, %s, [%s]", name, register(rs), register(rt), base)
}
