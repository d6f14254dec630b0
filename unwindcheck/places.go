package unwindcheck

import (
	"dbg/frames"
	"dbg/target"
)

// place is the information about one address of code.
type place struct {
	pc        uint64
	in        instruction
	code      [16]byte
	codeLen   int // the readable part of code
	size      int // of the instruction; 0 until it was executed
	predicted int // the number of correct predictions; see predict
	module    *module
	decoded   bool
	volatile  bool // not in a file's memory: the code may change
	skip      bool // not in a file or a function that is judged
	looked    bool // row is set
	row       rowKey
	lost      uint8 // the calleeSaved registers that the row marks as undefined
	right     uint64
	wrong     uint64
	rejected  uint64 // a wrong row, which the unwinder did not use
	nowhere   uint64 // no caller was found
}

// rowKey identifies a row of a table.
type rowKey struct {
	module *frames.Module
	table  string
	entry  uint64
	lo     uint64
}

const pageSize = 4096

// places holds a place for each address that was executed.
type places struct {
	pages map[uint64]*[pageSize]*place
	last  *[pageSize]*place
	at    uint64
}

// get returns the place of an address.
func (p *places) get(pc uint64) *place {
	page := pc / pageSize
	if p.last == nil || p.at != page {
		p.last, p.at = p.pages[page], page
		if p.last == nil {
			p.last = new([pageSize]*place)
			p.pages[page] = p.last
		}
	}
	pl := p.last[pc%pageSize]
	if pl == nil {
		pl = &place{pc: pc}
		p.last[pc%pageSize] = pl
	}
	return pl
}

// between reports whether an address between two others was executed and is correct.
func (p *places) between(lo, hi uint64) bool {
	for pc := lo + 1; pc < hi; pc++ {
		if pc%pageSize == 0 && p.pages[pc/pageSize] == nil {
			pc += pageSize - 1
			continue
		}
		if pl := p.pages[pc/pageSize][pc%pageSize]; pl != nil && pl.right > 0 && pl.wrong == 0 {
			return true
		}
	}
	return false
}

// forget drops the information about code in a range that was mapped again. It keeps the counts.
func (p *places) forget(lo, hi uint64) {
	for page, list := range p.pages {
		if page < lo/pageSize || page > (hi-1)/pageSize {
			continue
		}
		for _, pl := range list {
			if pl != nil {
				pl.decoded, pl.looked = false, false
			}
		}
	}
}

// place returns the updated place at pc.
func (c *checker) place(pc uint64) *place {
	pl := c.places.get(pc)
	if pl.decoded && !pl.volatile {
		return pl
	}
	before := pl.code
	n, _ := c.space.ReadMemory(target.Addr(pc), pl.code[:])
	if pl.decoded && pl.code != before {
		c.space.CodeChanged() // other code was generated there
	}
	pl.codeLen = max(n, 0)
	pl.in = decode(pl.code[:pl.codeLen], pc)
	if !pl.decoded {
		pl.size, pl.predicted = 0, 0
		pl.decoded, pl.volatile = true, !c.space.isFile(target.Addr(pc))
		pl.module = c.space.module(target.Addr(pc))
		pl.skip = !c.wanted(pl)
	}
	return pl
}

// look finds the row that covers a place.
func (c *checker) look(pl *place) {
	pl.looked, pl.lost, pl.row = true, 0, rowKey{}
	o, err := c.unwinder.Origin(target.Addr(pl.pc), true)
	if err != nil {
		return
	}
	pl.row = rowKey{o.Module, o.Table, o.Row.Source, o.Row.Lo}
	for i, reg := range calleeSaved {
		if undefined(&o, reg) {
			pl.lost |= 1 << i
		}
	}
	c.rows[pl.row] = struct{}{}
	c.entries[rowKey{o.Module, o.Table, o.Row.Source, 0}] = struct{}{}
}
