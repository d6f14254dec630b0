package repl_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mappedFiles damages the entries of NT_FILE: numbers at their limits, those of other entries, and names of what is no file.
func (d *damage) mappedFiles() {
	exe, core := d.deadChain([]string{"thread"}, "-O1", "-g")
	fifo := filepath.Join(filepath.Dir(exe), "f")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		d.t.Fatal(err)
	}
	v := d.victim(core)
	var note part
	for _, n := range v.notes(v.elf()) {
		if n.name == "NT_FILE" {
			note = n
		}
	}
	if note.name == "" {
		d.t.Fatal("the core names no files")
	}
	v.parts(d.trials, opener(core, ""), note)
	desc := note.lo + 12 + 8 // its owner is "CORE"
	count := int(binary.LittleEndian.Uint64(v.data[desc:]))
	names := desc + 16 + 24*count
	strange := []string{fifo, "/dev/zero", "/dev/stdin", "/proc/self/mem", "/", "/proc/self/maps", "/dev/full", core, "[vdso]", "", "..", "/proc/kcore"}
	d.each("NT_FILE entries", d.trials, opener(core, ""), func(r *rand.Rand) func() {
		bad := bytes.Clone(v.data[desc:note.hi])
		word := func(i int) []byte { return bad[8*i : 8*i+8] }
		for range 1 + r.IntN(3) {
			entry := 2 + 3*r.IntN(count)
			switch r.IntN(6) {
			case 0: // the number of entries, the unit of offsets
				binary.LittleEndian.PutUint64(word(r.IntN(2)), limits[r.IntN(len(limits))])
			case 1:
				binary.LittleEndian.PutUint64(word(entry+r.IntN(3)), limits[r.IntN(len(limits))])
			case 2:
				copy(word(entry+r.IntN(3)), word(2+r.IntN(3*count)))
			case 3: // as long as can be
				binary.LittleEndian.PutUint64(word(entry), 0)
				binary.LittleEndian.PutUint64(word(entry+1), limits[len(limits)-1-r.IntN(4)])
			case 4:
				at := names - desc + r.IntN(note.hi-names)
				spoil(r, bad, at)
			default: // the name of what is no program
				at := 0
				for range r.IntN(count) {
					if n := bytes.IndexByte(bad[names-desc+at:], 0); n >= 0 {
						at += n + 1
					}
				}
				old := bytes.IndexByte(bad[names-desc+at:], 0)
				name := strange[r.IntN(len(strange))]
				if old < len(name) {
					continue
				}
				rest := bad[names-desc+at:]
				rest = append([]byte(name), rest[old:]...)
				n := copy(bad[names-desc+at:], rest)
				clear(bad[names-desc+at+n:])
			}
		}
		return v.put(desc, bad)
	})
}

// cutInUse cuts files short while a session has them: a core, its program, and its separate debug information.
func (d *damage) cutInUse() {
	exe, core := d.deadChain(nil, "-O1", "-g")
	for _, path := range []string{exe, core} {
		v := d.victim(path)
		n := d.trials
		if n < 10 {
			n = 10
		}
		for i := range n {
			r := rand.New(rand.NewPCG(uint64(i), 0xc7))
			when, size := r.IntN(len(damagedCommands)), r.Int64N(int64(len(v.data)))
			again := r.IntN(3) == 0
			d.try(filepath.Base(path)+" cut", opener(core, exe), func(i int) {
				if i == when || again && i == when+3 {
					if err := os.Truncate(path, size/int64(i-when+1)); err != nil {
						d.t.Fatal(err)
					}
				}
			})
			if err := os.WriteFile(path, v.data, 0o755); err != nil {
				d.t.Fatal(err)
			}
			if d.t.Failed() {
				d.t.Fatalf("%s cut to %d bytes before command %d", path, size, when)
			}
		}
	}
}
