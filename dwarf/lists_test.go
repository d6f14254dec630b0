package dwarf

import (
	"strings"
	"testing"
)

// TestListErrors says of a list that can't be read in which section it is and where, and tells nothing of
// what it would have had.
func TestListErrors(t *testing.T) {
	abbrev := []byte{1, byte(TagVariable), 0, byte(AttrLocation), byte(formSecOffset), byte(AttrRanges), byte(formSecOffset), 0, 0, 0}
	fine5 := cat([]byte{lleDefaultLocation, 1, 'x', lleEndOfList})
	fine4 := make([]byte, 16)
	for _, c := range []struct {
		name             string
		unit             func(...[]byte) []byte
		locs, ranges     string
		loc, rng         []byte // of the section, from 4 on
		wantLoc, wantRng string
	}{
		{"4, cut short", unit4, ".debug_loc", ".debug_ranges", append(u64(0x10), 1), append(u64(0x10), 1),
			"the list at 0x4 of .debug_loc: an 8-byte number is cut short", "the list at 0x4 of .debug_ranges: an 8-byte number is cut short"},
		{"4, a long block", unit4, ".debug_loc", ".debug_ranges", cat(u64(0x10), u64(0x20), []byte{0xff, 0xff, 1}), fine4,
			"the list at 0x4 of .debug_loc: a block is cut short", ""},
		{"5, unknown kinds", unit5, ".debug_loclists", ".debug_rnglists", []byte{0x77}, []byte{0x66},
			"the list at 0x4 of .debug_loclists: it has an entry of the unknown kind 119", "the list at 0x4 of .debug_rnglists: it has an entry of the unknown kind 102"},
		{"5, no end", unit5, ".debug_loclists", ".debug_rnglists", cat([]byte{lleBaseAddress}, u64(1)), fill(rleBaseAddress, 9*(maxRanges+1)),
			"the list at 0x4 of .debug_loclists: a byte is cut short", "the list at 0x4 of .debug_rnglists: it has no end"},
		{"5, fine", unit5, ".debug_loclists", ".debug_rnglists", fine5, []byte{rleEndOfList}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sections{".debug_abbrev": abbrev, c.locs: cat(u32(0), c.loc), c.ranges: cat(u32(0), c.rng), ".debug_info": c.unit([]byte{1}, u32(4), u32(4))}
			u, e := first(t, s)
			code, err := u.Location(e.Find(AttrLocation), 0x10)
			says(t, "location", err, c.wantLoc)
			if err != nil && code != nil {
				t.Errorf("%q comes with an error", code)
			}
			_, err = e.Ranges()
			says(t, "ranges", err, c.wantRng)
			trouble := u.Data.Trouble()
			if want := c.wantLoc != ""; len(trouble) != 1 && want || len(trouble) != 0 && !want {
				t.Errorf("trouble %v", trouble)
			} else if want {
				says(t, "trouble", trouble[0], c.wantLoc)
			}
		})
	}
}

func fill(b byte, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = b
	}
	return out
}

func says(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}
