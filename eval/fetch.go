package eval

import (
	"errors"
	"fmt"

	"dbg/symbols/types"
	"dbg/target"
)

// cannotAccess converts a MemoryError to gdb's words.
func cannotAccess(err error, fallback target.Addr) error {
	var m *target.MemoryError
	if errors.As(err, &m) {
		return &AccessError{Addr: m.Addr, err: err}
	}
	return &AccessError{Addr: fallback, err: err}
}

// AccessError means that memory at Addr is not accessible.
type AccessError struct {
	Addr target.Addr
	err  error
}

func (e *AccessError) Error() string {
	return fmt.Sprintf("Cannot access memory at address %s", e.Addr)
}

// Unwrap returns the target's error.
func (e *AccessError) Unwrap() error { return e.err }

// errNoPlace is the error of a value that is not in memory and has no bytes.
var errNoPlace = Error("value is not available")

// Fetch reads the value's bytes, so that the value no longer changes: the value history keeps
// fetched values. A value of more than 64 KiB is not read. A value that could not be read is
// Unreadable.
func Fetch(v Value, env Env) Value {
	v.pointee = nil // its frame may be gone later
	if byteSize(v) > maxKeep {
		return v
	}
	return load(v, env)
}

// byteSize returns the size of the value's contents in bytes.
func byteSize(v Value) int64 {
	if v.BitSize > 0 {
		return (v.BitOffset + v.BitSize + 7) / 8
	}
	return sizeOf(v.Type)
}

// load reads the bytes of a value in memory, if they were not read yet.
func load(v Value, mem target.Memory) Value {
	if v.Avail != Available || v.Bytes != nil || v.function != "" {
		return v
	}
	n := byteSize(v)
	switch {
	case kindOf(v.Type) == types.Void || kindOf(v.Type) == types.Func || n == 0:
		return v
	case !v.HasAddr:
		v.Avail, v.Err = Unreadable, errNoPlace
	case n < 0 && kindOf(v.Type) == types.Array && v.HasAddr:
		return v // int x[]
	case n < 0 && kindOf(v.Type) == types.Opaque && v.HasAddr:
		return v // a view may know it: the layout of some classes is part of the ABI
	case n < 0:
		v.Avail, v.Err = Unreadable, errorf("the size of %s is unknown", TypeName(v))
	case n > maxFetch:
		v.Avail, v.Err = Unreadable, errorf("value requires %d bytes, which is more than max-value-size", n)
	default:
		b := make([]byte, n)
		if got, err := mem.ReadMemory(v.Addr, b); err != nil || int64(got) < n {
			v.Avail, v.Err = Unreadable, cannotAccess(err, v.Addr+target.Addr(got))
		} else {
			v.Bytes = b
		}
	}
	return v
}

// availabilityError returns why the value can't be used in arithmetic, or nil.
func availabilityError(v Value) error {
	switch v.Avail {
	case Available:
		return nil
	case NotSaved:
		return Error("value is not available: its register is not saved in this frame")
	case Unreadable:
		if v.Err != nil {
			return v.Err
		}
		return errNoPlace
	case Synthetic:
		return Error("pointer to a value that has no address")
	}
	return Error("value has been optimized out")
}

// part returns the part of v with type t that starts off bytes from its start.
func part(v Value, off int64, t *types.Type, name string) Value {
	c := Value{Type: t, Name: name, fixed: v.fixed}
	if v.variable != "" {
		c.fixed = "Parts of convenience variables can't be assigned."
	}
	if v.register != "" {
		c.register, c.regByte = v.register, v.regByte+off
	}
	if v.HasAddr {
		c.Addr, c.HasAddr = v.Addr+target.Addr(off), true
	}
	if v.InReg {
		c.Reg, c.InReg, c.regByte = v.Reg, true, v.regByte+off
	}
	if v.Avail != Available && v.Avail != Partial {
		c.Avail, c.Err = v.Avail, v.Err
		return c
	}
	if v.Bytes == nil {
		return c
	}
	n := sizeOf(t)
	if off < 0 || n < 0 || off > int64(len(v.Bytes)) || n > int64(len(v.Bytes))-off {
		if !v.HasAddr {
			c.Avail, c.Err = Unreadable, Error("no such element in a value that is not in memory")
		}
		return c
	}
	c.Bytes = v.Bytes[off : off+n : off+n]
	if v.Avail == Partial {
		c.missing, c.why = v.missing[off:off+n:off+n], v.why
		c.implicitIn(&v, off*8, n*8)
		if c.judge(); c.Avail == c.why && (isStruct(t) || kindOf(t) == types.Array) {
			// If part of a value is available, its aggregates are shown with their members, as in
			// gdb.
			c.Avail, c.Bytes, c.missing = Partial, v.Bytes[off:off+n:off+n], v.missing[off:off+n:off+n]
		}
	}
	return c
}

// bitPart returns a bit-field of v, which starts at a bit and has type t.
func bitPart(v Value, bit, size int64, t *types.Type, name string) Value {
	if bit < 0 || size <= 0 || size > 64 {
		return Value{Type: t, Name: name, Avail: Unreadable, Err: Error("malformed bit-field")}
	}
	// Treat the bytes that hold it as an array, to get their place and availability.
	bytes := (bit%8 + size + 7) / 8
	a, _ := arrayOf(typeUchar, bytes)
	c := part(v, bit/8, a, name)
	c.Type, c.BitSize, c.BitOffset = t, size, bit%8
	if c.Avail == Partial {
		c.Avail, c.Err = c.why, nil
		for i := range size {
			if at := c.BitOffset + i; c.missing[at/8]&(1<<(at%8)) != 0 {
				return c
			}
		}
		c.Avail = Available
	}
	return c
}

// implicitIn copies to c the implicit pointers that lie in a range of v's bits.
func (c *Value) implicitIn(v *Value, from, bits int64) {
	for _, p := range v.implicit {
		if p.from >= from && p.from+p.bits <= from+bits {
			p.from -= from
			c.implicit, c.pointee = append(c.implicit, p), v.pointee
		}
	}
}

// isPointer reports whether the type is a pointer or a reference.
func isPointer(t *types.Type) bool { return kindOf(t) == types.Pointer || isReference(t) }

// judge replaces Partial by the actual availability: all is available, nothing is or, for a scalar,
// it is lost.
func (v *Value) judge() {
	some, all := false, true
	for _, m := range v.missing {
		some = some || m != 0
		all = all && m == 0xff
	}
	switch {
	case !some:
		v.Avail, v.missing = Available, nil
	case all && len(v.implicit) == 1 && v.implicit[0].from == 0 && v.implicit[0].bits == int64(len(v.missing))*8 && isPointer(v.Type):
		v.Avail, v.Bytes, v.missing = Synthetic, nil, nil
	case all && len(v.implicit) > 0 && isStruct(v.Type):
		v.Avail = Partial // each member has its own availability
	case all || !(isStruct(v.Type) || kindOf(v.Type) == types.Array):
		v.Avail, v.Bytes, v.missing = v.why, nil, nil
	default:
		v.Avail = Partial
	}
}

// IsWatchable reports whether a value in memory is small enough for debug registers: four of eight
// bytes each.
func IsWatchable(v Value) bool {
	n := byteSize(v)
	if v.Type == nil || n <= 0 || n > 4*8 {
		return false
	}
	return len(target.Watches(v.Addr, uint64(n), target.WatchWrite, 4)) > 0
}
