package pdata

import (
	"fmt"
	"io"

	"dbg/arch"
)

func (t *Table) printARM64(w io.Writer, e *Entry) error {
	fmt.Fprintf(w, "    Function: 0x%X\n", t.config.Base+uint64(u32(t.config.Data, e.Offset)))
	switch e.Unwind & 3 {
	case flagRecord:
		fmt.Fprintf(w, "    ExceptionRecord: 0x%X\n", t.config.Base+uint64(e.Unwind))
		return t.printRecord(w, e.Unwind)
	case flagPacked, flagFragment:
		return t.printPacked(w, e.Unwind)
	}
	return fmt.Errorf("its flag has the reserved value 3")
}

var yesNo = map[bool]string{true: "Yes", false: "No"}

func (t *Table) printPacked(w io.Writer, word uint32) error {
	p := unpack(word)
	fmt.Fprintf(w, "    Fragment: %s\n    FunctionLength: %d\n    RegF: %d\n    RegI: %d\n    HomedParameters: %s\n    CR: %d\n    FrameSize: %d\n    Prologue [\n",
		yesNo[p.fragment], p.length, p.regF, p.regI, yesNo[p.homed], p.cr, p.frameSize)
	defer fmt.Fprint(w, "    ]\n")
	list, err := p.prologue()
	if err != nil {
		return err
	}
	home := p.homeOffset()
	for i := len(list) - 1; i >= 0; i-- {
		c := &list[i]
		switch {
		case c.kind == codeNop:
			home -= 16
			fmt.Fprintf(w, "      stp x%d, x%d, [sp, #%d]\n", p.homeReg(list, i), p.homeReg(list, i)+1, home+16)
		case c.kind == codeSave && c.second == 30 && c.reg == 19 && p.regI == 1:
			fmt.Fprint(w, "      INVALID!\n") // the tool has no text for this and the allocation before it
			i--
		default:
			fmt.Fprintf(w, "      %s\n", c.packedText(p.homed && i < len(list)-1 && list[i+1].kind == codeNop))
		}
	}
	fmt.Fprint(w, "      end\n")
	return nil
}

// homeOffset returns the offset of the last pair of home parameters.
func (p *packedData) homeOffset() int {
	n := 8 * p.regI
	if p.cr == crUnchainedLR {
		n += 8
	}
	if p.regF > 0 {
		n += 8 * (p.regF + 1)
	}
	return n + 48
}

// homeReg returns the first register of the pair of home parameters at index i.
func (p *packedData) homeReg(list []unwindCode, i int) int {
	n := 6
	for k := i + 1; k < len(list) && list[k].kind == codeNop; k++ {
		n -= 2
	}
	return n
}

func regText(r arch.Reg, vector bool) string {
	switch {
	case r >= arm64D0 && vector:
		return fmt.Sprintf("q%d", r-arm64D0)
	case r >= arm64D0:
		return fmt.Sprintf("d%d", r-arm64D0)
	}
	return fmt.Sprintf("x%d", r)
}

// packedText returns an instruction of the canonical prologue as text.
func (c *unwindCode) packedText(homes bool) string {
	switch c.kind {
	case codePAC:
		return "pacibsp"
	case codeSetFP:
		return "mov x29, sp"
	case codeAlloc:
		if homes {
			return fmt.Sprintf("stp x0, x1, [sp, #-%d]!", c.n)
		}
		return fmt.Sprintf("sub sp, sp, #%d", c.n)
	}
	regs := regText(c.reg, false)
	op := "str"
	if c.reg == 30 {
		regs = "lr"
	}
	if c.second != arch.NoReg {
		op = "stp"
		if c.second == 30 {
			regs += ", lr"
		} else {
			regs += ", " + regText(c.second, false)
		}
	}
	if c.pre {
		return fmt.Sprintf("%s %s, [sp, #-%d]!", op, regs, c.n)
	}
	return fmt.Sprintf("%s %s, [sp, #%d]", op, regs, c.n)
}

