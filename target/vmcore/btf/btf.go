// Package btf reads the layouts of structures from BTF, the type information that the Linux kernel has in its own
// memory (Documentation/bpf/btf.rst). Bring the bytes of one BTF blob, little-endian; ask for members by name. It reads
// structures and unions, and skips all else. A damaged blob is an error, or has fewer types.
package btf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Kinds of types (include/uapi/linux/btf.h).
const (
	kindInt = 1 + iota
	kindPtr
	kindArray
	kindStruct
	kindUnion
	kindEnum
	kindFwd
	kindTypedef
	kindVolatile
	kindConst
	kindRestrict
	kindFunc
	kindFuncProto
	kindVar
	kindDatasec
	kindFloat
	kindDeclTag
	kindTypeTag
	kindEnum64
)

// headSize is the number of bytes that all types begin with.
const headSize = 12

// extra has the number of bytes after the head: fixed ones, and those of each element.
var extra = [...]struct{ fixed, each int }{kindInt: {4, 0}, kindArray: {12, 0}, kindStruct: {0, 12},
	kindUnion: {0, 12}, kindEnum: {0, 8}, kindFuncProto: {0, 8}, kindVar: {4, 0}, kindDatasec: {0, 12}, kindDeclTag: {4, 0}, kindEnum64: {0, 12}}

// maxDepth bounds the types that a member's type goes through, and maxSteps the members that a look-up compares: unnamed
// members may nest.
const (
	maxDepth = 32
	maxSteps = 1 << 18
)

// Types is a BTF blob. It does not change.
type Types struct {
	data    []byte // of the types
	strings []byte
	at      []uint32          // of the type with an id, its place in data
	structs map[string]uint32 // by name: the id
}

// Parse reads a blob. The Types refer to it.
func Parse(b []byte) (*Types, error) {
	le := binary.LittleEndian
	if len(b) < 24 || le.Uint16(b) != 0xeb9f {
		return nil, errors.New("it is not BTF")
	}
	head := uint64(le.Uint32(b[4:]))
	part := func(off, n uint32) []byte {
		lo := head + uint64(off)
		if lo > uint64(len(b)) || uint64(n) > uint64(len(b))-lo {
			return nil
		}
		return b[lo:][:n]
	}
	t := &Types{structs: map[string]uint32{}}
	t.data, t.strings = part(le.Uint32(b[8:]), le.Uint32(b[12:])), part(le.Uint32(b[16:]), le.Uint32(b[20:]))
	if t.data == nil || t.strings == nil {
		return nil, errors.New("BTF: its sections are outside of it")
	}
	t.at = append(t.at, 0) // void
	for at := 0; at < len(t.data); {
		if len(t.data)-at < headSize {
			return nil, fmt.Errorf("BTF: type %d is truncated", len(t.at))
		}
		kind, n, _ := t.info(at)
		if kind == 0 || kind > kindEnum64 {
			return nil, fmt.Errorf("BTF: type %d has the unknown kind %d", len(t.at), kind)
		}
		size := headSize
		if kind < len(extra) {
			size += extra[kind].fixed + n*extra[kind].each
		}
		if size > len(t.data)-at {
			return nil, fmt.Errorf("BTF: type %d is truncated", len(t.at))
		}
		if kind == kindStruct || kind == kindUnion {
			if name := t.name(le.Uint32(t.data[at:])); name != "" {
				if _, twice := t.structs[name]; !twice {
					t.structs[name] = uint32(len(t.at))
				}
			}
		}
		t.at = append(t.at, uint32(at))
		at += size
	}
	return t, nil
}

// info decodes the second word of a type.
func (t *Types) info(at int) (kind, n int, flag bool) {
	v := binary.LittleEndian.Uint32(t.data[at+4:])
	return int(v >> 24 & 31), int(v & 0xffff), v>>31 != 0
}

func (t *Types) name(off uint32) string {
	if uint64(off) >= uint64(len(t.strings)) {
		return ""
	}
	s, _, _ := bytes.Cut(t.strings[off:], []byte{0})
	return string(s)
}

// Size returns the number of bytes of a structure or union.
func (t *Types) Size(name string) (uint64, bool) {
	id, ok := t.structs[name]
	if !ok {
		return 0, false
	}
	return uint64(binary.LittleEndian.Uint32(t.data[t.at[id]+8:])), true
}

// Offset returns the offset in bytes of a member of a structure, "sp" of "thread" of task_struct for example. A path
// has dots between members: "thread.sp". Members of unnamed members count as the structure's own. An array's first
// element is where the array is.
func (t *Types) Offset(structure, path string) (uint64, bool) {
	id, ok := t.structs[structure]
	if !ok {
		return 0, false
	}
	total, steps := uint64(0), maxSteps
	for name := range strings.SplitSeq(path, ".") {
		off, typ, ok := t.member(id, name, 0, &steps)
		if !ok || name == "" {
			return 0, false
		}
		total += off
		id = t.structOf(typ)
	}
	return total, true
}

// structOf follows typedefs, qualifiers and arrays to a structure; otherwise the result has no members.
func (t *Types) structOf(id uint32) uint32 {
	for range maxDepth {
		if uint64(id) >= uint64(len(t.at)) || id == 0 {
			return 0
		}
		at := int(t.at[id])
		switch kind, _, _ := t.info(at); kind {
		case kindTypedef, kindVolatile, kindConst, kindRestrict, kindTypeTag:
			id = binary.LittleEndian.Uint32(t.data[at+8:])
		case kindArray:
			id = binary.LittleEndian.Uint32(t.data[at+headSize:])
		case kindStruct, kindUnion:
			return id
		default:
			return 0
		}
	}
	return 0
}

// member finds a member of a structure, also in unnamed members.
func (t *Types) member(id uint32, name string, depth int, steps *int) (off uint64, typ uint32, ok bool) {
	if id == 0 || uint64(id) >= uint64(len(t.at)) || depth > maxDepth {
		return 0, 0, false
	}
	le, at := binary.LittleEndian, int(t.at[id])
	kind, n, flag := t.info(at)
	if kind != kindStruct && kind != kindUnion {
		return 0, 0, false
	}
	for i := range n {
		if *steps--; *steps < 0 {
			return 0, 0, false
		}
		m := t.data[at+headSize+12*i:]
		bit := le.Uint32(m[8:])
		if flag {
			bit &= 1<<24 - 1
		}
		own := t.name(le.Uint32(m))
		if own == name {
			return uint64(bit / 8), le.Uint32(m[4:]), true
		}
		if own == "" {
			if off, typ, ok := t.member(t.structOf(le.Uint32(m[4:])), name, depth+1, steps); ok {
				return off + uint64(bit/8), typ, true
			}
		}
	}
	return 0, 0, false
}
