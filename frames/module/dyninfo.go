package module

import (
	"encoding/binary"
	"fmt"
	"math"

	"dbg/arch"
	"dbg/cfi"
	"dbg/dyninfo"
	"dbg/row"
	"dbg/row/compiled"
	"dbg/target"
)

// Registration is an entry of libunwind's list of dynamic unwind information, and what is needed to read
// it.
type Registration struct {
	Name   string
	Arch   *arch.Arch
	Memory target.Memory
	Info   dyninfo.Info

	// For entries with regions; see dyninfo.Config.
	InstructionLength func(pc uint64) int
	Alias             func(pc uint64, r *row.Row) error
}

// OfRegistered makes a module from an entry. Its addresses are those of the process; instructions are read
// from the process. The data is read now, as the program may free it when it cancels the entry.
func OfRegistered(g Registration) (*Module, error) {
	c := Contents{Name: g.Name, Lo: target.Addr(g.Info.Start), Hi: target.Addr(g.Info.End), Registered: true}
	l := dyninfo.LayoutOf(g.Arch)
	switch g.Info.Format {
	case dyninfo.Dynamic:
		p, err := l.ReadProcedure(g.Memory, g.Info)
		if err != nil {
			return nil, err
		}
		c.DynInfo, err = dyninfo.New(p, dyninfo.Config{Arch: g.Arch, InstructionLength: g.InstructionLength, Alias: g.Alias})
		if err != nil {
			return nil, err
		}
	case dyninfo.RemoteTable, dyninfo.IPOffset:
		list, err := l.ReadTable(g.Memory, &g.Info)
		if err != nil {
			return nil, err
		}
		if c.EHFrame, err = framesOf(g.Memory, g.Arch.ByteOrder, list); err != nil {
			return nil, err
		}
		c.EHFrameHdr = frameHeader(g.Arch.ByteOrder, list, c.EHFrame.Addr)
	case dyninfo.ARMExIdx:
		if g.Arch != arch.ARM || g.Info.Length > dyninfo.MaxTable {
			return nil, fmt.Errorf("the entry at %s has an invalid .ARM.exidx of %d bytes", g.Info.Addr, g.Info.Length)
		}
		data := make([]byte, g.Info.Length)
		if _, err := g.Memory.ReadMemory(g.Info.Data, data); err != nil {
			return nil, fmt.Errorf(".ARM.exidx of the entry at %s: %w", g.Info.Addr, err)
		}
		c.ExIdx, c.CodeEnd = Section{Data: data, Addr: uint64(g.Info.Data)}, g.Info.End
		c.ExTab = func(addr uint64, n int) []byte {
			b := make([]byte, n)
			n, _ = g.Memory.ReadMemory(target.Addr(addr), b)
			return b[:max(0, min(n, len(b)))]
		}
	default:
		return nil, fmt.Errorf("the entry at %s has the format %s, whose data is private to libunwind", g.Info.Addr,
			g.Info.Format)
	}
	return New(c), nil
}

// maxFrames limits the size of the call frame information that a search table refers to, in bytes.
const maxFrames = 32 << 20

// framesOf reads the call frame information that contains all entries of a search table, and their CIEs.
func framesOf(mem target.Memory, order binary.ByteOrder, list []dyninfo.Entry) (Section, error) {
	if len(list) == 0 {
		return Section{}, fmt.Errorf("the search table is empty")
	}
	lo, last := list[0].FDE, list[0].FDE
	for _, e := range list {
		lo, last = min(lo, e.FDE), max(last, e.FDE)
	}
	var length [4]byte
	if _, err := mem.ReadMemory(target.Addr(last), length[:]); err != nil {
		return Section{}, fmt.Errorf("the last FDE of the search table: %w", err)
	}
	hi := last + 4 + uint64(order.Uint32(length[:]))
	data, err := frameBytes(mem, lo, hi)
	if err != nil {
		return Section{}, err
	}
	first := lo
	for _, e := range list {
		off := e.FDE - lo
		if off+8 > uint64(len(data)) || order.Uint32(data[off:]) == math.MaxUint32 {
			return Section{}, fmt.Errorf("the FDE at 0x%x is not one of 32-bit DWARF", e.FDE)
		}
		first = min(first, e.FDE+4-uint64(order.Uint32(data[off+4:])))
	}
	if first < lo {
		if data, err = frameBytes(mem, first, hi); err != nil {
			return Section{}, err
		}
	}
	return Section{Data: data, Addr: first}, nil
}

func frameBytes(mem target.Memory, lo, hi uint64) ([]byte, error) {
	if hi < lo || hi-lo > maxFrames {
		return nil, fmt.Errorf("the call frame information at 0x%x..0x%x is too large", lo, hi)
	}
	b := make([]byte, hi-lo)
	if _, err := mem.ReadMemory(target.Addr(lo), b); err != nil {
		return nil, fmt.Errorf("call frame information: %w", err)
	}
	return b, nil
}

// frameHeader makes an .eh_frame_hdr with a search table, with 8-byte offsets from its address 0: DW_EH_PE_datarel
// and DW_EH_PE_sdata8.
func frameHeader(order binary.ByteOrder, list []dyninfo.Entry, frames uint64) Section {
	b := []byte{1, 0x04, 0x03, 0x3c} // version; absolute udata8, udata4, datarel sdata8
	b = appendUint64(order, b, frames)
	b = append(b, 0, 0, 0, 0)
	order.PutUint32(b[len(b)-4:], uint32(len(list)))
	for _, e := range list {
		b = appendUint64(order, appendUint64(order, b, e.Start), e.FDE)
	}
	return Section{Data: b}
}

func appendUint64(order binary.ByteOrder, b []byte, v uint64) []byte {
	b = append(b, make([]byte, 8)...)
	order.PutUint64(b[len(b)-8:], v)
	return b
}

// registered returns the source for the regions that the program registered, or nil if there are none.
func (m *Module) registered(a *arch.Arch) *Source {
	if m.contents.DynInfo == nil {
		return nil
	}
	return &Source{table: registeredTable{m.contents.DynInfo}, arch: a, kind: KindDynInfo, maxMisses: missesOfRegions,
		preserved: a.CalleeSavedSet}
}

// missesOfRegions is the number of rows of one procedure that are copied before they are compiled.
const missesOfRegions = 256

// registeredTable is a Table that returns cfi.ErrNotCovered.
type registeredTable struct{ *dyninfo.Table }

func (t registeredTable) RowAt(pc uint64, r *row.Row) error {
	err := t.Table.RowAt(pc, r)
	if err == dyninfo.ErrNotCovered {
		return cfi.ErrNotCovered
	}
	return err
}

func (t registeredTable) EachRow(i, j int, fn cfi.RowFunc) bool {
	if i >= j {
		return true
	}
	return t.Table.EachRow(func(lo, hi uint64, r *row.Row) bool {
		if r == nil {
			return fn(lo, hi, nil, 0)
		}
		return fn(lo, hi, r, compiled.HashRow(r))
	})
}
