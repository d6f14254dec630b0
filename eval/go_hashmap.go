package eval

import (
	"dbg/symbols/types"
	"dbg/target"
)

// A map until Go 1.23 (runtime.hmap, runtime.bmap) has 1<<B buckets of eight slots, each with a
// chain of overflow buckets. While it grows, it also has the old buckets. Those that were not moved
// yet still hold their elements.
const (
	goSameSizeGrow = 8 // in hmap.flags
	goMinTopHash   = 5 // the minimum for a slot in use; below: unused, or moved
	goEmptyOne     = 1
)

// goBuckets iterates over the buckets of a map.
type goBuckets struct {
	goWalk
	bucket *types.Type
}

func (m *goMap) buckets(env Env, yield func(key, elem Value) bool) error {
	h := m.header
	shift, ok1 := number64(field(h, "B"))
	flags, ok2 := number64(field(h, "flags"))
	at, ok3 := number64(field(h, "buckets"))
	old, ok4 := number64(field(h, "oldbuckets"))
	bucket := elemOf(field(h, "buckets").Type)
	size := sizeOf(bucket)
	switch {
	case !ok1 || !ok2 || !ok3 || !ok4 || size <= 0 || size > maxGoGroup:
		return errGoLayout
	case shift > 40:
		return errCorrupt("1<<%d buckets", shift)
	}
	w := goBuckets{goWalk{m: m, env: env, yield: yield}, bucket}
	n := uint64(1) << shift
	if at != 0 {
		if err := w.all(at, n, false); err != nil {
			return err
		}
	}
	if old != 0 {
		if flags&goSameSizeGrow == 0 {
			n /= 2
		}
		if err := w.all(old, n, true); err != nil {
			return err
		}
	}
	const writing = 4 // in hmap.flags: a goroutine is changing the map
	if !w.done && w.found != m.used && flags&writing == 0 {
		return errCorrupt("%d elements found, but its count is %d", w.found, m.used)
	}
	return nil
}

// all iterates over n buckets and their overflow chains.
func (w *goBuckets) all(at, n uint64, old bool) error {
	for i := uint64(0); i < n && !w.done; i++ {
		a := target.Addr(at + i*uint64(sizeOf(w.bucket)))
		for first := true; a != 0 && !w.done; first = false {
			next, moved, err := w.one(a, first && old)
			if err != nil {
				return err
			}
			if moved {
				break
			}
			a = next
		}
	}
	return nil
}

// one iterates over the slots of a bucket. moved means that the content of an old bucket was moved
// to the new ones.
func (w *goBuckets) one(a target.Addr, old bool) (next target.Addr, moved bool, err error) {
	if w.groups++; w.groups > maxGoGroups {
		return 0, false, errGoLarge
	}
	b := load(Value{Type: w.bucket, Addr: a, HasAddr: true}, w.env)
	if err := availabilityError(b); err != nil {
		return 0, false, err
	}
	top, keys, values := field(b, "tophash"), field(b, "keys"), field(b, "values")
	overflow, ok := number64(field(b, "overflow"))
	key, value := elemOf(keys.Type), elemOf(values.Type)
	if !ok || len(top.Bytes) != goGroupSlots || !goSlots(keys.Type) || !goSlots(values.Type) {
		return 0, false, errGoLayout
	}
	if h := top.Bytes[0]; old && h > goEmptyOne && h < goMinTopHash {
		return 0, true, nil
	}
	for i, h := range top.Bytes {
		if h < goMinTopHash {
			continue
		}
		if w.found++; w.found > w.m.used+1 {
			return 0, false, errCorrupt("more elements found than its count, %d", w.m.used)
		}
		k, e := part(keys, int64(i)*sizeOf(key), key, ""), part(values, int64(i)*sizeOf(value), value, "")
		if w.done = !w.yield(inSlot(k, w.m.key, w.env), inSlot(e, w.m.elem, w.env)); w.done {
			break
		}
	}
	return target.Addr(overflow), false, nil
}

// goSlots reports whether a type is an array of eight elements, possibly of size 0.
func goSlots(t *types.Type) bool {
	size := sizeOf(elemOf(t))
	return kindOf(t) == types.Array && (size == 0 || size > 0 && size*goGroupSlots == sizeOf(t))
}
