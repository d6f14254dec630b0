package linetable

import (
	"cmp"
	"slices"

	"dbg/internal/bytecursor"
)

// machine is the state machine of section 6.2.2.
type machine struct {
	table *Table
	h     *header
	row   Row
	file  uint64
	line  int64
	col   uint64
	opIdx uint64
	start int // first row of the sequence

	// State for the Repeated flag: discriminator is set if the next row has a discriminator,
	// discriminated if one has occurred on this line, and fileChanged if DW_LNS_set_file has
	// changed the file. lastLine is the line of the last row that counts. stmtAtAddr is set if a
	// statement has occurred at lastAddr.
	discriminator, discriminated bool
	fileChanged                  bool
	lastLine                     uint32
	lastAddr                     uint64
	stmtAtAddr                   bool
}

// run runs the program from r to its end.
func run(r *bytecursor.Cursor, t *Table, h *header) {
	m := &machine{table: t, h: h}
	m.reset()
	for r.Left() > 0 && r.Err() == nil && len(t.rows) < maxRows {
		op := int(r.U8())
		if op >= h.opcodeBase {
			m.special(op - h.opcodeBase)
			continue
		}
		switch op {
		case 0:
			m.extended(r)
		case lnsCopy:
			m.emit()
		case lnsAdvancePC:
			m.advance(r.ULEB())
		case lnsAdvanceLine:
			m.addLine(r.SLEB())
		case lnsSetFile:
			file := r.ULEB()
			m.fileChanged, m.discriminated = file != m.file, m.discriminator
			m.file = file
		case lnsSetColumn:
			m.col = r.ULEB()
		case lnsNegateStmt:
			m.row.Flags ^= IsStmt
		case lnsSetBasicBlock, lnsSetEpilogueBegin:
		case lnsConstAddPC:
			if h.lineRange != 0 {
				m.advance(uint64((255 - h.opcodeBase) / h.lineRange))
			}
		case lnsFixedAdvancePC:
			m.row.Addr += uint64(r.U16())
			m.opIdx = 0
		case lnsSetPrologueEnd:
			m.row.Flags |= PrologueEnd
		case lnsSetISA:
			r.ULEB()
		default:
			// An unknown opcode: the header contains its number of operands.
			for range h.lengths[op-1] {
				r.ULEB()
			}
		}
	}
	// Drop a sequence without an end.
	t.rows = t.rows[:m.start]
}

func (m *machine) reset() {
	m.row = Row{}
	if m.h.defaultStmt {
		m.row.Flags = IsStmt
	}
	m.file, m.line, m.col, m.opIdx = 1, 1, 0, 0
	m.discriminator, m.discriminated, m.fileChanged = false, false, true
	m.lastLine, m.lastAddr, m.stmtAtAddr = 0, 0, false
	m.start = len(m.table.rows)
}

// advance moves the address by a number of operations (section 6.2.5.1).
func (m *machine) advance(ops uint64) {
	if m.h.maxOps <= 1 {
		m.row.Addr += m.h.minInst * ops
		return
	}
	m.row.Addr += m.h.minInst * ((m.opIdx + ops) / m.h.maxOps)
	m.opIdx = (m.opIdx + ops) % m.h.maxOps
}

func (m *machine) addLine(delta int64) {
	if delta != 0 {
		m.discriminated = m.discriminator
	}
	m.line += delta
}

func (m *machine) special(op int) {
	if m.h.lineRange == 0 {
		return
	}
	m.advance(uint64(op / m.h.lineRange))
	m.addLine(int64(m.h.lineBase + op%m.h.lineRange))
	m.emit()
}

func (m *machine) emit() {
	row := m.row
	row.File = uint32(min(m.file, 1<<32-1))
	if m.line > 0 && m.line < 1<<32 {
		row.Line = uint32(m.line)
	}
	row.Column = uint16(min(m.col, 1<<16-1))
	isStmt := row.Flags&IsStmt != 0
	sameAddr := row.Addr == m.lastAddr
	replaced := m.fileChanged && sameAddr && !isStmt && m.stmtAtAddr
	switch {
	case row.Line == 0:
		// The row does not count: the next one is compared with an earlier row.
	case replaced:
		// Likewise. The statement before it may itself repeat a line.
		row.Flags |= Repeated
	case m.discriminated && !m.fileChanged && row.Line == m.lastLine:
		row.Flags |= Repeated
	default:
		m.lastLine = row.Line
	}
	if !replaced && row.Line != 0 {
		m.fileChanged = false
	}
	m.stmtAtAddr = isStmt || sameAddr && m.stmtAtAddr
	m.lastAddr = row.Addr
	m.table.rows = append(m.table.rows, row)
	m.row.Flags &^= PrologueEnd
	m.discriminator = false
}

func (m *machine) extended(r *bytecursor.Cursor) {
	body := bytecursor.Cursor{Data: r.Block(r.ULEB()), Big: r.Big}
	if body.Left() == 0 {
		return
	}
	switch body.U8() {
	case lneEndSequence:
		m.endSequence()
	case lneSetAddress:
		if n := body.Left(); n == 1 || n == 2 || n == 4 || n == 8 {
			m.row.Addr = body.Uint(n)
		}
		m.opIdx = 0
	case lneSetDiscriminator:
		if body.ULEB() != 0 {
			m.discriminator, m.discriminated = true, true
		}
	}
}

// endSequence keeps the rows of a sequence. It drops sequences of code that the linker has
// discarded: they start at 0 or at the largest addresses.
func (m *machine) endSequence() {
	rows := m.table.rows[m.start:]
	end := m.row.Addr
	keep := len(rows) > 0
	if keep {
		if !slices.IsSortedFunc(rows, byAddr) {
			slices.SortStableFunc(rows, byAddr)
		}
		lo := rows[0].Addr
		keep = lo != 0 && lo < m.table.unit.maxAddr()-1 && end > lo
	}
	if !keep {
		m.table.rows = m.table.rows[:m.start]
	}
	m.reset()
}

func byAddr(a, b Row) int { return cmp.Compare(a.Addr, b.Addr) }
