package session

import (
	"cmp"
	"slices"

	"dbg/target"
)

// codeRange is a range of an entry's code.
type codeRange struct {
	lo, hi target.Addr
	entry  *jitEntry
}

// codeMap finds the entry with the code at an address. If two entries claim the same memory, the
// newer one has it.
type codeMap struct {
	ranges   []codeRange // by address; they do not overlap
	sorted   bool        // ranges are up to date
	overlaps bool        // some code is covered by newer code
}

// at returns the entry with the code at an address, or nil.
func (c *codeMap) at(a target.Addr) *jitEntry {
	if i := c.search(a); i < len(c.ranges) && c.ranges[i].lo <= a {
		return c.ranges[i].entry
	}
	return nil
}

// search returns the first range that ends after an address.
func (c *codeMap) search(a target.Addr) int {
	i, _ := slices.BinarySearchFunc(c.ranges, a, func(r codeRange, a target.Addr) int {
		if r.hi <= a {
			return -1
		}
		return 1
	})
	return i
}

// insert adds the code of the newest entry.
func (c *codeMap) insert(x *jitEntry) {
	for _, r := range x.ranges {
		if !c.sorted {
			return
		}
		i := c.search(r.lo)
		if i < len(c.ranges) && c.ranges[i].lo < r.hi {
			c.sorted = false
			return
		}
		c.ranges = slices.Insert(c.ranges, i, r)
		x.seen = true
	}
}

// delete removes the code of an entry.
func (c *codeMap) delete(x *jitEntry) {
	if c.overlaps {
		c.sorted = false // code that it covered may become visible again
	}
	for _, r := range x.ranges {
		if !c.sorted {
			return
		}
		if i := c.search(r.lo); i < len(c.ranges) && c.ranges[i].entry == x {
			c.ranges = slices.Delete(c.ranges, i, i+1)
		}
	}
}

// sort computes the ranges again.
func (c *codeMap) sort(lists []*jitList) {
	c.sorted, c.overlaps, c.ranges = true, false, nil
	type claim struct {
		codeRange
		age int
	}
	var all []claim
	for _, l := range lists {
		for i, e := range l.entries {
			e.seen = false
			for _, r := range e.ranges {
				all = append(all, claim{r, len(l.entries) - i})
			}
		}
	}
	slices.SortFunc(all, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.age, b.age), cmp.Compare(a.hi, b.hi))
	})
	var out []claim
	for _, r := range all {
		for len(out) > 0 && out[len(out)-1].hi > r.lo && out[len(out)-1].age > r.age {
			out, c.overlaps = out[:len(out)-1], true
		}
		if len(out) > 0 && out[len(out)-1].hi > r.lo {
			c.overlaps = true
			continue
		}
		out = append(out, r)
	}
	for _, r := range out {
		c.ranges = append(c.ranges, r.codeRange)
		r.entry.seen = true
	}
}
