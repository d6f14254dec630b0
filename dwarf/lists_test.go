package dwarf

import (
	"dbg/dwarf/form"
	"strings"
	"testing"
)

// TestListErrors checks that the error for an unreadable list contains its section and offset, and
// that the list yields nothing.
func TestListErrors(t *testing.T) {
	abbrev := []byte{1, byte(TagVariable), 0, byte(AttrLocation), byte(form.SecOffset), byte(AttrRanges), byte(form.SecOffset), 0, 0, 0}
	fine5 := cat([]byte{lleDefaultLocation, 1, 'x', lleEndOfList})
	fine4 := make([]byte, 16)
	for _, c := range []struct {
		name             string
		unit             func(...[]byte) []byte
		locs, ranges     string
		loc, rng         []byte // of the section, from offset 4 on
		wantLoc, wantRng string
	}{
		{"4, cut short", unit4, ".debug_loc", ".debug_ranges", append(u64(0x10), 1), append(u64(0x10), 1),
			".debug_loc list at 0x4: an 8-byte number is cut short", ".debug_ranges list at 0x4: an 8-byte number is cut short"},
		{"4, a long block", unit4, ".debug_loc", ".debug_ranges", cat(u64(0x10), u64(0x20), []byte{0xff, 0xff, 1}), fine4,
			".debug_loc list at 0x4: a block is cut short", ""},
		{"5, unknown kinds", unit5, ".debug_loclists", ".debug_rnglists", []byte{0x77}, []byte{0x66},
			".debug_loclists list at 0x4: unknown entry kind 119", ".debug_rnglists list at 0x4: unknown entry kind 102"},
		{"5, no end", unit5, ".debug_loclists", ".debug_rnglists", cat([]byte{lleBaseAddress}, u64(1)), fill(rleBaseAddress, 9*(maxUnitRanges+1)),
			".debug_loclists list at 0x4: a byte is cut short", ".debug_rnglists list at 0x4: the list does not end"},
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
			trouble := u.Data.Errors()
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

// TestManyRanges checks that a unit may have a range for each of very many functions.
func TestManyRanges(t *testing.T) {
	const n = 200_000
	abbrev := []byte{1, byte(TagCompileUnit), 0, byte(AttrRanges), byte(form.SecOffset), 0, 0, 0}
	list4, list5 := make([]byte, 4, 4+16*n+16), []byte{0, 0, 0, 0}
	for i := range uint64(n) {
		list4 = append(append(list4, u64(0x1000+32*i)...), u64(0x1008+32*i)...)
		list5 = append(append(append(list5, rleStartEnd), u64(0x1000+32*i)...), u64(0x1008+32*i)...)
	}
	list4, list5 = append(list4, make([]byte, 16)...), append(list5, rleEndOfList)
	for name, s := range map[string]sections{
		"4": {".debug_abbrev": abbrev, ".debug_ranges": list4, ".debug_info": unit4([]byte{1}, u32(4))},
		"5": {".debug_abbrev": abbrev, ".debug_rnglists": list5, ".debug_info": unit5([]byte{1}, u32(4))},
	} {
		u, e := first(t, s)
		ranges, err := e.Ranges()
		if err != nil || len(ranges) != n || ranges[n-1].Lo != 0x1000+32*(n-1) || len(u.Data.Errors()) != 0 {
			t.Errorf("DWARF %s: %d ranges, %v, trouble %v", name, len(ranges), err, u.Data.Errors())
		}
	}
}
