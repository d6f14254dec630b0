package dwarf

import (
	"dbg/dwarf/form"
	"strings"
	"testing"
)

// TestErrorKinds checks that only data that ends too early is reported as cut short.
func TestErrorKinds(t *testing.T) {
	attr := func(form ...byte) []byte {
		return append(append([]byte{1, 0x34, 0, 3}, form...), 0, 0, 0)
	}
	entry := func(body ...byte) []byte { return unit5(append([]byte{1}, body...)) }
	for _, c := range []struct {
		name string
		s    sections
		cut  bool
		want string
	}{
		{"a number that ends too early", sections{".debug_abbrev": attr(byte(form.Data8)), ".debug_info": entry(0, 0)}, true, "an 8-byte number"},
		{"an unknown form", sections{".debug_abbrev": attr(0x7f), ".debug_info": entry(0, 0)}, false, "form 0x7f"},
		{"an indirect constant", sections{".debug_abbrev": attr(byte(form.Indirect)), ".debug_info": entry(byte(form.ImplicitConst))}, false, "indirect"},
		{"a number that is too large", sections{".debug_abbrev": attr(byte(form.Udata)),
			".debug_info": entry(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02)}, false, "LEB128"},
		{"too many attributes", sections{".debug_abbrev": append([]byte{1, 0x34, 0}, fill(byte(form.Data1), 4000)...), ".debug_info": entry(0)}, false, "too many attributes"},
		{"a reserved length", sections{".debug_info": {0xf0, 0xff, 0xff, 0xff, 5, 0, 0, 0}}, false, "reserved length"},
	} {
		t.Run(c.name, func(t *testing.T) {
			units, err := New(c.s, false).Units()
			for _, u := range units {
				_, err = u.Entry(u.First)
			}
			if err == nil || strings.Contains(err.Error(), "cut short") != c.cut || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q, cut short %v", err, c.want, c.cut)
			}
		})
	}
}
