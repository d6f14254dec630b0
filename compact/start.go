package compact

// maxParts is how many entries FunctionStart looks at. No linker writes functions of more than one.
const maxParts = 64

// FunctionStart is the address of the function that e belongs to: that of the entry itself, or of the nearest
// one before it that says it starts a function (which is what it says by a clear bit). It is an error if there
// is a gap between, or nothing that starts one.
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
				return 0, defect(e.Offset, "the entry goes on with a function, but none begins before it")
			}
			if at = b.Lo; b.Opcode.StartsFunction() {
				return at, nil
			}
		}
	}
	return 0, defect(e.Offset, "the entry goes on with a function, but none begins before it")
}
