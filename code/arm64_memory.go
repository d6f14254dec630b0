package code

// loadStore decodes C4.1.94, loads and stores.
func (in *Insn) loadStore(w uint32) {
	rt := w & 31
	vector := w>>26&1 != 0
	switch w >> 27 & 7 {
	case 5:
		in.pair(w)
	case 7:
		in.single(w)
	case 3:
		switch {
		case w>>24&1 == 0: // LDR of a literal, PRFM
			if vector {
				in.killV(rt)
			} else if w>>30 != 3 {
				in.killX(rt)
			}
		case w>>21&1 != 0: // tags: STG, LDG
			in.killX(rt)
			if w>>10&1 != 0 {
				in.Kills |= 1 << (w >> 5 & 31)
			}
		case w>>10&3 == 0: // LDAPUR, STLUR
			if w>>22&3 != 0 {
				in.killX(rt)
			}
		default: // CPY, SET
			in.killX(rt)
			in.killX(w >> 5 & 31)
			in.killX(w >> 16 & 31)
		}
	case 1:
		if vector {
			in.structures(w)
		} else {
			in.exclusive(w)
		}
	}
}

// pair decodes LDP and STP.
func (in *Insn) pair(w uint32) {
	rt, rt2 := uint8(w&31), uint8(w>>10&31)
	load := w>>22&1 != 0
	size := uint8(4) << (w >> 31)
	if w>>26&1 != 0 {
		size = 4 << (w >> 30)
	}
	in.Base, in.Imm = uint8(w>>5&31), int32(w<<10)>>25*int32(size)
	switch w >> 23 & 3 {
	case 1:
		in.Wrap = Post
	case 3:
		in.Wrap = Pre
	}
	in.Op, in.Size = Store, size
	if load {
		in.Op = Load
	}
	if w>>26&1 != 0 {
		in.transfer(load, size >= 8, rt+D0, rt2+D0)
	} else {
		in.transfer(load, w>>30 == 2, rt, rt2)
	}
}

// transfer sets the registers of a load or a store. A partial register can't be tracked: loading
// it destroys it.
func (in *Insn) transfer(load, whole bool, rt, rt2 uint8) {
	for i, r := range [2]uint8{rt, rt2} {
		switch {
		case r == None || r == 31:
			r = None
		case whole:
		case load && r < 32:
			in.Kills |= 1 << r
			r = None
		default:
			if load && r != None {
				in.killV(uint32(r - D0))
			}
			r = None
		}
		if first := i == 0; first == load {
			in.Dst = r
		} else {
			in.Src = r
		}
	}
}

// single decodes LDR and STR of one register, and other instructions in their encoding space.
func (in *Insn) single(w uint32) {
	rt, rn := uint8(w&31), uint8(w>>5&31)
	vector := w>>26&1 != 0
	size, opc := w>>30, w>>22&3
	load, whole, scale := opc != 0, size == 3, size
	if vector {
		rt += D0
		if load = opc&1 != 0; opc >= 2 {
			scale, whole = 4, true // Q
		}
	} else if size == 3 && opc == 2 { // PRFM
		if w>>24&1 == 0 && w>>21&1 == 0 && w>>10&3&1 != 0 {
			in.Kills = 1 << rn
		}
		return
	}
	if !vector && opc >= 2 {
		whole = false
	}
	in.Base, in.Size, in.Op = rn, 8, Store
	if load {
		in.Op = Load
	}
	switch {
	case w>>24&3 == 1:
		in.Imm = int32(w>>10&0xfff) << scale
	case w>>24&3 != 0:
		in.Op, in.Base, in.Next = Nothing, None, Bad
		return
	case w>>21&1 == 0:
		in.Imm = int32(w<<11) >> 23
		switch w >> 10 & 3 {
		case 1:
			in.Wrap = Post
		case 3:
			in.Wrap = Pre
		}
	default: // unknown addresses: with a register offset, authenticated; and atomic operations
		in.Op, in.Base = Nothing, None
		switch {
		case w>>10&1 != 0 && !vector: // LDRAA
			in.killX(uint32(rt))
			if w>>11&1 != 0 {
				in.Kills |= 1 << rn
			}
		case w>>10&3 == 0:
			in.killX(uint32(rt) & 31)
		case load && vector:
			in.killV(uint32(rt - D0))
		case load:
			in.killX(uint32(rt))
		}
		return
	}
	in.transfer(load, whole, rt, None)
}

// exclusive decodes LDXR, STXR, LDAR, STLR and CAS. Every register that they may write is
// destroyed.
func (in *Insn) exclusive(w uint32) {
	in.killX(w >> 16 & 31) // the status, or the old value in memory; 31 (XZR) discards it
	pair := w>>21&1 != 0 && w>>23&1 == 0
	if w>>22&1 != 0 {
		in.killX(w & 31)
		if pair {
			in.killX(w >> 10 & 31)
		}
	}
	if pair && w>>31 == 0 && w>>16&31 != 31 {
		in.killX(w>>16&31 + 1) // CASP
	}
}

// structures decodes LD1 to LD4 and ST1 to ST4.
func (in *Insn) structures(w uint32) {
	if w>>23&1 != 0 {
		in.Kills |= 1 << (w >> 5 & 31)
	}
	if w>>22&1 != 0 {
		for i := range uint32(4) {
			in.killV((w + i) & 31)
		}
	}
}
