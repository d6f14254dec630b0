package session

import (
	"fmt"

	"dbg/code/disasm"
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
	if !disasm.Supports(s.archOrDefault()) {
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

// decode decodes one instruction. If code ends within the instruction, it is "(bad)" with a length of
// one byte.
func (s *Session) decode(a target.Addr, code []byte) instruction {
	options := disasm.Options{Symbol: s.symbolAndOffset}
	if s.intelSyntax {
		options.Syntax = disasm.Intel
	}
	in := disasm.Decode(s.archOrDefault(), code, uint64(a), options)
	if in.Len == 0 {
		in.Len, in.Text = 1, "(bad)"
	}
	ins := instruction{Instruction: Instruction{Addr: a, Text: in.Text}, call: in.IsCall}
	ins.Bytes = append([]byte(nil), code[:in.Len]...)
	ins.Function, ins.Offset, _ = s.symbolize(a)
	return ins
}

// SetIntelSyntax chooses the notation of x86 instructions: Intel's or AT&T's.
func (s *Session) SetIntelSyntax(on bool) { s.do(func() { s.intelSyntax = on }) }

// IntelSyntax returns the present setting.
func (s *Session) IntelSyntax() (on bool) {
	s.do(func() { on = s.intelSyntax })
	return on
}

// symbolAndOffset is symbolize for package disasm.
func (s *Session) symbolAndOffset(addr uint64) (name string, off uint64, ok bool) {
	return s.symbolize(target.Addr(addr))
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
