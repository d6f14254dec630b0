package symbols

import (
	"time"

	"dbg/symbols/names"
)

// Limits of the search for a name that resembles another.
const (
	maxNearLength  = 40        // letters of a name
	minNearLength  = 4         // shorter names resemble too many
	maxNearStrings = 256 << 10 // bytes of .debug_str that are searched
)

// nameLetters are the letters that a mistyped name may lack.
const nameLetters = "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// NearName returns the name of a global variable, a function or a type that differs from name by one
// letter: a wrong one, one too many, one that is missing, or two that are exchanged. It returns "" if
// there is none, or if it is not found in the given time. It builds no index: where there is one it looks
// up each such name; else it compares the strings of a small file.
func (m *Module) NearName(name string, limit time.Duration) string {
	if len(name) < minNearLength || len(name) > maxNearLength || m.dwarf() == nil {
		return ""
	}
	end := time.Now().Add(limit)
	if x := m.names.Present(); x != nil {
		return m.nearInIndex(x, name, end)
	}
	found := ""
	m.dwarf().EachString(maxNearStrings, func(s []byte) bool {
		if n := len(s) - len(name); n < -1 || n > 1 || len(s) < minNearLength || !differsByOne(name, string(s)) {
			return true
		}
		if m.isGlobal(string(s)) {
			found = string(s)
		}
		return found == "" && time.Now().Before(end)
	})
	return found
}

func (m *Module) isGlobal(name string) bool {
	return len(m.names.Variables(name)) > 0 || len(m.names.Functions(name)) > 0 || len(m.names.Types(name, name)) > 0
}

// nearInIndex looks up all names that differ by one letter.
func (m *Module) nearInIndex(x *names.Index, name string, end time.Time) string {
	tried, found := 0, ""
	try := func(s []byte) bool {
		if tried++; tried%64 == 0 && time.Now().After(end) {
			return false
		}
		if len(s) >= minNearLength && x.Has(string(s)) && m.isGlobal(string(s)) {
			found = string(s)
			return false
		}
		return true
	}
	eachNear(name, try)
	return found
}

// eachNear calls fn for the names that differ from a name by one letter, the most likely ones first. fn
// must not keep the slice.
func eachNear(name string, fn func(s []byte) bool) {
	buf := make([]byte, 0, maxNearLength+2)
	for i := range len(name) - 1 { // exchanged
		buf = append(buf[:0], name...)
		if buf[i], buf[i+1] = buf[i+1], buf[i]; name[i] != name[i+1] && !fn(buf) {
			return
		}
	}
	for i := range len(name) { // one too many
		if buf = append(append(buf[:0], name[:i]...), name[i+1:]...); !fn(buf) {
			return
		}
	}
	for i := range len(name) + 1 { // one missing
		for _, c := range []byte(nameLetters) {
			if buf = append(append(append(buf[:0], name[:i]...), c), name[i:]...); !fn(buf) {
				return
			}
		}
	}
	for i := range len(name) { // a wrong one
		for _, c := range []byte(nameLetters) {
			buf = append(buf[:0], name...)
			if buf[i] = c; name[i] != c && !fn(buf) {
				return
			}
		}
	}
}

// differsByOne reports whether eachNear would find b for a.
func differsByOne(a, b string) bool {
	if a == b {
		return false
	}
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	ra, rb := a[start:], b[start:]
	switch {
	case len(ra) == len(rb)+1:
		return ra[1:] == rb
	case len(rb) == len(ra)+1:
		return rb[1:] == ra
	case len(ra) != len(rb):
		return false
	}
	return ra[1:] == rb[1:] || len(ra) > 1 && ra[0] == rb[1] && ra[1] == rb[0] && ra[2:] == rb[2:]
}
