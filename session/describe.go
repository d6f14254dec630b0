package session

import (
	"dbg/eval"
	"dbg/symbols/types"
	"dbg/target"
)

// Description is a value as a view of variables shows it.
type Description struct {
	Text string // from eval.Format
	Type string
	// Parts is the number of children of the value. Indexed means that they are elements, numbered
	// from 0.
	Parts   int
	Indexed bool
	// Items is the number of the first Parts that are items of a view, 0 if there is no view.
	Items int
	// Uncounted means that the value is a pointer whose parts were not counted, because that would
	// require a search through all debug information. It may have none.
	Uncounted bool
	// Pointer means that the value is a pointer or a reference.
	Pointer bool
	// Memory is the address for a memory view: the target of a pointer, else the value's own
	// address. HasMemory is false if there is none.
	Memory    target.Addr
	HasMemory bool
}

// Describe describes several values in a frame in one query.
func (s *Session) Describe(t target.ThreadID, level int, vs []Value, opt eval.Options) ([]Description, error) {
	return ask(s, func() ([]Description, error) {
		e := s.env(t, level)
		out := make([]Description, len(vs))
		for i, v := range vs {
			out[i] = describe(v, e, opt)
			if err := s.ctx.Err(); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

func describe(v Value, e *env, opt eval.Options) Description {
	d := Description{Type: eval.TypeName(v), Uncounted: eval.PartsElsewhere(v, e)}
	opt.Objects = opt.Objects && !d.Uncounted // the class would be searched in the whole program
	d.Text = eval.Format(v, e, opt)
	if !d.Uncounted {
		d.Parts = eval.NumChildren(v, e)
		d.Items = min(eval.NumItems(v, e), d.Parts)
	}
	d.Memory, d.HasMemory = v.Addr, v.HasAddr
	if v.Type == nil {
		return d
	}
	switch v.Type.Strip().Kind {
	case types.Array:
		d.Indexed = true
	case types.Pointer, types.Reference, types.RvalueReference:
		d.Pointer = true
		if a, err := eval.AddressOf(v, e); err == nil {
			d.Memory, d.HasMemory = a, true
		}
	}
	return d
}

// ModuleDescription is a mapped file as a list of modules shows it.
type ModuleDescription struct {
	ID           int
	Path         string
	Lo, Hi       target.Addr
	BuildID      string
	Problem      string
	HasSymbols   bool
	HasDebugInfo bool
	DebugFile    string // "" if the debug information is in the file itself
	Origin       string // source of the debug information, or why there is none
}

// DescribeModules lists the mapped files by address.
func (s *Session) DescribeModules() []ModuleDescription {
	out, _ := ask(s, func() ([]ModuleDescription, error) {
		var out []ModuleDescription
		for _, m := range s.modules.all {
			d := ModuleDescription{ID: m.ID, Path: m.Path, Lo: m.Lo, Hi: m.Hi, BuildID: m.BuildID, Problem: m.Problem}
			if m.Symbols != nil {
				d.HasSymbols, d.HasDebugInfo, d.Origin = true, m.Symbols.DebugInfoHere(), m.Symbols.Origin()
				if f := m.Symbols.DebugFile(); f != nil {
					d.DebugFile = f.Path()
				}
			}
			out = append(out, d)
		}
		return out, nil
	})
	return out
}
