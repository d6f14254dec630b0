package module

import (
	"fmt"

	"dbg/arch"
	"dbg/cfi"
	"dbg/dyninfo"
	"dbg/registry"
	"dbg/target"
)

// maxRegistered limits the functions of one entry that a program registered.
const maxRegistered = 1 << 16

// OfRegisteredFrames makes a module from call frame information that a program registered with
// __register_frame. Its addresses are those of the process. The module has the strategy JIT. covered has
// the code of the entry, function by function, by ascending address of the entries in memory. The data is
// read now, as the program may free it later.
func OfRegisteredFrames(a *arch.Arch, mem target.Memory, e registry.Entry) (m *Module, covered []Range, err error) {
	c := Contents{Name: fmt.Sprintf("[registered %s]", e.Frames), JIT: true, Text: e.Text, Data: e.Data}
	l := registry.LayoutOf(a)
	if e.Single {
		list := []dyninfo.Entry{{Start: e.Lo, FDE: uint64(e.Frames)}}
		if c.EHFrame, err = framesOf(mem, l.Order, list); err != nil {
			return nil, nil, err
		}
		c.EHFrameHdr = frameHeader(l.Order, list, c.EHFrame.Addr)
		return New(c), []Range{{e.Lo, e.Hi}}, nil
	}
	data, at, err := l.ReadFrames(mem, e)
	if err != nil {
		return nil, nil, err
	}
	c.EHFrame = Section{Data: data, Addr: uint64(at)}
	t := cfi.New(cfi.Config{Arch: a, Data: data, Addr: uint64(at), Text: e.Text, DataBase: e.Data})
	first := uint64(e.Frames - at)
	for x, entryErr := range t.Section() {
		switch {
		case entryErr != nil:
			err = fmt.Errorf("the call frame information that was registered at %s: %w", e.Frames, entryErr)
		case x.Kind != cfi.IsFDE || x.Offset < first || x.FDE.Lo >= x.FDE.Hi:
		case len(covered) == maxRegistered:
			return nil, nil, fmt.Errorf("the call frame information that was registered at %s has too many entries", e.Frames)
		default:
			covered = append(covered, Range{x.FDE.Lo, x.FDE.Hi})
		}
	}
	if len(covered) == 0 && err != nil {
		return nil, nil, err // otherwise the other entries stay usable
	}
	return New(c), covered, nil
}

// HasFrames reports whether the module has call frame information.
func (m *Module) HasFrames() bool {
	return len(m.contents.EHFrame.Data) > 0 || len(m.contents.DebugFrame.Data) > 0
}
