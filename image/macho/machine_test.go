package macho

import (
	"encoding/binary"
	"testing"
)

// TestMachines reads headers of every processor.
func TestMachines(t *testing.T) {
	header := func(order binary.ByteOrder, cpu, subtype uint32) []byte {
		b := make([]byte, 32)
		for i, v := range []uint32{magic64, cpu, subtype, TypeExecute} {
			order.PutUint32(b[4*i:], v)
		}
		return b
	}
	for _, c := range []struct {
		cpu, subtype uint32
		name, arch   string
	}{
		{cpuX8664, 3, "x86_64", "amd64"},
		{cpuX8664, 0x80000003, "x86_64", "amd64"}, // CPU_SUBTYPE_LIB64
		{cpuX8664, 8, "x86_64h", "amd64"},
		{cpuI386, 3, "i386", "386"},
		{cpuARM64, 0, "arm64", "arm64"},
		{cpuARM64, 0x80000002, "arm64e", "arm64"}, // with a version of its ABI
		{cpuARM6432, 1, "arm64_32", ""},
		{cpuARM, 9, "armv7", ""},
		{cpuPPC, 0, "ppc", ""},
		{1234, 5, "cpu type 0x4d2, subtype 5", ""},
	} {
		order := binary.ByteOrder(binary.LittleEndian)
		if c.cpu == cpuPPC {
			order = binary.BigEndian
		}
		b := header(order, c.cpu, c.subtype)
		f, err := Parse(b)
		if err != nil || !Begins(b) {
			t.Fatal(err)
		}
		if name, a := f.Machine(); name != c.name || (a == nil) != (c.arch == "") || a != nil && a.Name != c.arch || f.Order != order {
			t.Errorf("%x, %x is %s", c.cpu, c.subtype, name)
		}
	}
}
