package registry

import (
	"encoding/binary"
	"fmt"

	"dbg/arch"
	"dbg/target"
)

// Names of the lists in the symbol tables of libgcc.
const (
	UnseenSymbol = "unseen_objects"
	SeenSymbol   = "seen_objects"
	TreeSymbol   = "registered_frames"
)

// Entry is a range of call frame information that the program registered.
type Entry struct {
	Object target.Addr // struct object, or the entry of LLVM's array
	Frames target.Addr // the first CIE or FDE

	// Lo and Hi bound the code, if the list contains that. Otherwise both are 0.
	Lo, Hi uint64

	// Single is set if Frames is one FDE; otherwise a zero length ends the information.
	Single bool

	// Text and Data are the bases of DW_EH_PE_textrel and DW_EH_PE_datarel.
	Text, Data uint64
}

// MaxEntries is the largest number of entries that a list may have.
const MaxEntries = 1 << 14

// Layout describes words of the program: their size in bytes and their order.
type Layout struct {
	Order binary.ByteOrder
	Word  int // 4 or 8
}

// LayoutOf returns the layout of an architecture's programs.
func LayoutOf(a *arch.Arch) Layout { return Layout{Order: a.ByteOrder, Word: a.PtrSize} }

// words reads n words from an address on. what is named in the error. n is at most maxWords.
func (l Layout) words(mem target.Memory, at target.Addr, n int, what string) (w [maxWords]uint64, err error) {
	var buf [maxWords * 8]byte
	b := buf[:n*l.Word]
	if _, err := mem.ReadMemory(at, b); err != nil {
		return w, fmt.Errorf("%s at %s: %w", what, at, err)
	}
	for i := range n {
		w[i] = l.word(b[i*l.Word:])
	}
	return w, nil
}

const maxWords = 48

func (l Layout) word(b []byte) uint64 {
	if l.Word == 8 {
		return l.Order.Uint64(b)
	}
	return uint64(l.Order.Uint32(b))
}

// object is struct object of libgcc: pc_begin, tbase, dbase, u, s and next.
type object struct {
	begin, text, data, u uint64
	sorted, array        bool
	next                 target.Addr
}

func (l Layout) readObject(mem target.Memory, at target.Addr) (o object, err error) {
	w, err := l.words(mem, at, 6, "struct object")
	if err != nil {
		return o, err
	}
	o = object{begin: w[0], text: w[1], data: w[2], u: w[3], next: target.Addr(w[5])}
	// s: sorted, from_array and mixed_encoding of 1 bit, encoding of 8 and count of 21.
	s := w[4]
	if l.Order == binary.BigEndian {
		o.sorted, o.array = s>>(8*l.Word-1)&1 != 0, s>>(8*l.Word-2)&1 != 0
	} else {
		o.sorted, o.array = s&1 != 0, s&2 != 0
		if s>>32 != 0 {
			return o, fmt.Errorf("struct object at %s has the invalid flags 0x%x", at, s)
		}
	}
	if o.u == 0 || uint64(at)%uint64(l.Word) != 0 {
		return o, fmt.Errorf("struct object at %s is invalid", at)
	}
	return o, nil
}

// entries returns the entries of an object: several if it was registered as a table of addresses.
func (l Layout) entries(mem target.Memory, at target.Addr, o object) ([]Entry, error) {
	first := o.u
	if o.sorted { // u is struct fde_vector, which begins with what u was before
		w, err := l.words(mem, target.Addr(o.u), 1, "struct fde_vector")
		if err != nil {
			return nil, err
		}
		first = w[0]
	}
	e := Entry{Object: at, Frames: target.Addr(first), Text: o.text, Data: o.data}
	if !o.array {
		return []Entry{e}, nil
	}
	var list []Entry
	for i := 0; ; i++ {
		w, err := l.words(mem, target.Addr(first)+target.Addr(i*l.Word), 1, "a table of registered frames")
		if err != nil || w[0] == 0 {
			return list, err
		}
		if i == MaxEntries {
			return list, fmt.Errorf("the table of registered frames at 0x%x has more than %d entries", first, MaxEntries)
		}
		e.Frames = target.Addr(w[0])
		list = append(list, e)
	}
}

// ReadList reads the list whose head (a pointer) is at an address: unseen_objects or seen_objects. The
// library sorts the information of an object, and moves it from the first to the second, when it
// first needs it.
func (l Layout) ReadList(mem target.Memory, head target.Addr) (list []Entry, err error) {
	w, err := l.words(mem, head, 1, "a list of registered frames")
	if err != nil {
		return nil, err
	}
	seen := map[target.Addr]bool{}
	for at := target.Addr(w[0]); at != 0; {
		switch {
		case seen[at]:
			return list, fmt.Errorf("the list of registered frames at %s is circular: object %s occurs twice", head, at)
		case len(list) >= MaxEntries || len(seen) >= MaxEntries:
			return list, fmt.Errorf("the list of registered frames at %s has more than %d entries", head, MaxEntries)
		}
		seen[at] = true
		o, err := l.readObject(mem, at)
		if err != nil {
			return list, err
		}
		found, err := l.entries(mem, at, o)
		list = append(list, found...)
		if err != nil {
			return list, err
		}
		at = o.next
	}
	return list, nil
}
