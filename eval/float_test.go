package eval

import (
	"encoding/hex"
	"testing"
)

// Patterns of the x87's format (Intel SDM, volume 1, sections 4.2.2 and 8.2.2).
func TestExtendedPatterns(t *testing.T) {
	for _, c := range []struct{ name, bytes, want string }{
		{"one", "0000000000000080ff3f", "1"},
		{"minus three and a quarter", "00000000000000d000c0", "-3.25"},
		{"zero", "00000000000000000000", "0"},
		{"minus zero", "00000000000000000080", "-0"},
		{"infinite", "0000000000000080ff7f", "inf"},
		{"no number", "00000000000000c0ff7f", "nan(0xc000000000000000)"},
		{"pseudo-infinity", "0000000000000000ff7f", ""},
		{"pseudo-NaN", "0000000000000040ff7f", ""},
		{"unnormal", "0000000000000040ff3f", ""},
		{"unnormal without any bit", "0000000000000000ff3f", ""},
		{"pseudo-denormal", "00000000000000800000", "3.36210314311209350626e-4932"},
	} {
		b, err := hex.DecodeString(c.bytes + "000000000000")
		if err != nil {
			t.Fatal(err)
		}
		f, ok := floatOf(b, typeLongDouble)
		text := ""
		if ok {
			text = f.String()
		}
		if text != c.want {
			t.Errorf("%s is %q, want %q", c.name, text, c.want)
		}
	}
}

// What glibc, and so gdb, takes for the beginning of a character that is cut off.
func TestIsIncomplete(t *testing.T) {
	for text, want := range map[string]bool{"\xc3": true, "\xe2\x82": true, "\xf0\x9f\x98": true, "\xf7": true, "\xf5\x80": true,
		"\xf7a": false, "\xff": false, "\x80": false, "\xf7\x80\x80\x80": false, "é": false, "\xc3a": false} {
		if got := isIncomplete([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
