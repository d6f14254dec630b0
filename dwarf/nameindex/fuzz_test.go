package nameindex

import (
	"dbg/dwarf"
	"encoding/binary"
	"runtime"
	"testing"
)

// readAccel reads all contents of the tables, and counts the visits.
func readAccel(d *dwarf.Data) (visits int) {
	tables, _ := Tables(d)
	for _, x := range tables {
		x.Units(func(uint64) { visits++ })
		for i := range min(x.NumNames(), 100) {
			x.Entries(i, func(*Entry) bool { visits++; return true })
		}
		for _, name := range []string{"main", "Ab", "Ä"} {
			x.Find(name, func(i uint32) bool { visits++; return true })
		}
	}
	if x, err := ReadGDB(d); err == nil && x != nil {
		x.UnitsWithSymbols()
		for i := range min(100, x.NumUnits()) {
			x.Unit(i)
		}
		x.Areas(func(dwarf.Range, uint32) bool { visits++; return true })
		n := 0
		x.Symbols(func(name, units uint32) bool {
			x.Name(name)
			x.Units(units, func(GDBSymbol) bool { visits++; return true })
			n++
			return n < 100
		})
		x.Mentioning("n", func([]byte, uint32) bool { visits++; return true })
	}
	d.UnitsNaming("main", true, func(t dwarf.Tag) bool { return t == dwarf.TagSubprogram || t == dwarf.TagVariable })
	return visits
}

func fuzzAccel(f *testing.F, name string, programs []sections, more ...[]byte) {
	for i, p := range programs {
		f.Add(uint8(i), p[name])
	}
	for _, b := range more {
		f.Add(uint8(0), b)
	}
	f.Fuzz(func(t *testing.T, program uint8, data []byte) {
		s := sections{}
		size := len(data)
		for k, v := range programs[int(program)%len(programs)] {
			s[k] = v
			size += len(v)
		}
		s[name] = data
		before := allocated()
		visits := readAccel(dwarf.New(s, program&0x80 != 0))
		if used := allocated() - before; used > uint64(2000*size+8<<20) || visits > 400*size+100 {
			t.Errorf("%d visits, %d bytes for %d", visits, used, size)
		}
	})
}

// FuzzNames replaces .debug_names.
func FuzzNames(f *testing.F) {
	_, one := accelProgram(f, "clang++-19", "-g -O1 -gpubnames", "")
	_, types := accelProgram(f, "clang++-19", "-g -O1 -gpubnames -fdebug-types-section -gdwarf64", "")
	_, merged := accelProgram(f, "clang++-19", "-g -O1 -gpubnames", "-fuse-ld=lld -Wl,--debug-names")
	le := binary.LittleEndian
	fuzzAccel(f, ".debug_names", []sections{one, types, merged}, nameIndexOf(le, false, 7, nameAbbrevs, nameEntries(le)), nameIndexOf(le, true, 0, nameAbbrevs, nameEntries(le)))
}

// FuzzGDBIndex replaces .gdb_index.
func FuzzGDBIndex(f *testing.F) {
	_, lld := accelProgram(f, "clang++-19", "-g -O1 -ggnu-pubnames", "-fuse-ld=lld -Wl,--gdb-index")
	_, gold := accelProgram(f, "g++", "-g -O1 -ggnu-pubnames", "-fuse-ld=gold -Wl,--gdb-index")
	fuzzAccel(f, ".gdb_index", []sections{lld, gold}, gdbIndexOf(4), gdbIndexOf(9))
}

// allocated returns the number of bytes that were allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
