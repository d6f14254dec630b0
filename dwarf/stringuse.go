package dwarf

import "bytes"

// StringsWith returns where a text is in .debug_str, ascending, at most so many places: a string may begin at each of them, as linkers
// let a string be the end of another.
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
