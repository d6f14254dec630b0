package view

import (
	"errors"
	"fmt"

	"dbg/eval"
	"dbg/symbols/types"
)

// A HashMap or a HashSet is a table of crate hashbrown (src/raw.rs): buckets, a power of two, which
// lie before the address ctrl, the first one last; and from ctrl on a control byte for each bucket.
// The highest bit of the byte is clear if the bucket is in use, else the byte is EMPTY or DELETED.
type hashTable struct {
	r       *rust
	elem    *types.Type // (K, V)
	ctrl    addr
	buckets int64
	items   int64
	size    int64 // of elem

	next  int64   // the first bucket that was not looked at
	found []int64 // buckets in use
	err   error
}

const (
	hashEmpty, hashDeleted = 0xff, 0x80
	maxBuckets             = 1 << 24 // that are looked at
	wholeTable             = 1 << 14 // a smaller table is checked whole
)

func rustHash(r *rust) bool {
	v, elem := r.v, (*types.Type)(nil)
	for range 6 {
		if _, name := rustName(v.Type.Strip().Name); name == "RawTable" {
			elem = typeArg(v.Type, 0)
		}
		if _, ok := dig(v, r.env, "bucket_mask"); ok {
			break
		}
		m, ok := dig(v, r.env, "base|map|table")
		if !ok {
			return false
		}
		v = m
	}
	if _, ok := dig(v, r.env, "ctrl"); !ok || elem == nil || len(elem.Strip().Fields()) != 2 {
		return false
	}
	h := &hashTable{r: r, elem: elem, size: max(elem.Strip().Size, 0)}
	isMap := r.name == "HashMap"
	r.list = &rustItems{form: eval.Braces, at: func(i int64) eval.Value {
		k, value, err := h.pair(i)
		switch {
		case err != nil:
			return named(unreadable(err), i)
		case isMap:
			return pairItem(k, value, r.env)
		}
		return named(k, i)
	}}
	if isMap {
		r.list.form = eval.Keyed
	}
	r.check = func() error { return h.open(v) }
	r.collection()
	r.keyed(isMap, h.pair)
	r.method("capacity", func() (eval.Value, error) {
		left, _ := digNumber(v, r.env, "growth_left")
		return eval.FromInt(h.items + left), nil
	})
	return true
}

// open reads and checks the table's header.
func (h *hashTable) open(v eval.Value) error {
	mask, ok1 := digNumber(v, h.r.env, "bucket_mask")
	ctrl, ok2 := digNumber(v, h.r.env, "ctrl")
	left, ok3 := digNumber(v, h.r.env, "growth_left")
	items, ok4 := digNumber(v, h.r.env, "items")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return errors.New("its header can't be read")
	}
	most := mask + 1
	if capacity := most; mask >= 8 {
		most = capacity / 8 * 7
	} else {
		most = mask
	}
	switch {
	case mask < 0 || mask >= 1<<40 || mask&(mask+1) != 0 || (mask+1) > 1<<47/max(h.size, 1):
		return fmt.Errorf("%d buckets", uint64(mask)+1)
	case items < 0 || left < 0 || items > most || left > most-items:
		return fmt.Errorf("%d elements and place for %d more in %d buckets", uint64(items), uint64(left), mask+1)
	case mask > 0 && uint64(ctrl) < uint64(h.size)*uint64(mask+1):
		return fmt.Errorf("control bytes at %#x", uint64(ctrl))
	}
	h.ctrl, h.buckets, h.items = addr(ctrl), mask+1, items
	h.r.list.n = items
	if h.buckets <= wholeTable && mask > 0 {
		for h.next < h.buckets && h.err == nil {
			h.read()
		}
		if h.err == nil && int64(len(h.found)) != items {
			h.err = fmt.Errorf("%d buckets are in use, but it has %d elements", len(h.found), items)
		}
	}
	return h.err
}

// read looks at some more control bytes.
func (h *hashTable) read() {
	b := make([]byte, min(h.buckets-h.next, 4096))
	if n, err := h.r.env.ReadMemory(h.ctrl+addr(h.next), b); n < len(b) {
		if err == nil {
			err = errors.New("its control bytes can't be read")
		}
		h.err = err
		return
	}
	for i, c := range b {
		switch {
		case c < hashDeleted:
			h.found = append(h.found, h.next+int64(i))
		case c != hashEmpty && c != hashDeleted:
			h.err = fmt.Errorf("the control byte %#x", c)
			return
		}
	}
	h.next += int64(len(b))
}

// pair returns the key and the value of an element. The value of a set is ().
func (h *hashTable) pair(i int64) (k, v eval.Value, err error) {
	for i >= int64(len(h.found)) && h.err == nil {
		switch {
		case h.next >= h.buckets:
			h.err = fmt.Errorf("the table ends after %d elements", len(h.found))
		case h.next >= maxBuckets:
			h.err = fmt.Errorf("more than %d buckets", maxBuckets)
		default:
			h.read()
		}
	}
	if i >= int64(len(h.found)) {
		return k, v, h.err
	}
	slot := eval.Value{Type: h.elem, Addr: h.ctrl - addr((h.found[i]+1)*h.size), HasAddr: true}
	if h.size == 0 {
		slot.Bytes = []byte{}
	}
	fields := h.elem.Strip().Fields()
	slot = eval.Fetch(slot, h.r.env)
	if err := availability(slot); err != nil {
		return k, v, err
	}
	// The compiler may have put the members in any order; their names count.
	k, ok1 := dig(slot, h.r.env, "0")
	v, ok2 := dig(slot, h.r.env, "1")
	if !ok1 || !ok2 {
		return k, v, fmt.Errorf("an element of the type %s", fields[0].Type.String())
	}
	return k, v, nil
}
