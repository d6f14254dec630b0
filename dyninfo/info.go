package dyninfo

import (
	"fmt"

	"dbg/target"
)

// Format is unw_dyn_info_format_t.
type Format int32

const (
	Dynamic     Format = iota // regions and operations
	LocalTable                // a table that its reader finds at a pointer of its own
	RemoteTable               // a search table for .eh_frame
	ARMExIdx                  // .ARM.exidx
	IPOffset                  // as RemoteTable; its code addresses are relative to the start
)

func (f Format) String() string {
	names := [...]string{"dynamic", "table", "remote table", "ARM exidx", "IP offset table"}
	if f >= 0 && int(f) < len(names) {
		return names[f]
	}
	return fmt.Sprintf("format %d", int32(f))
}

// Info is unw_dyn_info_t: an entry of the list.
type Info struct {
	Addr       target.Addr // of the entry
	Next, Prev target.Addr
	Start, End uint64 // the code; End is the first address after it
	GP         uint64
	Format     Format
	LoadOffset uint64

	Name target.Addr // a string; 0 if there is none

	// Of the format Dynamic: unw_dyn_proc_info_t.
	Handler uint64 // the personality routine
	Flags   uint32
	Regions target.Addr // the first region

	// Of the other formats: unw_dyn_remote_table_info_t, and unw_dyn_table_info_t, which has the same
	// layout. Length is in words, for ARMExIdx in bytes.
	Segment uint64
	Length  uint64
	Data    target.Addr
}

// Covers reports whether the entry describes the code at an address.
func (x *Info) Covers(pc uint64) bool { return x.Start <= pc && pc < x.End }

// ReadInfo reads an entry. A code range that ends before it begins is an error.
func (l Layout) ReadInfo(mem target.Memory, at target.Addr) (x Info, err error) {
	var buf [maxInfo]byte
	b := buf[:l.infoSize()]
	n, err := mem.ReadMemory(at, b)
	if err != nil && n < l.unionOffset()+4*l.Word {
		return x, fmt.Errorf("entry of %s at %s: %w", ListSymbol, at, err)
	}
	w := l.Word
	x = Info{Addr: at, Next: target.Addr(l.word(b)), Prev: target.Addr(l.word(b[w:])),
		Start: l.word(b[2*w:]), End: l.word(b[3*w:]), GP: l.word(b[4*w:]), Format: Format(int32(l.Order.Uint32(b[5*w:]))),
		LoadOffset: l.word(b[5*w+8:])}
	u := b[l.unionOffset():]
	x.Name = target.Addr(l.word(u))
	if x.Format == Dynamic {
		if n < len(b) {
			return x, fmt.Errorf("entry of %s at %s: %w", ListSymbol, at, err)
		}
		x.Handler, x.Flags, x.Regions = l.word(u[w:]), l.Order.Uint32(u[2*w:]), target.Addr(l.word(u[2*w+8:]))
	} else {
		x.Segment, x.Length, x.Data = l.word(u[w:]), l.word(u[2*w:]), target.Addr(l.word(u[3*w:]))
	}
	if x.End < x.Start {
		return x, fmt.Errorf("entry of %s at %s ends at 0x%x, before its start 0x%x", ListSymbol, at, x.End, x.Start)
	}
	return x, nil
}

const maxName = 256

// ReadName reads the name of an entry. It returns "" if there is none, and cuts a long name.
func (x *Info) ReadName(mem target.Memory) string {
	if x.Name == 0 {
		return ""
	}
	var buf [maxName]byte
	n, _ := mem.ReadMemory(x.Name, buf[:])
	n = max(0, min(n, maxName))
	for i, c := range buf[:n] {
		switch {
		case c == 0:
			return string(buf[:i])
		case c < ' ' || c > '~': // the manual demands ASCII
			return ""
		}
	}
	if n < maxName {
		return "" // it ends in missing memory
	}
	return string(buf[:n])
}

// Entry is an entry of a search table: the start of a function and the address of its FDE.
type Entry struct{ Start, FDE uint64 }

// MaxTable is the largest size of a search table, in bytes.
const MaxTable = 8 << 20

// ReadTable reads the search table of an entry with the format RemoteTable or IPOffset (an array of pairs
// of signed 4-byte offsets, as in .eh_frame_hdr). It returns the bytes, too: they are the table in the
// program's memory. The table must be sorted.
func (l Layout) ReadTable(mem target.Memory, x *Info) ([]Entry, error) {
	if x.Format != RemoteTable && x.Format != IPOffset {
		return nil, fmt.Errorf("entry of %s at %s has no search table: its format is %s", ListSymbol, x.Addr, x.Format)
	}
	if x.Length == 0 || x.Length > MaxTable/uint64(l.Word) {
		return nil, fmt.Errorf("the search table of the entry at %s has an invalid length of %d words", x.Addr, x.Length)
	}
	data, err := readAll(mem, x.Data, x.Length*uint64(l.Word), "search table")
	if err != nil {
		return nil, err
	}
	base := x.Segment
	if x.Format == IPOffset {
		base = x.Start
	}
	mask := uint64(1)<<(8*l.Word-1)<<1 - 1
	list := make([]Entry, len(data)/8)
	for i := range list {
		start, fde := int32(l.Order.Uint32(data[8*i:])), int32(l.Order.Uint32(data[8*i+4:]))
		e := Entry{(base + uint64(int64(start))) & mask, (x.Segment + uint64(int64(fde))) & mask}
		if i > 0 && e.Start < list[i-1].Start {
			return nil, fmt.Errorf("the search table of the entry at %s is not sorted: 0x%x comes after 0x%x",
				x.Addr, e.Start, list[i-1].Start)
		}
		list[i] = e
	}
	return list, nil
}

// readAll reads n bytes. It allocates memory only as reading succeeds, because the size may be wrong.
func readAll(mem target.Memory, at target.Addr, n uint64, what string) ([]byte, error) {
	const step = 1 << 16
	out := make([]byte, 0, min(n, step))
	for uint64(len(out)) < n {
		have := len(out)
		out = append(out, make([]byte, min(n-uint64(have), max(step, uint64(have))))...)
		if err := read(mem, at+target.Addr(have), out[have:], what); err != nil {
			return nil, err
		}
	}
	return out, nil
}
