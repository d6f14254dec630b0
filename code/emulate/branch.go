package emulate

import "fmt"

// holds reports whether a condition holds: SDM volume 2, appendix B.1.4.7. The lowest bit negates
// it.
func holds(cond uint8, flags uint64) bool {
	var met bool
	switch cond >> 1 {
	case 0: // O
		met = flags&flagOF != 0
	case 1: // B
		met = flags&flagCF != 0
	case 2: // E
		met = flags&flagZF != 0
	case 3: // BE
		met = flags&(flagCF|flagZF) != 0
	case 4: // S
		met = flags&flagSF != 0
	case 5: // P
		met = flags&flagPF != 0
	case 6: // L
		met = (flags&flagSF != 0) != (flags&flagOF != 0)
	case 7: // LE
		met = flags&flagZF != 0 || (flags&flagSF != 0) != (flags&flagOF != 0)
	}
	return met != (cond&1 != 0)
}

// userLimit is the end of the addresses that are canonical and a program's, with 4-level paging.
// With 5-level paging there are more, but a jump to them is left to the processor.
const userLimit = 1 << 47

// branch executes a jump, a call or a return and gives the next RIP.
func (o *Op) branch(r *Regs, m Memory) (uint64, error) {
	next := r.RIP + uint64(o.length)
	target, err := o.target(r, m, next)
	if err != nil {
		return 0, err
	}
	if target >= userLimit {
		return 0, fmt.Errorf("emulate: jump from %#x to %#x, outside of the program's addresses", r.RIP, target)
	}
	switch o.kind {
	case call:
		top := r.GPR[rsp] - 8
		if err := store(m, top, 8, next); err != nil {
			return 0, err
		}
		r.GPR[rsp] = top
	case ret:
		r.GPR[rsp] += 8 + o.imm&0xffff
	}
	return target, nil
}

// target returns where the branch goes; next is the address after it.
func (o *Op) target(r *Regs, m Memory, next uint64) (uint64, error) {
	taken := true
	switch o.kind {
	case ret:
		return load(m, r.GPR[rsp], 8)
	case jcc:
		taken = holds(o.cond, r.Flags)
	case jrcxz:
		count := r.GPR[rcx]
		if o.addr32 {
			count = uint64(uint32(count))
		}
		taken = count == 0
	}
	switch {
	case !taken:
		return next, nil
	case o.dst == distance:
		return next + o.imm, nil
	}
	return o.read(r, m, o.dst, 8)
}
