package dyninfo

import (
	"fmt"

	"dbg/target"
)

// Header is unw_dyn_info_list_t. Generation changes with each registration and each cancellation, but
// the library that is running may not have written it yet: compare First, too.
type Header struct {
	Version    uint32
	Generation uint32
	First      target.Addr
}

// MaxEntries is the largest number of entries that ReadList reads.
const MaxEntries = 1 << 14

// ReadHeader reads the head of the list. The only known version is 0, which libunwind never changes.
func (l Layout) ReadHeader(mem target.Memory, at target.Addr) (h Header, err error) {
	var buf [maxHeader]byte
	b := buf[:l.headerSize()]
	if err := read(mem, at, b, ListSymbol); err != nil {
		return h, err
	}
	h = Header{l.Order.Uint32(b), l.Order.Uint32(b[4:]), target.Addr(l.word(b[8:]))}
	if h.Version > 1 {
		return h, fmt.Errorf("%s at %s has unsupported version %d", ListSymbol, at, h.Version)
	}
	return h, nil
}

// ReadList reads the entries of the list, the newest first. The backward link of each entry must lead
// to the entry before it. One exception is the entry that the program is adding or removing at this
// moment: it may be linked in one direction only, and is left out. With an error ReadList returns the
// entries before the damage.
func (l Layout) ReadList(mem target.Memory, h Header) ([]Info, error) {
	var list []Info
	seen := map[target.Addr]bool{}
	before := target.Addr(0)
	for at := h.First; at != 0; {
		switch {
		case seen[at]:
			return list, fmt.Errorf("%s is circular: entry %s occurs twice", ListSymbol, at)
		case len(list) == MaxEntries:
			return list, fmt.Errorf("%s has more than %d entries", ListSymbol, MaxEntries)
		}
		seen[at] = true
		x, err := l.ReadInfo(mem, at)
		if err != nil {
			return list, err
		}
		if x.Prev != before && !l.isChanging(mem, &x, before) {
			return list, fmt.Errorf("entry %s of %s has the backward link %s instead of %s", at, ListSymbol, x.Prev, before)
		}
		list = append(list, x)
		before, at = at, x.Next
	}
	return list, nil
}

// isChanging reports whether exactly one entry is missing before x: the backward link leads to an entry
// whose own links enclose the gap.
func (l Layout) isChanging(mem target.Memory, x *Info, before target.Addr) bool {
	if x.Prev == 0 {
		return false
	}
	var buf [2 * 8]byte
	b := buf[:2*l.Word]
	if _, err := mem.ReadMemory(x.Prev, b); err != nil {
		return false
	}
	return target.Addr(l.word(b)) == x.Addr && target.Addr(l.word(b[l.Word:])) == before
}
