package procfs

import (
	"math/rand/v2"
	"testing"
)

const smaps = `7f0000000000-7f0000021000 rw-s 00001000 fe:01 1337                       /tmp/a file (deleted)
Size:                132 kB
Anonymous:             8 kB
Swap:                  4 kB
VmFlags: rd wr sh mr dd io ht
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]
Anonymous:            12 kB
VmFlags: rd wr mr mw me gd ac
`

func TestParseSmaps(t *testing.T) {
	list := parseSmaps([]byte(smaps))
	if len(list) != 2 {
		t.Fatalf("%d regions, want 2", len(list))
	}
	a, b := list[0], list[1]
	if a.Lo != 0x7f0000000000 || a.Path != "/tmp/a file" || !a.Deleted || !a.Shared || !a.DontDump || !a.IO || !a.Huge || a.Anonymous != 12<<10 || a.Offset != 0x1000 {
		t.Errorf("%+v", a)
	}
	if b.Path != "[stack]" || b.Shared || b.DontDump || b.IO || b.Huge || b.Anonymous != 12<<10 {
		t.Errorf("%+v", b)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 { // nothing may panic
		text := []byte(smaps)
		for range 1 + r.IntN(4) {
			text[r.IntN(len(text))] = byte(r.Uint32())
		}
		parseSmaps(text[r.IntN(len(text)):])
	}
}
