package symbols

import (
	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/types"
)

// DeclaredType returns the type with which a variable of another file is declared ("extern char **environ;"): in the
// unit that has the code at an address, or, with at 0, in any. nil if it isn't.
func (m *Module) DeclaredType(name string, at image.Addr) *types.Type {
	d := m.dwarf()
	if d == nil || name == "" {
		return nil
	}
	if at != 0 {
		if fn := m.functionAt(at); fn != nil {
			return m.declaredIn(fn.u.dw, name)
		}
		return nil
	}
	units, ok := d.UnitsNaming(name, false, func(t dwarf.Tag) bool { return t == dwarf.TagVariable })
	if !ok {
		return nil
	}
	for _, u := range units {
		if m.cancelled() {
			return nil
		}
		if t := m.declaredIn(u.Full(), name); t != nil {
			return t
		}
	}
	return nil
}

// declaredIn looks for the declaration among what is outermost in a unit.
func (m *Module) declaredIn(u *dwarf.Unit, name string) *types.Type {
	c, err := u.Cursor(u.First)
	if err != nil || !c.Next() || !c.Children() {
		return nil
	}
	for c.Next() {
		if c.Tag() == dwarf.TagVariable && c.Has()&dwarf.HasDeclaration != 0 && string(c.Name()) == name {
			if e, err := u.Entry(c.Offset()); err == nil {
				return m.types.Of(e)
			}
		}
		c.Skip()
	}
	return nil
}

// Linkage returns the linker's name of a variable that other files can use; "" for one that they can't.
func (v *Variable) Linkage() string {
	if v.impl == nil || v.impl.fn != nil {
		return ""
	}
	e := v.impl.e
	if o := entry.Inherited(e, dwarf.AttrExternal); o == nil || !o.Flag(dwarf.AttrExternal) {
		return ""
	}
	if o := entry.Inherited(e, dwarf.AttrLinkageName); o != nil {
		if name, ok := o.String(dwarf.AttrLinkageName); ok {
			return name
		}
	}
	return entry.Name(e)
}
