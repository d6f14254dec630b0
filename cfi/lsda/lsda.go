package lsda

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"dbg/internal/bytecursor"
	"dbg/internal/ehpointer"
)

// Config holds what a table does not say of itself.
type Config struct {
	// Read returns the bytes of the file from an address on, at most n and as many as follow, or nil.
	Read    func(addr uint64, n int) []byte
	PtrSize int
	Big     bool   // big-endian
	ARM     bool   // types are encoded as R_ARM_TARGET2 of Linux: relative and indirect
	Func    uint64 // the start of the function, from which call sites are counted
	Text    uint64 // bases of encoded pointers, see package cfi
	Data    uint64
}

// Table is the decoded data of one function.
type Table struct {
	Addr  uint64 // of the data
	Base  uint64 // from which landing pads are counted
	Types uint64 // the base of the types, or 0
	Sites []Site // by ascending address
}

// Site is a range of calls with one landing pad. Code in no site calls nothing that throws: an
// exception from there ends a C++ program.
type Site struct {
	Lo, Hi  uint64 // addresses from Lo up to but not including Hi
	Pad     uint64 // the address where exceptions land, or 0: they pass
	Actions []Action
}

// Kind is the kind of an action.
type Kind uint8

const (
	Cleanup  Kind = iota // destructors run, and the exception goes on
	Catch                // exceptions of Types[0] are caught
	CatchAll             // all exceptions are caught
	Only                 // exceptions of other types than Types must not pass
)

func (k Kind) String() string { return [...]string{"cleanup", "catch", "catch all", "only"}[k] }

// Action is what a landing pad does, in the order in which it is tried.
type Action struct {
	Kind  Kind
	Types []Type
}

// Type is the type information of a type.
type Type struct {
	Addr     uint64
	Indirect bool // Addr is that of a pointer to it
}

// Limits of what is read. Functions of generated parsers have some thousand sites.
const (
	maxData    = 1 << 22 // bytes
	maxActions = 1 << 20 // actions of all sites
	maxChain   = 1 << 12 // actions of one site
	maxTypes   = 1 << 16 // types of all exception specifications
)

// IsSJLJ reports whether a personality routine with a name uses numbered call sites, which Read can't
// decode.
func IsSJLJ(personality string) bool { return strings.HasSuffix(personality, "_sj0") }

// reader reads one table.
type reader struct {
	c       *Config
	r       bytecursor.Cursor
	base    ehpointer.Bases
	table   *Table
	enc     byte // of types
	size    int  // of a type
	types   int  // position of the base of types, or -1
	actions int  // position of the action records
	count   int  // actions so far
	listed  int  // types of exception specifications so far
	shared  map[int][]Action
}

// Read decodes the data at an address. It always returns a table: with an error, that of the sites before
// the defect.
func Read(c *Config, addr uint64) (*Table, error) {
	data := c.Read(addr, maxData)
	if len(data) == 0 {
		return &Table{Addr: addr, Base: c.Func}, fmt.Errorf("the language-specific data at 0x%x is not in the file", addr)
	}
	x := &reader{c: c, r: bytecursor.Cursor{Data: data, Big: c.Big}, table: &Table{Addr: addr, Base: c.Func}, types: -1,
		base: ehpointer.Bases{Section: addr, Text: c.Text, Data: c.Data, Func: c.Func}, shared: map[int][]Action{}}
	if err := x.read(); err != nil {
		return x.table, fmt.Errorf("the language-specific data at 0x%x: %w", addr, err)
	}
	return x.table, nil
}

func (x *reader) read() error {
	r := &x.r
	if enc := r.U8(); enc != ehpointer.Omit {
		x.table.Base = ehpointer.Read(r, enc, x.c.PtrSize, &x.base)
	}
	if x.enc = r.U8(); x.enc != ehpointer.Omit {
		n := r.ULEB()
		if r.Err() == nil && n > uint64(r.Left()) {
			return errors.New("the types are not in the file")
		}
		x.types = r.Pos + int(n)
		x.table.Types = x.table.Addr + uint64(x.types)
		if x.c.ARM && x.enc&^ehpointer.Indirect == ehpointer.Absptr {
			x.enc = ehpointer.PCRel | ehpointer.Indirect | ehpointer.Sdata4
		}
		if x.size = ehpointer.FixedSize(x.enc&^ehpointer.Indirect, x.c.PtrSize); x.size == 0 {
			return fmt.Errorf("types have the encoding 0x%02x, which has no fixed size", x.enc)
		}
	}
	enc := r.U8()
	n := r.ULEB()
	if err := r.Err(); err != nil {
		return err
	}
	if n > uint64(r.Left()) {
		return fmt.Errorf("its %d bytes of call sites are not in the file", n)
	}
	x.actions = r.Pos + int(n)
	return x.sites(enc)
}

