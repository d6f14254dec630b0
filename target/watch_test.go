package target

import (
	"fmt"
	"testing"
)

func TestWatches(t *testing.T) {
	for _, c := range []struct {
		addr Addr
		size uint64
		max  int
		want string
	}{
		{0x1000, 4, 4, "[0x1000+4]"},
		{0x1000, 8, 4, "[0x1000+8]"},
		{0x1004, 8, 4, "[0x1004+4 0x1008+4]"},
		{0x1001, 8, 4, "[0x1001+1 0x1002+2 0x1004+4 0x1008+1]"},
		{0x1001, 8, 3, "[]"},
		{0x1000, 12, 4, "[0x1000+8 0x1008+4]"},
		{0x1000, 32, 4, "[0x1000+8 0x1008+8 0x1010+8 0x1018+8]"},
		{0x1000, 33, 4, "[]"},
		{0x1003, 1, 4, "[0x1003+1]"},
		{0xfffffffffffffff8, 8, 4, "[0xfffffffffffffff8+8]"},
		{0x1000, 1 << 40, 4, "[]"},
	} {
		got := Watches(c.addr, c.size, WatchWrite, c.max)
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s, %d bytes: %v, want %s", c.addr, c.size, got, c.want)
		}
		for _, w := range got {
			if !w.Valid() {
				t.Errorf("%v is not valid", w)
			}
		}
	}
	w := Watch{0x1004, 4, WatchWrite}
	for _, c := range []struct {
		a    Addr
		n    int
		want bool
	}{{0x1003, 1, false}, {0x1003, 2, true}, {0x1007, 1, true}, {0x1008, 8, false}, {0x1000, 16, true}} {
		if w.Overlaps(c.a, c.n) != c.want {
			t.Errorf("%s+%d overlaps %v: want %v", c.a, c.n, w, c.want)
		}
	}
}
