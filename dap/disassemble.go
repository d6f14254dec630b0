package dap

import (
	"context"
	"encoding/hex"
	"sort"
	"strings"

	"dbg/session"
	"dbg/target"

	godap "github.com/google/go-dap"
)

// maxInstructions limits one answer, and its distance from the address.
const maxInstructions = 20_000

// instructionBody is godap.DisassembledInstruction with its newer field.
type instructionBody struct {
	godap.DisassembledInstruction
	PresentationHint string `json:"presentationHint,omitempty"`
}

// disassemble returns exactly as many instructions as requested, at an offset in instructions from
// an address. Where memory is unreadable, or the start of instructions is unknown, it returns
// invalid instructions of one byte each.
func (s *server) disassemble(ctx context.Context, args godap.DisassembleArguments) (any, error) {
	a, err := parseMemoryReference(args.MemoryReference, args.Offset)
	if err != nil {
		return nil, err
	}
	count, skip := args.InstructionCount, args.InstructionOffset
	if count < 0 || count > maxInstructions || skip < -maxInstructions || skip > maxInstructions {
		return nil, badArguments("invalid range of %d instructions at the offset %d; at most %d are returned at once", count, skip, maxInstructions)
	}
	var list []session.Instruction
	if skip < 0 {
		list = s.before(ctx, a, -skip)
		list = list[:min(len(list), count)]
	}
	if missing := count - len(list); missing > 0 {
		forward := s.from(a, max(skip, 0)+missing)
		list = append(list, forward[max(skip, 0):]...)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	body := struct {
		Instructions []instructionBody `json:"instructions"`
	}{make([]instructionBody, len(list))}
	last := ""
	for i := range list {
		body.Instructions[i] = s.instruction(&list[i], args.ResolveSymbols, &last)
	}
	return body, nil
}

// invalid represents a byte that is not part of a known instruction.
func invalid(a target.Addr) session.Instruction { return session.Instruction{Addr: a} }

// from returns n instructions from a on.
func (s *server) from(a target.Addr, n int) []session.Instruction {
	list, _ := s.query.Disassemble(a, n)
	for len(list) < n {
		next := a
		if k := len(list); k > 0 {
			next = list[k-1].Addr + target.Addr(max(len(list[k-1].Bytes), 1))
		}
		list = append(list, invalid(next))
	}
	return list
}

// before returns the n instructions before a. Instructions can't be decoded backwards. So each
// function is decoded from its start, as far back as functions are known.
func (s *server) before(ctx context.Context, a target.Addr, n int) []session.Instruction {
	var list []session.Instruction // in falling order
	at := a
	for len(list) < n && at > 0 && ctx.Err() == nil {
		_, fn, err := s.query.DisassembleFunction(at - 1)
		if err != nil || len(fn) == 0 || fn[0].Addr >= at {
			gap := s.padding(at, n-len(list))
			if len(gap) == 0 {
				break
			}
			for i := len(gap) - 1; i >= 0; i-- {
				list = append(list, gap[i])
			}
			at = gap[0].Addr
			continue
		}
		k := sort.Search(len(fn), func(i int) bool { return fn[i].Addr >= at })
		for i := k - 1; i >= 0; i-- {
			list = append(list, fn[i])
		}
		at = fn[0].Addr
	}
	for len(list) < n {
		at--
		list = append(list, invalid(at))
	}
	list = list[:n]
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// maxPadding limits the padding between two functions, in bytes.
const maxPadding = 64

// padding returns at most n instructions between the end of the preceding function and at. It
// returns none if there is no function near.
func (s *server) padding(at target.Addr, n int) []session.Instruction {
	for back := target.Addr(2); back <= maxPadding && back < at; back++ {
		_, fn, err := s.query.DisassembleFunction(at - back)
		if err != nil || len(fn) == 0 {
			continue
		}
		last := fn[len(fn)-1]
		end := last.Addr + target.Addr(len(last.Bytes))
		list, _ := s.query.Disassemble(end, int(at-end))
		k := sort.Search(len(list), func(i int) bool { return list[i].Addr >= at })
		list = list[:k]
		return list[max(0, k-n):]
	}
	return nil
}

// instruction converts an instruction for the client. As the protocol requires, the source is sent
// only where it changes.
func (s *server) instruction(ins *session.Instruction, symbols bool, last *string) instructionBody {
	var out instructionBody
	out.Address = memoryReference(ins.Addr)
	if len(ins.Bytes) == 0 {
		out.Instruction, out.PresentationHint = "??", "invalid"
		return out
	}
	out.Instruction = ins.Text
	text := hex.EncodeToString(ins.Bytes)
	var b strings.Builder
	for i := 0; i < len(text); i += 2 {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text[i : i+2])
	}
	out.InstructionBytes = b.String()
	if symbols && ins.Offset == 0 {
		out.Symbol = ins.Function
	}
	if p := ins.Position; p.Line > 0 && p.File != "" {
		if p.File != *last {
			out.Location = s.sourceOf(p.File)
			*last = p.File
		}
		out.Line = s.client.line(p.Line)
		if p.Column > 0 {
			out.Column = s.client.column(p.Column)
		}
	}
	return out
}
