package types

import (
	"bytes"
	"strconv"
	"strings"

	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
)

// rustTypes are the types of a file's trait objects by the addresses of their vtables.
type rustTypes struct {
	vtables map[uint64]entry.Ref
	minor   int // of rustc 1.x; 0: not known
}

const (
	opAddr         = 0x03 // DW_OP_addr
	maxRustVtables = 1 << 20
)

// RustType returns the type whose vtable for some trait is at an address of the file. It returns
// nil if the debug information has no such vtable, or if several types share it.
//
// rustc describes a vtable as a variable "<T as Trait>::{vtable}", whose type has the attribute
// DW_AT_containing_type: T.
func (r *Reader) RustType(a image.Addr) *Type {
	at, ok := r.trait().vtables[uint64(a)]
	if !ok || at.Unit == nil {
		return nil
	}
	return r.At(at)
}

// RustVersion returns x of the compiler rustc 1.x that has made the file; 0 if it is not known.
func (r *Reader) RustVersion() int { return r.trait().minor }

// trait goes over the variables of all units of Rust, once.
func (r *Reader) trait() *rustTypes {
	if r.rustTypes != nil {
		return r.rustTypes
	}
	found := &rustTypes{vtables: map[uint64]entry.Ref{}}
	r.rustTypes = found
	data := r.finder.DebugInfo()
	if data == nil {
		return found
	}
	units, err := data.Units()
	if err != nil {
		return found
	}
	for _, du := range units {
		u := du.Full()
		if r.scopes.Lang(u) != lang.Rust {
			continue
		}
		if found.minor == 0 {
			found.minor = rustMinor(u.Root().Producer)
		}
		c, err := u.Cursor(u.First)
		if err != nil || !c.Next() || !c.Children() {
			continue
		}
		for c.Next() && len(found.vtables) < maxRustVtables {
			if c.Tag() == dwarf.TagVariable && bytes.HasSuffix(c.Name(), []byte("{vtable}")) {
				found.add(&c, u)
			}
			c.Skip()
		}
		u.Release()
	}
	return found
}

// add notes a vtable.
func (f *rustTypes) add(c *dwarf.Cursor, u *dwarf.Unit) {
	var at dwarf.Value
	off, ok := c.InUnit(dwarf.AttrType)
	if !ok || !c.Value(dwarf.AttrLocation, &at) || len(at.Block) != 9 || at.Block[0] != opAddr {
		return
	}
	a := uint64(0)
	for i, b := range at.Block[1:] {
		a |= uint64(b) << (8 * i)
	}
	e, err := u.Entry(off)
	if err != nil || a == 0 {
		return
	}
	unit, class, ok := e.RefOffset(dwarf.AttrContainingType)
	if !ok {
		return
	}
	ref := entry.Ref{Unit: unit, Off: class}
	if was, have := f.vtables[a]; have && !sameName(was, ref) {
		ref = entry.Ref{} // one table of two types: they are alike
	}
	f.vtables[a] = ref
}

// sameName reports whether two entries have the same own name: the same type in two units.
func sameName(a, b entry.Ref) bool {
	if a == b {
		return true
	}
	if a.Unit == nil || b.Unit == nil {
		return false
	}
	x, err1 := a.Unit.Entry(a.Off)
	y, err2 := b.Unit.Entry(b.Off)
	return err1 == nil && err2 == nil && bytes.Equal(x.Bytes(dwarf.AttrName), y.Bytes(dwarf.AttrName))
}

// rustMinor parses "clang LLVM (rustc version 1.95.0 (59807616e 2026-04-14))".
func rustMinor(producer string) int {
	_, rest, _ := strings.Cut(producer, "rustc version 1.")
	digits, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
