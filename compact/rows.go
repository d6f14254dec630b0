package compact

import (
	"dbg/row"
	"dbg/row/compiled"
)

// Rows makes the rows of many entries. It decodes each opcode once, since files have few
// different ones. It must be used by one goroutine.
type Rows struct {
	t     *Table
	known map[rowKey]*Rule
	near  [1 << nearBits]struct { // cache of known, indexed by a hash of the key
		rowKey
		*Rule
	}
	dwarf ErrDWARF // the error returned last: some files leave nearly all functions to __eh_frame
}

const nearBits = 9

// Rule holds the parts that all entries with the same opcode (and the same indirect size) share.
type Rule struct {
	Row  row.Row // Lo, Hi and Source are those of the entry in the latest call of Rows.Row
	Hash uint64  // compiled.HashRow of Row
	ID   int     // counts from 0
}

// rowKey holds all inputs of a row.
type rowKey struct {
	op  Opcode // kind and value
	sub int64  // indirect size
}

// Rows makes a Rows for this table.
func (t *Table) Rows() *Rows { return &Rows{t: t, known: map[rowKey]*Rule{}} }

// Row is Table.Row for e, together with the parts shared with other entries. The result is valid
// until the next call, and so is an ErrDWARF. Row.Regs does not change.
func (x *Rows) Row(e *Entry) (*Rule, error) {
	k := rowKey{op: e.Opcode & (kindMask | valueMask)}
	switch k.op.Kind(x.t.arch) {
	case None:
		return nil, ErrNone
	case DWARF:
		x.dwarf.FDE = uint32(k.op & valueMask)
		return nil, &x.dwarf
	case FramelessIndirect:
		var b Body
		if err := k.op.decode(x.t.arch, &b); err != nil {
			return nil, x.t.at(e, err)
		}
		sub, err := x.t.indirect(e, &b)
		if err != nil {
			return nil, err
		}
		k.sub = sub
	}
	n := &x.near[uint32(uint64(k.op)+uint64(k.sub))*0x9e3779b1>>(32-nearBits)]
	if n.Rule == nil || k != n.rowKey {
		u := x.known[k]
		if u == nil {
			var b Body
			if err := e.Opcode.decode(x.t.arch, &b); err != nil {
				return nil, x.t.at(e, err)
			}
			u = &Rule{ID: len(x.known)}
			x.t.fill(&b, k.sub, &u.Row)
			u.Hash = compiled.HashRow(&u.Row)
			x.known[k] = u
		}
		n.rowKey, n.Rule = k, u
	}
	r := &n.Row
	r.Lo, r.Hi, r.Source = e.Lo, e.Hi, uint64(e.Offset)
	return n.Rule, nil
}
