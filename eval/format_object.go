package eval

import (
	"strings"

	"dbg/symbols/types"
	"dbg/target"
)

// dynamic replaces the outermost value of a text by the complete object, and writes the class of the
// object before it, as gdb does: "(Derived) {...}".
func (p *printer) dynamic(v Value) Value {
	d, ok := dynamicValue(v, p.env)
	if !ok {
		return v
	}
	if kindOf(d.Type) == types.Struct && p.raw() {
		p.str("(" + d.Type.Strip().String() + ") ")
	}
	return d
}

// maxVtable bounds the functions of one virtual table that are shown.
const maxVtable = 1000

// vtable writes the functions of the table that a _vptr member points to: "set print vtbl".
func (p *printer) vtable(v Value, class *types.Type) {
	vptr := load(v, p.env)
	n := VirtualFunctions(class)
	if vptr.Avail != Available || !isIntegral(vptr.Type) || n == 0 {
		return
	}
	finder, ok := p.env.(VtableFinder)
	a := target.Addr(integerOf(vptr))
	if !ok || finder.VtableClass(a) == nil {
		return // it is not a table, so its contents are not functions
	}
	p.str(" {")
	for i := range n {
		if i > 0 {
			p.str(", ")
		}
		if i >= p.opt.MaxElements || p.full() {
			p.str("...")
			break
		}
		f, ok := readWord(a+target.Addr(i*p.env.Arch().PtrSize), p.env)
		if !ok {
			p.str("<error: " + cannotAccess(nil, a).Error() + ">")
			break
		}
		p.address(target.Addr(f))
	}
	p.str("}")
}

// VirtualFunctions returns how many functions the virtual table of a class has at least: those that
// the class and the bases whose table it shares declare. A destructor takes two places (Itanium C++
// ABI, section 2.5.2).
func VirtualFunctions(class *types.Type) int { return min(virtualFunctions(class), maxVtable) }

func virtualFunctions(class *types.Type) int {
	slots := map[uint64]bool{}
	destructor := addSlots(slots, class, 0)
	n := 0
	for s := range slots {
		n = max(n, int(s)+1)
	}
	if destructor && len(slots) == n {
		n += 2 // gcc does not tell its place: it is in a gap, or the last
	}
	return n
}

// addSlots adds the places of the virtual functions in the table of a class, and reports whether the
// class has a virtual destructor whose place is not known.
func addSlots(slots map[uint64]bool, class *types.Type, depth int) (destructor bool) {
	if depth > maxBaseDepth || kindOf(class) != types.Struct {
		return false
	}
	t := class.Strip()
	for _, m := range t.Methods() {
		isDestructor := strings.HasPrefix(m.Name, "~")
		switch {
		case m.HasSlot && m.Slot < maxVtable:
			slots[m.Slot] = true
			if isDestructor {
				slots[m.Slot+1] = true
			}
		case m.Virtual && isDestructor:
			destructor = true
		}
	}
	for _, f := range t.Fields() {
		if f.Base && !f.Virtual && f.Offset == 0 && isDynamic(f.Type) {
			destructor = addSlots(slots, f.Type, depth+1) || destructor
		}
	}
	return destructor
}
