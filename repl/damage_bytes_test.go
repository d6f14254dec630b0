package repl_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"

	"dbg/session"
)

// victim is a file that is damaged where it is, and repaired.
type victim struct {
	d    *damage
	path string
	data []byte // as it was
}

func (d *damage) victim(path string) *victim {
	d.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	return &victim{d, path, data}
}

// part is a range of a file.
type part struct {
	name   string
	lo, hi int
}

// parts does n trials of each part.
func (v *victim) parts(n int, open func() (*session.Session, error), parts ...part) {
	for _, p := range parts {
		if p.lo < 0 || p.hi > len(v.data) || p.lo >= p.hi {
			v.d.t.Fatalf("%s of %s is %#x..%#x of %#x bytes", p.name, v.path, p.lo, p.hi, len(v.data))
		}
		v.d.each(p.name, n, open, func(r *rand.Rand) func() { return v.change(r, p) })
	}
}

// put writes bytes and returns how to undo it.
func (v *victim) put(at int, b []byte) (undo func()) {
	v.write(at, b)
	return func() { v.write(at, v.data[at:at+len(b)]) }
}

func (v *victim) write(at int, b []byte) {
	f, err := os.OpenFile(v.path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(b, int64(at))
		f.Close()
	}
	if err != nil {
		v.d.t.Fatal(err)
	}
}

// change damages a part in one to four places.
func (v *victim) change(r *rand.Rand, p part) (undo func()) {
	lo, hi := p.hi, p.lo
	bad := append([]byte(nil), v.data[p.lo:p.hi]...)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(bad))
		if r.IntN(3) == 0 { // headers are at the beginning
			at = r.IntN(min(len(bad), 64))
		}
		n := spoil(r, bad, at)
		lo, hi = min(lo, p.lo+at), max(hi, p.lo+at+n)
	}
	return v.put(lo, bad[lo-p.lo:hi-p.lo])
}

// limits are numbers at which arithmetic goes wrong.
var limits = []uint64{0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 40, 1 << 47, 1<<63 - 1, 1 << 63, 1<<64 - 1, 1<<64 - 8}

// spoil changes a few bytes from at on, and gives how many.
func spoil(r *rand.Rand, b []byte, at int) (n int) {
	room := len(b) - at
	switch r.IntN(6) {
	case 0:
		b[at] ^= 1 << r.IntN(8)
		return 1
	case 1:
		b[at] = byte(r.Uint32())
		return 1
	case 2: // a number of a limit
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], limits[r.IntN(len(limits))]+uint64(r.IntN(3)-1))
		return copy(b[at:], word[:1<<r.IntN(4)])
	case 3: // what is elsewhere
		from := r.IntN(len(b))
		return copy(b[at:min(len(b), at+1+r.IntN(64))], append([]byte(nil), b[from:]...))
	case 4: // a long LEB
		n = min(room, 1+r.IntN(12))
		for i := range n {
			b[at+i] = 0xff
		}
		return n
	default:
		n = min(room, 1+r.IntN(32))
		fill := byte(r.Uint32()) & byte(-r.IntN(2)) // 0 or anything
		for i := range n {
			b[at+i] = fill
		}
		return n
	}
}
