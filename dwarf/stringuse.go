package dwarf

import "bytes"

// StringsWith returns the offsets of a text in .debug_str, in ascending order, at most the given
// number. A string may begin at each of them, because linkers let strings share their ends.
func (d *Data) StringsWith(text string, most int) []uint64 {
	b := d.all(secStr)
	find := []byte(text)
	var out []uint64
	for at := 0; len(find) > 0 && len(out) < most; {
		i := bytes.Index(b[at:], find)
		if i < 0 {
			break
		}
		out = append(out, uint64(at+i))
		at += i + 1
	}
	return out
}
