package image

import (
	"bytes"
	"debug/elf"
	"math/rand"
	"os"
	"testing"

	"dbg/internal/fixture"
)

// placedObject is an object file in memory whose .text a program has put at 0x7f0000001000.
func placedObject(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(fixture.Build(t, "jit/code.c", "-c", "-g", "-O1", "-fcf-protection=none"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := FromMemory("object", data)
	if err != nil {
		t.Fatal(err)
	}
	shoff := f.header.Order.Uint64(data[40:])
	f.header.Order.PutUint64(data[int(shoff)+64*f.byName[".text"]+16:], 0x7f0000001000)
	return data
}

// TestFromObject has addresses of the process in symbols and sections.
func TestFromObject(t *testing.T) {
	f, err := FromObject("object", placedObject(t))
	if err != nil {
		t.Fatal(err)
	}
	if segs := f.Segments(); len(segs) != 1 || segs[0].Lo != 0x7f0000001000 || !segs[0].Exec {
		t.Errorf("the segments are %+v", segs)
	}
	found := 0
	for _, s := range f.Symbols() {
		if s.Name == "made_inner" || s.Name == "made_outer" {
			if found++; s.Addr>>12 != 0x7f0000001 || s.Size == 0 {
				t.Errorf("%+v", s)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d functions", found)
	}
	// DW_AT_low_pc of the unit is an R_X86_64_64.
	if s, _ := f.Section(".debug_info"); !bytes.Contains(s.Data, []byte{0, 0x10, 0, 0, 0, 0x7f, 0, 0}) {
		t.Error(".debug_info is not relocated")
	}
	if _, err := FromObject("object", make([]byte, 100)); err == nil {
		t.Error("zeros are an object file")
	}
}

// TestFromObjectUnknown has no section where a relocation is unknown or does not fit.
func TestFromObjectUnknown(t *testing.T) {
	for name, change := range map[string]func(rela []byte){
		"type":   func(b []byte) { b[8] = 0xfe },
		"offset": func(b []byte) { b[7] = 0x7f },
		"symbol": func(b []byte) { b[15] = 0x7f },
		"large":  func(b []byte) { b[8], b[21] = byte(elf.R_X86_64_32), 1 },
	} {
		data := placedObject(t)
		f, err := FromMemory("object", data)
		if err != nil {
			t.Fatal(err)
		}
		rela := f.sects[f.byName[".rela.debug_info"]]
		change(data[rela.off:][:24])
		if f, err = FromObject("object", data); err != nil {
			t.Fatal(err)
		}
		if b, err := f.SectionData(".debug_info"); b != nil || err == nil {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}

// TestFromObjectDamaged changes bytes at random: no panic.
func TestFromObjectDamaged(t *testing.T) {
	sound := placedObject(t)
	for seed := range int64(3000) {
		r := rand.New(rand.NewSource(seed))
		data := bytes.Clone(sound)
		for range 1 + r.Intn(10) {
			data[4+r.Intn(len(data)-4)] = byte(r.Intn(256))
		}
		f, err := FromObject("damaged", data)
		if err != nil {
			continue
		}
		f.Symbols()
		for _, s := range f.Sections() {
			f.Section(s.Name)
			f.Prefix(s.Name, 10)
		}
	}
}
