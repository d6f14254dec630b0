package image

import (
	"bytes"
	"debug/elf"
	"math/rand"
	"slices"
	"testing"

	"dbg/internal/fixture"
)

// mapELF lays an ELF file out as a loader does; relocated adds the slide to the pointers of PT_DYNAMIC, as glibc does.
func mapELF(t *testing.T, f *File, slide uint64, relocated bool) memoryAt {
	t.Helper()
	segs := f.Segments()
	m := memoryAt{at: slide, data: make([]byte, uint64(segs[len(segs)-1].Hi))}
	for _, s := range segs {
		b, _ := f.bytes(s.FileOff, s.FileSize)
		copy(m.data[s.Lo:], b)
	}
	for _, p := range f.progs {
		for at := p.Addr; relocated && p.Type == elf.PT_DYNAMIC && at < p.Addr+p.FileSize; at += 16 {
			switch elf.DynTag(f.header.Order.Uint64(m.data[at:])) {
			case elf.DT_SYMTAB, elf.DT_STRTAB, elf.DT_GNU_HASH, elf.DT_HASH:
				f.header.Order.PutUint64(m.data[at+8:], f.header.Order.Uint64(m.data[at+8:])+slide)
			}
		}
	}
	return m
}

// memoryAt is bytes at an address.
type memoryAt struct {
	at   uint64
	data []byte
}

func (m memoryAt) read(addr uint64, buf []byte) (int, error) {
	if addr < m.at || addr-m.at >= uint64(len(m.data)) {
		return 0, nil
	}
	return copy(buf, m.data[addr-m.at:]), nil
}

// TestFromMappedELF finds in memory what the file has.
func TestFromMappedELF(t *testing.T) {
	for name, flags := range map[string][]string{
		"gnu hash":  {"-Wl,--hash-style=gnu"},
		"sysv hash": {"-Wl,--hash-style=sysv"},
		"no hash":   {"-Wl,--hash-style=gnu", "no hash"},
	} {
		for _, relocated := range []bool{false, true} {
			without := flags[len(flags)-1] == "no hash"
			f, err := Open(fixture.Build(t, "torture/chain.c", "-g", "-rdynamic", "-Wl,--build-id", flags[0]))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			const slide = 0x7f1234560000
			m := mapELF(t, f, slide, relocated)
			if without {
				for _, p := range f.progs {
					for at := p.Addr; p.Type == elf.PT_DYNAMIC && at < p.Addr+p.FileSize; at += 16 {
						if elf.DynTag(f.header.Order.Uint64(m.data[at:])) == elf.DT_GNU_HASH {
							f.header.Order.PutUint64(m.data[at:], 0x6ffffdf5) // something else
						}
					}
				}
			}
			g, err := FromMapped("image", m.read, slide)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if g.Slide() != slide || g.BuildID() != f.BuildID() || g.BuildID() == "" || g.Arch() != f.Arch() {
				t.Errorf("%s: slide %#x, build id %s", name, g.Slide(), g.BuildID())
			}
			var want, got []string
			for _, s := range f.readSymbols(elf.SHT_DYNSYM) {
				want = append(want, s.Name)
			}
			for _, s := range g.Symbols() {
				got = append(got, s.Name)
			}
			if len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s, relocated %t: the symbols are %q, want %q", name, relocated, got, want)
			}
			for _, section := range []string{".eh_frame_hdr", ".eh_frame"} {
				a, _ := f.Section(section)
				b, _ := g.Section(section)
				if a.Addr != b.Addr || len(b.Data) == 0 || !bytes.HasPrefix(a.Data, b.Data) || len(a.Data)-len(b.Data) > 4 {
					t.Errorf("%s: %s has %d bytes at %v, want %d at %v", name, section, len(b.Data), b.Addr, len(a.Data), a.Addr)
				}
			}
			var x, y [32]byte
			f.ReadAt(f.Entry(), x[:])
			if _, err := g.ReadAt(f.Entry(), y[:]); err != nil || x != y {
				t.Errorf("%s: the code at the entry point is % x, %v", name, y, err)
			}
		}
	}
}

// TestFromMappedELFDamaged changes bytes of the headers and tables, and takes pages away: no panic, no absurd memory.
func TestFromMappedELFDamaged(t *testing.T) {
	f, err := Open(fixture.Build(t, "torture/chain.c", "-g", "-rdynamic", "-Wl,--build-id", "-Wl,--hash-style=gnu"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sound := mapELF(t, f, 0x10000, true)
	for seed := range int64(2000) {
		r := rand.New(rand.NewSource(seed))
		m := memoryAt{sound.at, bytes.Clone(sound.data)}
		for range 1 + r.Intn(8) {
			n := 4096
			if r.Intn(2) == 0 {
				n = len(m.data)
			}
			m.data[4+r.Intn(n-4)] = byte(r.Intn(256))
		}
		if r.Intn(4) == 0 {
			m.data = m.data[:r.Intn(len(m.data))]
		}
		g, err := FromMapped("damaged", m.read, 0x10000)
		if err != nil {
			continue
		}
		g.Symbols()
		g.BuildID()
		g.Section(".eh_frame")
		total := 0
		for i := range g.sects {
			total += len(g.sects[i].data)
		}
		if total > 4*len(sound.data)+1<<20 {
			t.Errorf("seed %d: %d bytes were read of an image of %d", seed, total, len(sound.data))
		}
	}
}
