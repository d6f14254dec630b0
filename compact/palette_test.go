package compact_test

import (
	"testing"

	"dbg/arch"
	"dbg/compact"
)

// TestPalettes: more opcodes in a palette than Apple's header permits (127 common ones, 128 of a page) count, as far as
// an index of 8 bits reaches.
func TestPalettes(t *testing.T) {
	for _, common := range []int{0, 56, 127, 128, 200, 256} {
		s := &section{end: 0x1000 + 256, pages: []page{{kind: 3, first: 0x1000}}}
		want := func(i int) uint32 { return 0x02000000 | uint32(i)<<16 }
		for i := range 256 {
			if i < common {
				s.common = append(s.common, want(i))
			} else {
				s.pages[0].local = append(s.pages[0].local, want(i))
			}
			s.pages[0].entries = append(s.pages[0].entries, entry{addr: 0x1000 + uint32(i), index: i})
		}
		tab := newTable(t, arch.AMD64, s.encode(), base)
		var e compact.Entry
		for i := range 256 {
			if err := tab.Find(base+0x1000+uint64(i), &e); err != nil || uint32(e.Opcode) != want(i) {
				t.Fatalf("%d common opcodes, index %d: %#x, %v", common, i, uint32(e.Opcode), err)
			}
		}
	}
}
