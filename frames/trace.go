package frames

import (
	"encoding/binary"

	"dbg/row/compiled"
	"dbg/target"
)

// Trace is like Frames, but reports only where control is: it writes the LookupPC of each frame to
// pcs, innermost first, and returns the number of frames that it wrote, at most len(pcs). The
// frames are the same as those of Frames. End is complete if pcs was not filled.
func (w *Walk) Trace(pcs []target.Addr) int {
	w.reset()
	defer w.release()
	if _, known := w.start.PC(); !known {
		w.end = End{Reason: NoCaller, Attempts: []Attempt{{Context, "the program counter is not known"}}}
		return 0
	}
	for n := 0; n < len(pcs); {
		pcs[n] = w.frame.LookupPC()
		if n++; n == len(pcs) || !w.tryQuick() && !w.find() {
			return n
		}
		w.commit()
		n += w.advance(pcs[n:])
	}
	return len(pcs)
}

// advance moves the walk up as far as follow can, but not to the last wanted frame.
func (w *Walk) advance(pcs []target.Addr) int {
	f := &w.frame
	if !f.Regs.IsKnown(w.u.arch.SP) { // moved has to check more then
		return 0
	}
	s := w.next
	most := min(len(pcs), w.u.DepthLimit-f.Index) - 1
	if s == nil || !s.isPlainly(w) || most <= 0 {
		return 0
	}
	s, n := w.follow(s, pcs[:most])
	if n > 0 {
		f.Index += n
		f.PC, f.PCIsReturnAddress = s.pc, true
		w.next = s
	}
	return n
}

// follow advances from a frame at s while no decision is needed: the rules are near plans, the
// memory that they read is in the window, the stack pointer rises, and each return address was seen
// at this place before and follows a call. It writes the address of each frame, s first, to pcs. It
// changes only the registers, and returns the site that it has reached and the number of frames.
func (w *Walk) follow(s *site, pcs []target.Addr) (*site, int) {
	regs, win := &w.frame.Regs, &w.stack.blocks[w.stack.last&1].Window
	epoch, low, b, base := w.epoch, regs.Low(), win.Data, win.Addr
	known := low.Known
	sp, _ := regs.SP()
	n := 0
	for ; n < len(pcs) && s.plain; n++ {
		p := &s.plan.Near
		if !p.OK || known>>(p.CFAReg&63)&1 == 0 {
			break
		}
		cfa := low.Value[p.CFAReg&63] + uint64(int64(p.CFAOff))
		at := int(cfa + uint64(int64(p.Lo)) - base)
		if cfa <= sp || at < 0 || at > len(b)-compiled.NearSpan {
			break
		}
		mem := (*[compiled.NearSpan]byte)(b[at : at+compiled.NearSpan])
		pc := target.Addr(binary.LittleEndian.Uint64(mem[p.RA:]))
		next := s.caller
		if next == nil || next.pc != pc || next.epoch != epoch || !next.called {
			if next = s.other; next == nil || next.pc != pc || next.epoch != epoch || !next.called {
				break
			}
		}
		p.RestoreFirst(low, mem)
		p.RestoreLast(low, mem, uint64(pc), cfa)
		known = known&p.Keep | p.Set
		pcs[n] = s.lookup()
		s, sp = next, cfa
	}
	if n > 0 {
		low.Known = known
		regs.KeepLow()
	}
	return s, n
}
