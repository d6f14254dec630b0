package symbols

import (
	"dbg/dwarf"
	"dbg/symbols/entry"
)

// block is a part of a function that has addresses or variables of its own:
// the function, a lexical block, or an inlined call.
type block struct {
	fn       *function // the function proper
	parent   *block
	off      uint64
	inlined  bool
	ranges   []dwarf.Range
	kids     []*block
	vars     []uint64 // parameters and variables, in order
	symbols  bool     // it declares something; gdb has no blocks that do not
	callFile uint64
	callLine int
	callCol  int
	call     *function // of an inlined call, made on first use
}

func (b *block) has(a uint64) bool {
	for _, r := range b.ranges {
		if r.Lo <= a && a < r.Hi {
			return true
		}
	}
	return false
}

// body returns the function's outermost block, with all below it.
func (fn *function) body() *block {
	if fn.root != nil {
		return fn.root
	}
	root := &block{fn: fn, off: fn.off, ranges: fn.ranges, symbols: true}
	fn.root = root
	e, err := fn.u.dw.Entry(fn.off)
	if err != nil {
		return root
	}
	// stack[d] is the block that entries of depth d are in; nil for those that
	// are of no interest.
	stack := []*block{nil, root}
	e.Walk(func(c *dwarf.Entry, depth int) bool {
		stack = stack[:depth+1]
		in := stack[depth]
		switch c.Tag {
		case dwarf.TagFormalParameter, dwarf.TagVariable:
			in.vars = append(in.vars, c.Offset)
			in.symbols = true
		case dwarf.TagLexicalBlock, dwarf.TagInlinedSubroutine:
			if c.Tag == dwarf.TagInlinedSubroutine {
				in.symbols = true
			}
			b := newBlock(fn, in, c)
			if fn.u.ranges += len(b.ranges); len(b.ranges) == 0 || fn.u.ranges > entry.MaxUnitRanges || depth > entry.MaxNesting {
				// An abstract block, or code that is gone.
				return false
			}
			in.kids = append(in.kids, b)
			stack = append(stack, b)
			return true
		case dwarf.TagCallSite, dwarf.TagGNUCallSite, dwarf.TagSubprogram, dwarf.TagUnspecifiedParams, dwarf.TagTemplateType,
			dwarf.TagTemplateValue, dwarf.TagImportedModule, dwarf.TagImportedDeclaration:
		default:
			in.symbols = true // a type or a label
		}
		return false
	}, nil)
	return root
}

func newBlock(fn *function, parent *block, e *dwarf.Entry) *block {
	b := &block{fn: fn, parent: parent, off: e.Offset, inlined: e.Tag == dwarf.TagInlinedSubroutine}
	b.ranges, _ = e.Ranges()
	if b.inlined {
		b.symbols = true
		b.callFile, _ = e.Uint(dwarf.AttrCallFile)
		line, _ := e.Uint(dwarf.AttrCallLine)
		col, _ := e.Uint(dwarf.AttrCallColumn)
		b.callLine, b.callCol = entry.SourceLine(line), entry.SourceLine(col)
	}
	return b
}

// at returns the innermost block that has an address: b or one below it.
func (b *block) at(a uint64) *block {
	for {
		var next *block
		for _, k := range b.kids {
			// Siblings do not overlap but in Go, which gives a function's block also the code of
			// calls of closures and of the function itself that were inlined: the call is right.
			if (next == nil || k.inlined && !next.inlined) && k.has(a) {
				next = k
			}
		}
		if next == nil {
			return b
		}
		b = next
	}
}

// find returns the block below b whose entry is at an offset, nil if there is none.
func (b *block) find(off uint64) *block {
	for i := len(b.kids) - 1; i >= 0; i-- {
		// They are in the order of the file: it is the last one that does not begin after off, or below that one.
		if k := b.kids[i]; k.off == off {
			return k
		} else if k.off < off {
			return k.find(off)
		}
	}
	return nil
}

// function returns what the block is a part of: the innermost inlined call
// that it is in, or the function proper.
func (b *block) function() *function {
	for ; b.parent != nil; b = b.parent {
		if b.inlined {
			if b.call == nil {
				b.call = &function{u: b.fn.u, off: b.off, ranges: b.ranges, inline: b, root: b}
			}
			return b.call
		}
	}
	return b.fn
}
