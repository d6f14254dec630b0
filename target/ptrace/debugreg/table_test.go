package debugreg

import (
	"errors"
	"testing"

	"dbg/target"
)

// The bits of DR7 are those of Intel SDM volume 3, figure 17-1.
func TestControl(t *testing.T) {
	var d Table
	for _, w := range []target.Watch{
		{Addr: 0x1000, Len: 8, Kind: target.WatchWrite},
		{Addr: 0x2000, Len: 4, Kind: target.WatchAccess},
		{Addr: 0x3000, Len: 1, Kind: target.WatchExecute},
	} {
		if added, err := d.Add(w); !added || err != nil {
			t.Fatal(added, err)
		}
	}
	const want = 1 | 1<<2 | 1<<4 | // L0, L1, L2
		(1|2<<2)<<16 | // a write of 8 bytes
		(3|3<<2)<<20 // a read or write of 4 bytes
	if got := d.control(); got != want {
		t.Errorf("DR7 %#x, want %#x", got, want)
	}
	if !d.Executes(0x3000) || d.Executes(0x1000) {
		t.Error("Executes")
	}
	if !d.Touches(0x1007, 1, true) || d.Touches(0x1007, 1, false) || d.Touches(0x1008, 8, true) || !d.Touches(0x1fff, 2, false) {
		t.Error("Touches")
	}
}

// A watch has users, a register is free after its last one, and a fifth watch finds none.
func TestSlots(t *testing.T) {
	var d Table
	watch := func(i int) target.Watch {
		return target.Watch{Addr: target.Addr(0x1000 * (i + 1)), Len: 8, Kind: target.WatchWrite}
	}
	for i := range slots {
		if added, err := d.Add(watch(i)); !added || err != nil {
			t.Fatal(added, err)
		}
	}
	if added, err := d.Add(watch(0)); added || err != nil {
		t.Errorf("the same watch again: %v, %v", added, err)
	}
	if _, err := d.Add(watch(slots)); !errors.Is(err, target.ErrNoSlot) {
		t.Errorf("a fifth watch: %v", err)
	}
	before := d.Version()
	if !d.Remove(watch(0)) || d.Version() != before {
		t.Error("the watch has another user")
	}
	if !d.Remove(watch(0)) || d.Version() == before || d.Remove(watch(0)) {
		t.Error("the watch is gone")
	}
	if added, err := d.Add(watch(slots)); !added || err != nil {
		t.Errorf("a register is free: %v, %v", added, err)
	}
}
