package orc

import (
	"fmt"
	"io"
)

var regNames = [...]string{PrevSP: "prevsp", DX: "dx", DI: "di", BP: "bp", SP: "sp", R10: "r10", R13: "r13", AX: "ax"}

// Print writes an entry as objtool --dump=orc of the kernel that the table is from prints it. place is the address of
// its code: in relocatable files a section and an offset.
func (t *Table) Print(w io.Writer, e *Entry, place string) error {
	sp, bp := t.regText(e.SP, e.SPOffset), t.regText(e.BP, e.BPOffset)
	var err error
	switch t.version {
	case V1:
		_, err = fmt.Fprintf(w, "%s: sp:%s bp:%s type:%s end:%d\n", place, sp, bp, e.typeText(), bit(e.End))
	case V2:
		_, err = fmt.Fprintf(w, "%s: sp:%s bp:%s type:%s signal:%d end:%d\n", place, sp, bp, e.typeText(),
			bit(e.Signal), bit(e.End))
	default:
		_, err = fmt.Fprintf(w, "%s:type:%s sp:%s bp:%s signal:%d\n", place, e.newTypeText(), sp, bp, bit(e.Signal))
	}
	return err
}

func (t *Table) regText(r Reg, offset int16) string {
	switch {
	case r == Undefined:
		return "(und)"
	case r == BPIndirect:
		return fmt.Sprintf("(bp%+d)", offset)
	case r == SPIndirect && t.sum == sumBefore:
		return fmt.Sprintf("(sp%+d)", offset)
	case r == SPIndirect:
		return fmt.Sprintf("(sp)%+d", offset)
	case int(r) < len(regNames):
		return fmt.Sprintf("%s%+d", regNames[r], offset)
	}
	return fmt.Sprintf("?%+d", offset)
}

// typeText is the type of an entry of version 1 or 2, where gaps and ends of the stack have that of a call.
func (e *Entry) typeText() string {
	if e.Type == Gap || e.Type == EndOfStack {
		return "call"
	}
	return e.newTypeText()
}

func (e *Entry) newTypeText() string {
	return [...]string{"(und)", "end", "call", "regs", "regs (partial)", "?", "?", "?"}[e.Type]
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