func (t *Table) printRecord(w io.Writer, rva uint32) error {
	x, err := t.readRecord(rva)
	if err != nil {
		return err
	}
	codes := t.record(x.codesAt, 4*x.words)
	scopes := t.record(x.scopesAt, int(x.codesAt-x.scopesAt))
	if codes == nil && x.words > 0 || scopes == nil && x.codesAt > x.scopesAt {
		return fmt.Errorf("the record at RVA 0x%x is not in the image", rva)
	}
	fmt.Fprintf(w, "    ExceptionData {\n      FunctionLength: %d\n      Version: %d\n      ExceptionData: %s\n      EpiloguePacked: %s\n",
		x.length, x.version, yesNo[x.handler], yesNo[x.single])
	if x.single {
		fmt.Fprintf(w, "      EpilogueOffset: %d\n", x.epilogues)
	} else {
		fmt.Fprintf(w, "      EpilogueScopes: %d\n", x.epilogues)
	}
	fmt.Fprintf(w, "      ByteCodeLength: %d\n      Prologue [\n", 4*x.words)
	printCodes(w, "        ", codes, true)
	fmt.Fprint(w, "      ]\n")
	switch {
	case !x.single:
		fmt.Fprint(w, "      EpilogueScopes [\n")
		for i := range x.epilogues {
			s := u32(scopes, 4*i)
			fmt.Fprintf(w, "        EpilogueScope {\n          StartOffset: %d\n          EpilogueStartIndex: %d\n", s&(1<<18-1), s>>22)
			if s>>18&15 != 0 {
				fmt.Fprintf(w, "          ReservedBits: %d\n", s>>18&15)
			}
			fmt.Fprint(w, "          Opcodes [\n")
			printCodes(w, "            ", codes[min(int(s>>22), len(codes)):], false)
			fmt.Fprint(w, "          ]\n        }\n")
		}
		fmt.Fprint(w, "      ]\n")
	case x.epilogues > 0:
		fmt.Fprint(w, "      Epilogue [\n")
		printCodes(w, "        ", codes[min(x.epilogues, len(codes)):], false)
		fmt.Fprint(w, "      ]\n")
	}
	if h := t.record(x.after, 8); x.handler && h != nil {
		fmt.Fprintf(w, "      ExceptionHandler [\n        Routine: 0x%X\n        Parameter: 0x%X\n      ]\n", t.config.Base+uint64(u32(h, 0)), u32(h, 4))
	}
	fmt.Fprint(w, "    }\n")
	return nil
}

// printCodes writes codes up to the first end.
func printCodes(w io.Writer, indent string, b []byte, prologue bool) {
	for len(b) > 0 {
		c, size, err := readCode(b)
		if err != nil {
			fmt.Fprintf(w, "%sError: %v\n", indent, err)
			return
		}
		fmt.Fprintf(w, "%s0x%-18s; %s\n", indent, fmt.Sprintf("%x", b[:size]), c.text(b[0], prologue))
		if c.kind == codeEnd {
			return
		}
		b = b[size:]
	}
}

// text returns a code as text. The same code stands for a store in a prologue, and for a load in an
// epilogue.
func (c *unwindCode) text(first byte, prologue bool) string {
	switch c.kind {
	case codeAlloc:
		return fmt.Sprintf("%s sp, #%d", pick(prologue, "sub", "add"), c.n)
	case codeSetFP:
		switch {
		case first == 0xe1:
			return pick(prologue, "mov fp, sp", "mov sp, fp")
		case prologue:
			return fmt.Sprintf("add fp, sp, #%d", c.n)
		}
		return fmt.Sprintf("sub sp, fp, #%d", c.n)
	case codeNop:
		return "nop"
	case codeEnd:
		return "end"
	case codeEndC:
		return "end_c"
	case codeSaveNext:
		return pick(prologue, "save next", "restore next")
	case codePAC:
		return pick(prologue, "pacibsp", "autibsp")
	case codeTrapFrame:
		return "trap frame"
	case codeMachineFrame:
		return "machine frame"
	case codeContext:
		return "context"
	case codeECContext:
		return "EC context"
	case codeClear:
		return "clear unwound to call"
	}
	return c.saveText(first, prologue)
}

func (c *unwindCode) saveText(first byte, prologue bool) string {
	regs := regText(c.reg, c.vector)
	single, double := pick(prologue, "str", "ldr"), pick(prologue, "stp", "ldp")
	op := single
	if c.second != arch.NoReg {
		op = double
		if second := regText(c.second, c.vector); first >= 0xd6 && first <= 0xd7 {
			regs += ", lr" // save_lrpair
		} else {
			regs += ", " + second
		}
	}
	switch {
	case !c.pre:
		return fmt.Sprintf("%s %s, [sp, #%d]", op, regs, c.n)
	case prologue:
		return fmt.Sprintf("%s %s, [sp, #-%d]!", op, regs, c.n)
	}
	return fmt.Sprintf("%s %s, [sp], #%d", op, regs, c.n)
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
