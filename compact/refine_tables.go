package compact

import (
	"encoding/binary"

	"dbg/arch"
	"dbg/code/flow"
)

// Limits of jump tables.
const (
	maxTables = 64   // per function
	maxCases  = 4096 // per table
)

// data is a range of addresses in a function without code.
type data struct{ lo, hi uint64 }

// followTables follows the cases of x86-64's jump tables, in the state of the jump. Such a table
// is in the text, with one word per case: the distance of the case from the table. The code takes
// the table's address relative to RIP (lea table(%rip), reg; movslq (reg,index,4), case; add reg,
// case; jmp *case). The words of the table are not code.
func (w *worker) followTables() {
	w.data = w.data[:0]
	if w.x.t.arch != arch.AMD64 {
		return
	}
	for len(w.data) < maxTables && len(w.flow.Jumps()) > 0 {
		table, at, ok := w.nextTable()
		if !ok {
			return
		}
		jump := w.jumpBehind(at)
		w.data = append(w.data, data{table, table})
		d := &w.data[len(w.data)-1]
		if jump == nil {
			continue
		}
		for range maxCases {
			off := d.hi - w.out.lo
			if off+4 > uint64(len(w.text)) || d.hi > table && w.flow.Number(d.hi) >= 0 {
				break
			}
			to := table + uint64(int64(int32(binary.LittleEndian.Uint32(w.text[off:]))))
			if to-w.out.lo >= uint64(len(w.text)) || d.lo <= to && to < d.hi+4 {
				break
			}
			w.flow.Follow(to, jump.State)
			d.hi += 4
		}
	}
}

// nextTable finds an instruction, from at on, that takes an address in the function to which no
// code leads, and which is not known yet.
func (w *worker) nextTable() (table, at uint64, ok bool) {
	lo := w.out.lo
	w.flow.Each(func(pc uint64, size, n int) bool {
		b := w.text[pc-lo:]
		if size != 7 || len(b) < 7 || b[0]&0xfb != 0x48 || b[1] != 0x8d || b[2]&0xc7 != 5 {
			return true
		}
		to := pc + 7 + uint64(int64(int32(binary.LittleEndian.Uint32(b[3:]))))
		if to-lo >= uint64(len(w.text)) || w.flow.Number(to) >= 0 {
			return true
		}
		for _, d := range w.data {
			if d.lo == to {
				return true
			}
		}
		table, at, ok = to, pc, true
		return false
	})
	return table, at, ok
}

// jumpBehind returns the first jump with an unknown target after an address, or else any such
// jump.
func (w *worker) jumpBehind(pc uint64) *flow.Seen {
	var best *flow.Seen
	jumps := w.flow.Jumps()
	for i := range jumps {
		if j := &jumps[i]; best == nil || j.PC >= pc && (best.PC < pc || j.PC < best.PC) {
			best = j
		}
	}
	return best
}

// dataAt returns the end of the data at an address, or the address itself if it is not data.
func (w *worker) dataAt(pc uint64) uint64 {
	for _, d := range w.data {
		if d.lo <= pc && pc < d.hi {
			return d.hi
		}
	}
	return pc
}
