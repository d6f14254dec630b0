package cfi

import (
	"iter"

	"dbg/internal/bytecursor"
	"dbg/internal/ehpointer"
)

// EntryKind is the kind of an entry.
type EntryKind uint8

const (
	Terminator EntryKind = iota // a length of 0
	IsCIE
	IsFDE
)

// Entry is an entry of the section, for listings.
type Entry struct {
	Kind   EntryKind
	Offset uint64
	Length uint64
	Wide   bool   // 64-bit DWARF
	ID     uint64 // CIE id or CIE pointer, as stored
	CIE    CIE    // for an FDE, the CIE that it refers to
	FDE    FDE
}

// Instruction is a call frame instruction.
type Instruction struct {
	Op    byte      // without the operand in the low six bits, if there is one
	Arg   [3]uint64 // operands as stored, signed ones sign-extended
	Block []byte    // the expression
	Loc   uint64    // the new location, if the instruction moves it
}

// Section yields all entries in the order of their offsets. An error belongs to the entry that it
// comes with: the entry's Offset is then valid, and perhaps Kind and Length. An entry with a wrong
// length is the last.
func (t *Table) Section() iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		x := t.exec()
		defer t.done(x)
		var e Entry
		for off := uint64(0); off+4 <= uint64(len(t.data)); {
			h, err := t.header(off, false)
			e = Entry{Offset: off, Length: uint64(h.end - h.idPos), Wide: h.is64, ID: h.id}
			if err != nil && h.end <= int(off) {
				yield(&e, err)
				return
			}
			switch {
			case err != nil:
			case h.empty:
				e.Length = 0
			case h.isCIE:
				e.Kind = IsCIE
				err = t.cie(off, &e.CIE)
			default:
				e.Kind = IsFDE
				if err = t.fde(off, &e.FDE, x); err == nil {
					e.CIE = e.FDE.CIE
				}
			}
			if !yield(&e, err) {
				return
			}
			off = uint64(h.end)
		}
	}
}

// AugmentationData returns the augmentation data of an entry whose augmentation begins with z. It
// aliases the section.
func (t *Table) AugmentationData(e *Entry) []byte {
	at := e.CIE.augData
	if e.Kind == IsFDE {
		at = e.FDE.augData
	}
	return t.data[at[0]:at[1]]
}

// Instructions yields the instructions of a CIE or FDE. The first error ends the sequence.
func (t *Table) Instructions(e *Entry) iter.Seq2[*Instruction, error] {
	return func(yield func(*Instruction, error) bool) {
		c := &e.CIE
		instr, loc := c.instr, uint64(0)
		if e.Kind == IsFDE {
			instr, loc = e.FDE.instr, e.FDE.Lo
		}
		r := bytecursor.Cursor{Data: t.data[:instr[1]], Pos: instr[0], Big: !t.little}
		for r.More() {
			var i Instruction
			if !t.decode(&r, &i, c, e.FDE.Lo, &loc) && r.Err() == nil {
				yield(&i, t.err(e.Offset, unknownInstruction(i.Op)))
				return
			}
			if r.Err() != nil {
				yield(&i, t.err(e.Offset, r.Err()))
				return
			}
			if !yield(&i, nil) {
				return
			}
		}
	}
}

// operands describes the operands of the instructions that do not move the location: u is ULEB128,
// s SLEB128, b a block; "." means no operands.
var operands = [256]string{
	cfaNop: ".", cfaRememberState: ".", cfaRestoreState: ".", cfaAArch64NegateRAState: ".", cfaAArch64NegateRAStatePC: ".",
	cfaOffset: "u", cfaRestore: ".",
	cfaOffsetExtended: "uu", cfaRestoreExtended: "u", cfaUndefined: "u", cfaSameValue: "u", cfaRegister: "uu",
	cfaDefCFA: "uu", cfaDefCFARegister: "u", cfaDefCFAOffset: "u", cfaDefCFAExpression: "b", cfaExpression: "ub",
	cfaOffsetExtendedSF: "us", cfaDefCFASF: "us", cfaDefCFAOffsetSF: "s", cfaValOffset: "uu", cfaValOffsetSF: "us",
	cfaValExpression: "ub", cfaGNUArgsSize: "u", cfaGNUNegativeOffsetExtended: "uu",
	cfaLLVMDefAspaceCFA: "uuu", cfaLLVMDefAspaceCFASF: "usu",
}

// decode reads one instruction. It returns false for an unknown one.
func (t *Table) decode(r *bytecursor.Cursor, i *Instruction, c *CIE, fn uint64, loc *uint64) bool {
	op := r.U8()
	n := 0
	if high := op & 0xc0; high != 0 {
		op, i.Arg[0], n = high, uint64(op&0x3f), 1
	}
	i.Op = op
	size := 0
	switch op {
	case cfaSetLoc:
		if t.debug {
			r.Block(uint64(c.SegSize))
			*loc = r.Uint(int(c.AddrSize))
		} else {
			b := ehpointer.Bases{Section: t.addr, Text: t.text, Data: t.dataBase, Func: fn}
			*loc = ehpointer.Read(r, c.ptrEnc, int(c.AddrSize), &b)
		}
		i.Arg[0], i.Loc = *loc, *loc
		return true
	case cfaAdvanceLoc1:
		size = 1
	case cfaAdvanceLoc2:
		size = 2
	case cfaAdvanceLoc4:
		size = 4
	case cfaMIPSAdvanceLoc8:
		size = 8
	}
	if size > 0 {
		i.Arg[0] = r.Uint(size)
	}
	if size > 0 || op == cfaAdvanceLoc {
		*loc += i.Arg[0] * c.CodeAlign
		i.Loc = *loc
		return true
	}
	for _, kind := range operands[op] {
		switch kind {
		case 'u':
			i.Arg[n] = r.ULEB()
		case 's':
			i.Arg[n] = uint64(r.SLEB())
		case 'b':
			i.Block = r.Block(r.ULEB())
		}
		n++
	}
	return operands[op] != ""
}
