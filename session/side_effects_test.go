package session

import "testing"

func TestHasSideEffects(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"a": false, "a == b": false, "a != b": false, "a <= b": false, "a >= b": false, "a << 2": false, "p->x": false, `f["="]`: false, "'='": false, "a - -b": false,
		"a = b": true, "a += b": true, "a <<= b": true, "a >>= 1": true, "a++": true, "--a": true, "a[b = 1]": true,
	} {
		if HasSideEffects(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
