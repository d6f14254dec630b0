package eval

import (
	"fmt"
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// Limits of a map: sizes that the runtime never exceeds, and how much of a large map is examined.
const (
	maxGoDirectory = 1 << 24 // tables of a map
	maxGoTable     = 1 << 10 // slots of a table (internal/runtime/maps, maxTableCapacity)
	maxGoGroup     = 1 << 13 // bytes of a group: keys and elements in it have up to 128 bytes each
	maxGoGroups    = 1 << 18 // that are examined in one query
	goGroupSlots   = 8
	goInlineBytes  = 128 // of a key or an element; a slot holds the address of a larger one
)

// goMap is a Go map: internal/runtime/maps.Map, the "Swiss" map of Go 1.24 and later, or
// runtime.hmap before.
type goMap struct {
	name      string
	isNil     bool
	swiss     bool
	used      int64
	key, elem *types.Type
	header    Value
	err       error // why its content is unknown
}

const (
	errGoLayout = Error("unknown map layout")
	errGoLarge  = Error("the map is too large to read completely")
)

// errCorrupt returns the error for a corrupt map or channel.
func errCorrupt(format string, args ...any) error {
	return errorf("the content is corrupt: "+format, args...)
}

// goTypeWith returns the type with a Go element: the given one, or one that it is a typedef of.
func goTypeWith(t *types.Type) *types.Type {
	for range 10 {
		if t == nil || t.Kind != types.Typedef || t.Lang != lang.Go {
			return nil
		}
		if t.GoElem() != nil {
			return t
		}
		t = t.Elem()
	}
	return nil
}

// goReference finds the structure to which a map or a channel points, by the prefix of its name. It
// returns nil if the value is not one of them.
func goReference(v Value, prefix string) (t, header *types.Type) {
	if v.Type == nil || v.Type.Kind != types.Typedef || v.Type.Lang != lang.Go || kindOf(v.Type) != types.Pointer {
		return nil, nil
	}
	if header = elemOf(v.Type); header == nil {
		return nil, nil
	}
	if header = header.Strip(); header.Kind != types.Struct || !strings.HasPrefix(header.Name, prefix) {
		return nil, nil
	}
	return goTypeWith(v.Type), header
}

// goMapOf reads a map. It returns false if the value is not a map.
func goMapOf(v Value, env Env) (goMap, bool) {
	swiss, counter := true, "used"
	t, header := goReference(v, "map<")
	if t == nil {
		swiss, counter = false, "count"
		t, header = goReference(v, "hash<")
	}
	if t == nil || t.GoKey() == nil || env == nil {
		return goMap{}, false
	}
	m := goMap{name: v.Type.GoName(), key: t.GoKey(), elem: t.GoElem(), swiss: swiss}
	if v = load(v, env); v.Avail != Available {
		return goMap{}, false
	}
	at := integerOf(v)
	if m.isNil = at == 0; m.isNil {
		return m, true
	}
	m.header = load(Value{Type: header, Addr: target.Addr(at), HasAddr: true}, env)
	if m.err = availabilityError(m.header); m.err != nil {
		return m, true
	}
	used, ok := number64(field(m.header, counter))
	if !ok || used > 1<<40 {
		m.err = errCorrupt("a map of %d elements", used)
		return m, true
	}
	m.used = int64(used)
	return m, true
}

// number64 returns the value of an integer that was read.
func number64(v Value) (uint64, bool) {
	if v.Avail != Available || v.Bytes == nil || !isIntegral(v.Type) {
		return 0, false
	}
	return integerOf(v), true
}

// pairs calls yield for each key and its element until it returns false.
func (m *goMap) pairs(env Env, yield func(key, elem Value) bool) error {
	if m.isNil || m.err != nil {
		return m.err
	}
	if !m.swiss {
		return m.buckets(env, yield)
	}
	dir := field(m.header, "dirPtr")
	at, ok1 := number64(dir)
	n, ok2 := number64(field(m.header, "dirLen"))
	writing, ok3 := number64(field(m.header, "writing"))
	table := elemOf(elemOf(dir.Type))
	if table == nil {
		return errGoLayout
	}
	groups := field(Value{Type: table}, "groups")
	data := field(groups, "data")
	group := elemOf(data.Type)
	w := goWalk{m: m, env: env, yield: yield, group: group}
	if size := sizeOf(group); !ok1 || !ok2 || !ok3 || size <= 0 || size > maxGoGroup || sizeOf(table) <= 0 || sizeOf(table) > 1<<10 {
		return errGoLayout
	}
	var err error
	switch {
	case n == 0 && at == 0: // the map has never had an element
	case n == 0:
		err = w.visit(target.Addr(at))
	case n > maxGoDirectory || n&(n-1) != 0:
		return errCorrupt("a directory of %d tables", n)
	default:
		err = w.directory(target.Addr(at), int64(n), table)
	}
	if err == nil && !w.done && w.found != m.used && writing == 0 {
		return errCorrupt("%d elements found, but its count is %d", w.found, m.used)
	}
	return err
}

// goWalk iterates over the groups of a map.
type goWalk struct {
	m      *goMap
	env    Env
	yield  func(key, elem Value) bool
	group  *types.Type
	found  int64
	groups int
	done   bool // yield has returned false
}

// directory visits the tables. If several entries refer to one table, they are adjacent.
func (w *goWalk) directory(at target.Addr, n int64, table *types.Type) error {
	p := int64(w.env.Arch().PtrSize)
	last := target.Addr(0)
	for i := int64(0); i < n && !w.done; {
		b := make([]byte, min(n-i, 512)*p)
		if got, err := w.env.ReadMemory(at+target.Addr(i*p), b); err != nil || got < len(b) {
			return cannotAccess(err, at+target.Addr(i*p))
		}
		for ; len(b) > 0 && !w.done; b, i = b[p:], i+1 {
			a := target.Addr(rawUint(b[:p]))
			if a == last {
				continue
			}
			last = a
			t := load(Value{Type: table, Addr: a, HasAddr: true}, w.env)
			if err := availabilityError(t); err != nil {
				return err
			}
			data, ok1 := number64(field(field(t, "groups"), "data"))
			mask, ok2 := number64(field(field(t, "groups"), "lengthMask"))
			if !ok1 || !ok2 || mask >= maxGoTable/goGroupSlots || mask&(mask+1) != 0 {
				return errCorrupt("a table of %d groups", mask+1)
			}
			for g := uint64(0); g <= mask && !w.done; g++ {
				if err := w.visit(target.Addr(data + g*uint64(sizeOf(w.group)))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// visit iterates over the slots of a group. A slot is in use if the highest bit of its control byte
// is clear.
func (w *goWalk) visit(a target.Addr) error {
	if w.groups++; w.groups > maxGoGroups {
		return errGoLarge
	}
	g := load(Value{Type: w.group, Addr: a, HasAddr: true}, w.env)
	if err := availabilityError(g); err != nil {
		return err
	}
	ctrl, ok := number64(field(g, "ctrl"))
	slots := field(g, "slots")
	slot := elemOf(slots.Type)
	size := sizeOf(slot)
	if !ok || size < 0 || kindOf(slots.Type) != types.Array || size*goGroupSlots > sizeOf(slots.Type) {
		return errGoLayout
	}
	for i := int64(0); i < goGroupSlots && !w.done; i++ {
		if ctrl>>(8*i)&0x80 != 0 {
			continue
		}
		if w.found++; w.found > w.m.used+1 {
			return errCorrupt("more elements found than its count, %d", w.m.used)
		}
		s := part(slots, i*size, slot, "")
		key, elem := inSlot(field(s, "key"), w.m.key, w.env), inSlot(field(s, "elem"), w.m.elem, w.env)
		w.done = !w.yield(key, elem)
	}
	return nil
}

// inSlot returns a key or an element. If it is large, the slot holds its address.
func inSlot(v Value, t *types.Type, env Env) Value {
	inline := sizeOf(t) <= goInlineBytes
	if inline && sizeOf(v.Type) == sizeOf(t) {
		v.Type = t
		return v
	}
	if inline || kindOf(v.Type) != types.Pointer {
		return Value{Type: t, Avail: Unreadable, Err: errGoLayout}
	}
	p := load(v, env)
	if err := availabilityError(p); err != nil {
		return p
	}
	return Value{Type: t, Addr: target.Addr(integerOf(p)), HasAddr: true}
}

// goMap writes map[string]int ["one": 1, "two": 2].
func (p *printer) goMap(m *goMap) {
	p.str(m.name)
	if m.isNil {
		p.str(" nil")
		return
	}
	if p.hidden() {
		p.str(" {...}")
		return
	}
	p.str(" [")
	n := 0
	err := m.pairs(p.env, func(key, elem Value) bool {
		if n > 0 {
			p.str(", ")
		}
		if n++; n > p.opt.MaxElements || p.full() {
			p.str("...")
			return false
		}
		p.value(key)
		p.str(": ")
		p.value(elem)
		return true
	})
	if err != nil {
		if n > 0 {
			p.str(", ")
		}
		p.str("<error: " + err.Error() + ">")
	}
	p.str("]")
}

// goMapTree returns the elements of a map, named by their keys.
func goMapTree(m *goMap, env Env) tree {
	var elems []Value
	if m.isNil {
		return tree{}
	}
	err := m.pairs(env, func(key, elem Value) bool {
		elem.Name = fmt.Sprintf("[%s]", Format(key, env, Options{Inner: true, Compact: true, MaxElements: 50}))
		elems = append(elems, elem)
		return len(elems) < maxChildren
	})
	return tree{count: int64(len(elems)), at: func(i int64) Value { return elems[i] }, err: err}
}
