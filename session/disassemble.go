package session

import (
	"fmt"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"dbg/arch"
	"dbg/symbols"
	"dbg/target"
)

// instruction is an Instruction with the information that stepping needs.
type instruction struct {
	Instruction
	call bool
}

// maxDisassembly limits one query, in instructions.
const maxDisassembly = 100_000

// disassemble decodes count instructions from a on. At the end of readable memory it stops without
// an error. If it can't read any instruction, it returns an error.
func (s *Session) disassemble(a target.Addr, count int) ([]instruction, error) {
	if count > maxDisassembly {
		count = maxDisassembly
	}
	if s.archOrDefault() != arch.AMD64 {
		return nil, fmt.Errorf("disassembly for %s is not supported yet", s.archOrDefault().Name)
	}
	buf := make([]byte, min(count*8+16, 64<<10))
	n, err := s.readMemory(a, buf)
	if n == 0 {
		if err == nil {
			err = &target.MemoryError{Addr: a}
		}
		return nil, err
	}
	buf = buf[:n]
	var out []instruction
	for len(out) < count {
		if len(buf) < 16 {
			more := make([]byte, 64<<10)
			copy(more, buf)
			n, _ := s.readMemory(a+target.Addr(len(buf)), more[len(buf):])
			buf = more[:len(buf)+n]
			if len(buf) == 0 {
				break
			}
		}
		ins := s.decode(a, buf)
		out = append(out, ins)
		a += target.Addr(len(ins.Bytes))
		buf = buf[len(ins.Bytes):]
	}
	return out, nil
}

// decode decodes one x86-64 instruction. An instruction that it can't decode is "(bad)" with a
// length of one byte.
func (s *Session) decode(a target.Addr, code []byte) instruction {
	ins := instruction{Instruction: Instruction{Addr: a}}
	inst, err := x86asm.Decode(code, 64)
	switch {
	case len(code) >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa:
		ins.Bytes, ins.Text = code[:4], "endbr64"
	case err != nil || inst.Len == 0 || inst.Len > len(code):
		ins.Bytes, ins.Text = code[:1], "(bad)"
	default:
		ins.Bytes = code[:inst.Len]
		ins.call = inst.Op == x86asm.CALL
		ins.Text = x86asm.GNUSyntax(inst, uint64(a), func(addr uint64) (string, uint64) {
			name, off, ok := s.symbolize(target.Addr(addr))
			if !ok {
				return "", 0
			}
			return name, addr - off
		})
		// Today's assemblers omit the size suffix where a 64-bit branch has no other size.
		if word, rest, _ := strings.Cut(ins.Text, " "); unsuffixed[word] != "" {
			ins.Text = strings.TrimSpace(unsuffixed[word] + " " + rest)
		}
		// A branch's target is shown as its address and symbol.
		if rel, ok := inst.Args[0].(x86asm.Rel); ok {
			to := a + target.Addr(inst.Len) + target.Addr(int64(rel))
			ins.Text = fmt.Sprintf("%s %s", strings.Fields(ins.Text)[0], s.describe(to))
		}
	}
	ins.Bytes = append([]byte(nil), ins.Bytes...)
	ins.Function, ins.Offset, _ = s.symbolize(a)
	return ins
}

// unsuffixed maps mnemonics to their form without the suffix.
var unsuffixed = map[string]string{"retq": "ret", "callq": "call", "leaveq": "leave", "jmpq": "jmp"}

// describe returns an address with its symbol: 0x401136 <main+4>.
func (s *Session) describe(a target.Addr) string {
	name, off, ok := s.symbolize(a)
	switch {
	case !ok:
		return a.String()
	case off == 0:
		return fmt.Sprintf("%s <%s>", a, name)
	}
	return fmt.Sprintf("%s <%s+%d>", a, name, off)
}

// Disassemble decodes count instructions from a on, with the source position of
// each.
func (s *Session) Disassemble(a target.Addr, count int) ([]Instruction, error) {
	return ask(s, func() ([]Instruction, error) {
		list, err := s.disassemble(a, count)
		if err != nil {
			return nil, err
		}
		return s.withPositions(list), nil
	})
}

func (s *Session) withPositions(list []instruction) []Instruction {
	out := make([]Instruction, len(list))
	for i, ins := range list {
		out[i] = ins.Instruction
		if lr, _, ok := s.position(ins.Addr); ok {
			out[i].Position = lr.Position
		}
	}
	return out
}

// DisassembleFunction decodes the whole function at a.
func (s *Session) DisassembleFunction(a target.Addr) (name string, list []Instruction, err error) {
	err = s.try(func() error {
		lo, hi, fn, ok := s.functionAround(a)
		if !ok {
			return fmt.Errorf("No function contains specified address.") //lint:ignore ST1005 gdb's words
		}
		name = fn
		all, err := s.disassemble(lo, int(min(uint64(hi-lo), maxDisassembly)))
		if err != nil {
			return err
		}
		n := 0
		for n < len(all) && all[n].Addr < hi {
			n++
		}
		list = s.withPositions(all[:n])
		return nil
	})
	return name, list, err
}

// functionAround returns the bounds of the function at a.
func (s *Session) functionAround(a target.Addr) (lo, hi target.Addr, name string, ok bool) {
	var sym *symbols.Module
	conv := func(x uint64) target.Addr { return target.Addr(x) }
	fa := uint64(a)
	if s.tgt == nil {
		sym = s.exeFile
	} else if m := s.modules.find(a); m != nil {
		sym = m.Symbols
		fa = uint64(m.fileAddr(a))
		conv = func(x uint64) target.Addr { return target.Addr(x + m.Bias) }
	}
	if sym == nil {
		return 0, 0, "", false
	}
	fn := sym.FunctionAt(imageAddr(fa))
	if fn == nil || fn.Hi <= fn.Lo {
		return 0, 0, "", false
	}
	return conv(uint64(fn.Lo)), conv(uint64(fn.Hi)), fn.Name, true
}
