package module

import (
	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
	"dbg/sframe"
)

// addSFrame finds .sframe.
func (c *Contents) addSFrame() {
	if s, ok := c.file.SFrame(); ok {
		c.SFrame = Section{Data: s.Data, Addr: uint64(s.Addr)}
	}
}

// sframeABIs are the ABIs of the architectures.
var sframeABIs = map[*arch.Arch]sframe.ABI{arch.AMD64: sframe.AMD64, arch.ARM64: sframe.AArch64Little}

// sframeSource returns the source for the module's .sframe, or nil if there is none that can be used. Its
// rows do not describe registers other than the frame pointer, so that no others keep their value.
func (m *Module) sframeSource(a *arch.Arch) *Source {
	s := m.contents.SFrame
	if len(s.Data) == 0 {
		return nil
	}
	t, err := sframe.New(sframe.Config{Data: s.Data, Addr: s.Addr})
	if err != nil || sframeABIs[a] != t.ABI {
		return nil
	}
	size := len(s.Data)
	return &Source{table: sframeTable{t}, arch: a, kind: KindSFrame, size: size, maxMisses: int64(size / bytesPerMiss)}
}

// sframeTable is a Table that returns cfi.ErrNotCovered.
type sframeTable struct{ *sframe.Table }

func (t sframeTable) RowAt(pc uint64, r *row.Row) error {
	err := t.Table.RowAt(pc, r)
	if err == sframe.ErrNotCovered {
		return cfi.ErrNotCovered
	}
	return err
}

func (t sframeTable) EachRow(i, j int, fn cfi.RowFunc) bool { return t.Table.EachRow(i, j, fn) }
