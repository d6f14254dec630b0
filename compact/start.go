package compact

// maxParts is the number of entries that FunctionStart examines. No linker writes functions with
// more than one.
const maxParts = 64

// FunctionStart returns the address of the function to which e belongs: that of the entry itself,
// or of the nearest entry before it that starts a function (its bit 31 is clear). It is an error
// if there is a gap in between, or if no entry starts the function.
func (t *Table) FunctionStart(e *Entry) (uint64, error) {
	if e.Opcode.StartsFunction() {
		return e.Lo, nil
	}
	var b Entry
	at := e.Lo
	left := maxParts
	for g, k := e.Page, e.Index; g >= 0; g-- {
		p, err := t.trusted(g)
		if err != nil {
			return 0, err
		}
		if g != e.Page {
			k = p.entries.count
		}
		for k--; k >= 0; k-- {
			if err := t.entry(p, k, &b); err != nil {
				return 0, err
			}
			if left--; b.Hi != at || left == 0 {
				return 0, defect(e.Offset, "the entry continues a function, but no entry before it starts one")
			}
			if at = b.Lo; b.Opcode.StartsFunction() {
				return at, nil
			}
		}
	}
	return 0, defect(e.Offset, "the entry continues a function, but no entry before it starts one")
}
