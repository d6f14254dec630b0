package remote

import (
	"dbg/arch"
	"dbg/frames/machine"
	"dbg/target"
)

// mostGuesses limits the pages that one read of the stack asks for because of its words, and mostWords the
// words that are looked at.
const (
	mostGuesses = 64
	mostWords   = 8192
)

// wantStart asks for what a walk from these registers needs first: the stack, the code at PC if no file has
// it, and what tells the goroutine of a thread of Go. The caller holds p.mu.
func (p *Process) wantStart(regs *arch.Registers) {
	if sp, known := regs.SP(); known {
		at := target.Addr(sp)
		if below := target.Addr(sp - redZone); p.space.Mapping(below) == p.space.Mapping(at) {
			at = below
		}
		if !p.unmapped(at) {
			p.wantStack(at&^(pageSize-1), p.mem.opt.Ahead)
		}
	}
	a := p.cfg.Arch
	for _, r := range []arch.Reg{a.PC, a.LR} {
		if v, known := regs.Get(r); r != arch.NoReg && known {
			p.wantCodeAt(target.Addr(v), machine.Of(a))
		}
	}
	if a == arch.AMD64 && p.hasGo() {
		const storage = 1024 // of the thread: frames/goroutine looks at so many bytes
		if g, known := regs.Get(arch.R14); known && !p.unmapped(target.Addr(g)) {
			p.mem.want(target.Addr(g), 64, ahead, 0)
		}
		if fs, known := regs.Get(arch.FSBase); known && fs > storage && !p.unmapped(target.Addr(fs-storage)) {
			p.mem.want(target.Addr(fs-storage), storage, ahead, 0)
		}
	}
}

func (p *Process) hasGo() bool {
	for _, im := range p.space.Images() {
		if im.Module.IsGo() {
			return true
		}
	}
	return false
}

// wantStack asks for pages of a stack from an address on, as far as they are mapped.
func (p *Process) wantStack(addr target.Addr, pages int) {
	size := uint64(pages) * pageSize
	if m := p.space.Mapping(addr); m != nil {
		size = min(size, uint64(m.Hi-addr))
	} else {
		size = pageSize
	}
	p.mem.want(addr, size, ahead, 0)
}

// wantCode looks for return addresses in words of the stack, and asks for what a walk reads at those.
// scanned is where the last search has ended.
func (p *Process) wantCode(addr target.Addr, stack []byte, scanned *uint64) {
	a := p.cfg.Arch
	size := uint64(a.PtrSize)
	from := max(uint64(addr), *scanned)
	end := uint64(addr) + uint64(len(stack))
	if from >= end {
		return
	}
	*scanned = end
	m, guesses := machine.Of(a), 0
	words := stack[from-uint64(addr):]
	for i := 0; i < mostWords && uint64(len(words)) >= size && guesses < mostGuesses; i++ {
		var v uint64
		if size == 8 {
			v = a.ByteOrder.Uint64(words)
		} else {
			v = uint64(a.ByteOrder.Uint32(words))
		}
		words = words[size:]
		if v >= pageSize && p.wantCodeAt(target.Addr(v), m) {
			guesses++
		}
	}
}

// wantCodeAt asks for what a walk reads if v is a return address: the code there, if no file has it, or the
// slot through which the call goes, which shows whether the call calls what the table says. It reports
// whether it has asked for something.
func (p *Process) wantCodeAt(v target.Addr, m *machine.Machine) bool {
	const before, stub = 8, 16
	if !p.space.Executable(v - 1) {
		return false
	}
	mod := p.space.FindModule(v - 1)
	if mod == nil {
		if p.unmapped(v - before) {
			p.mem.want(v, stub, ahead, 0)
		} else {
			p.mem.want(v-before, before+stub, ahead, 0)
		}
		return true
	}
	b := mod.CodeAt(uint64(v)-mod.Bias()-before, before)
	if b == nil || m == nil {
		return false
	}
	slot := target.Addr(0)
	if m.CallSlot != nil {
		slot = m.CallSlot(b, v)
	}
	if to := m.DirectCall(b, v); slot == 0 && to != 0 && m.StubSlot != nil {
		if code := mod.CodeAt(uint64(to)-mod.Bias(), stub); code != nil {
			slot = m.StubSlot(code, to)
		}
	}
	var buf [8]byte
	if slot == 0 || p.unmapped(slot) || p.fromFile(slot, buf[:p.cfg.Arch.PtrSize]) > 0 {
		return false
	}
	p.mem.want(slot, uint64(p.cfg.Arch.PtrSize), ahead, 0)
	return true
}