// sites reads the call sites up to the action records.
func (x *reader) sites(enc byte) error {
	r := &x.r
	last := x.c.Func
	for r.Pos < x.actions {
		lo := ehpointer.Read(r, enc, x.c.PtrSize, &x.base)
		size := ehpointer.Read(r, enc, x.c.PtrSize, &x.base)
		pad := ehpointer.Read(r, enc, x.c.PtrSize, &x.base)
		action := r.ULEB()
		if err := r.Err(); err != nil {
			return err
		}
		if r.Pos > x.actions {
			return errors.New("the last call site is cut short")
		}
		s := Site{Lo: x.c.Func + lo, Hi: x.c.Func + lo + size}
		if s.Lo < last || s.Hi < s.Lo {
			return fmt.Errorf("call site %d is out of order: 0x%x..0x%x after 0x%x", len(x.table.Sites), s.Lo, s.Hi, last)
		}
		last = s.Lo
		if pad != 0 {
			s.Pad = x.table.Base + pad
			var err error
			if s.Actions, err = x.chain(action); err != nil {
				return fmt.Errorf("call site %d: %w", len(x.table.Sites), err)
			}
		}
		x.table.Sites = append(x.table.Sites, s)
	}
	return nil
}

// chain reads the actions from a record on: 0 is none, n the record at byte n-1.
func (x *reader) chain(n uint64) ([]Action, error) {
	if n == 0 {
		return []Action{{Kind: Cleanup}}, nil
	}
	if n > uint64(len(x.r.Data)-x.actions) {
		return nil, fmt.Errorf("action record %d is not in the file", n)
	}
	first := x.actions + int(n) - 1
	if list, ok := x.shared[first]; ok {
		return list, nil
	}
	var list []Action
	for at := first; ; {
		if len(list) == maxChain || x.count == maxActions {
			return nil, errors.New("its action records have no end")
		}
		x.count++
		r := x.r
		r.Pos = at
		filter := r.SLEB()
		from := r.Pos
		next := r.SLEB()
		if err := r.Err(); err != nil {
			return nil, err
		}
		a, err := x.action(filter)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
		if next == 0 {
			x.shared[first] = list
			return list, nil
		}
		if to := int64(from) + next; to < int64(x.actions) || to >= int64(len(r.Data)) {
			return nil, errors.New("an action record is not in the file")
		}
		at = from + int(next)
	}
}

// action decodes the filter of a record.
func (x *reader) action(filter int64) (Action, error) {
	switch {
	case filter == 0:
		return Action{Kind: Cleanup}, nil
	case x.types < 0:
		return Action{}, errors.New("an action needs a type, and there are none")
	case filter < 0:
		list, err := x.specification(-(filter + 1))
		return Action{Only, list}, err
	}
	t, err := x.typeAt(int64(x.types) - filter*int64(x.size))
	if err != nil || t.Addr == 0 {
		return Action{Kind: CatchAll}, err
	}
	return Action{Catch, []Type{t}}, nil
}

// typeAt reads the type at a position. Address 0 is any type.
func (x *reader) typeAt(pos int64) (Type, error) {
	if pos < 0 || pos+int64(x.size) > int64(len(x.r.Data)) {
		return Type{}, errors.New("a type is not in the file")
	}
	r := x.r
	r.Pos = int(pos)
	raw := r
	if ehpointer.Value(&raw, x.enc, x.c.PtrSize) == 0 {
		return Type{}, nil
	}
	v := ehpointer.Read(&r, x.enc, x.c.PtrSize, &x.base)
	return Type{v, x.enc&ehpointer.Indirect != 0}, r.Err()
}

// specification reads the list of types at n behind the base: numbers of types as ULEB128, ended by 0;
// on ARM types themselves.
func (x *reader) specification(n int64) (list []Type, err error) {
	step := int64(1)
	if x.c.ARM {
		step = 4
	}
	if n < 0 || n > int64(len(x.r.Data)) {
		return nil, errors.New("an exception specification is not in the file")
	}
	r := x.r
	r.Pos = int(min(int64(x.types)+n*step, int64(len(r.Data))))
	for ; ; x.listed++ {
		if x.listed == maxTypes {
			return nil, errors.New("its exception specifications have no end")
		}
		var t Type
		if x.c.ARM {
			if t, err = x.typeAt(int64(r.Pos)); err != nil || t.Addr == 0 {
				return list, err
			}
			r.Pos += 4
		} else {
			i := r.ULEB()
			if err := r.Err(); err != nil || i == 0 {
				return list, err
			}
			if i > uint64(x.types) {
				return nil, errors.New("a type is not in the file")
			}
			if t, err = x.typeAt(int64(x.types) - int64(i)*int64(x.size)); err != nil {
				return nil, err
			}
		}
		list = append(list, t)
	}
}

// At returns the call site of an address: for a return address, that before it.
func (t *Table) At(pc uint64) (s *Site, ok bool) {
	i := sort.Search(len(t.Sites), func(i int) bool { return t.Sites[i].Lo > pc })
	for i--; i >= 0; i-- {
		if s := &t.Sites[i]; pc < s.Hi {
			return s, true
		} else if s.Lo < s.Hi {
			return nil, false // sites do not overlap; those before it end earlier
		}
	}
	return nil, false
}
