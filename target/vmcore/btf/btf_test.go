package btf

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// blob makes BTF of words of types, with names as their offsets in text.
func blob(text string, words ...uint32) []byte {
	b := []byte{0x9f, 0xeb, 1, 0}
	for _, v := range []int{24, 0, 4 * len(words), 4 * len(words), len(text)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return append(b, text...)
}

const text = "\x00int\x00outer\x00a\x00inner\x00b\x00c\x00list\x00"

func at(name string) uint32 { return uint32(strings.Index(text, "\x00"+name+"\x00") + 1) }

// sample is struct outer { int a; struct { int b : 3; }; struct inner list[4]; } with a typedef for inner's type.
func sample() []byte {
	return blob(text,
		at("int"), kindInt<<24, 4, 32, // 1
		0, kindStruct<<24|1|1<<31, 4, at("b"), 1, 3<<24|8, // 2: a bit field at bit 8
		at("inner"), kindStruct<<24|1, 8, at("c"), 1, 32, // 3
		at("inner"), kindTypedef<<24, 3, // 4
		0, kindArray<<24, 0, 4, 1, 4, // 5
		at("outer"), kindStruct<<24|3, 48, at("a"), 1, 0, 0, 2, 32, at("list"), 5, 64) // 6
}

func TestOffset(t *testing.T) {
	types, err := Parse(sample())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		structure, path string
		want            uint64
		ok              bool
	}{
		{"outer", "a", 0, true}, {"outer", "b", 5, true}, {"outer", "list", 8, true}, {"outer", "list.c", 12, true}, {"inner", "c", 4, true},
		{"outer", "x", 0, false}, {"outer", "a.c", 0, false}, {"other", "a", 0, false}, {"outer", "", 0, false},
	} {
		if got, ok := types.Offset(c.structure, c.path); ok != c.ok || ok && got != c.want {
			t.Errorf("%s.%s: %d, %v; expected %d, %v", c.structure, c.path, got, ok, c.want, c.ok)
		}
	}
	if n, ok := types.Size("outer"); !ok || n != 48 {
		t.Errorf("size %d, %v", n, ok)
	}
}

func TestCorrupt(t *testing.T) {
	for want, b := range map[string][]byte{
		"not BTF":         []byte("hello, this is no BTF at all"),
		"outside of it":   blob(text, 1)[:26],
		"truncated":       blob(text, at("int"), kindInt<<24, 4),
		"unknown kind 31": blob(text, 0, 31<<24, 0),
		"unknown kind 0":  blob(text, 0, 0, 0),
	} {
		if _, err := Parse(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	// A structure that has itself as an unnamed member, and a typedef of itself.
	types, err := Parse(blob(text, at("inner"), kindStruct<<24|1, 8, 0, 1, 0, at("list"), kindTypedef<<24, 2, at("outer"), kindStruct<<24|1, 8, at("a"), 2, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := types.Offset("inner", "b"); ok {
		t.Error("a member of a circle was found")
	}
	if _, ok := types.Offset("outer", "a.b"); ok {
		t.Error("a member of a circle of typedefs was found")
	}
}

// TestNesting: unnamed members that nest in each other take no exponential time.
func TestNesting(t *testing.T) {
	words := []uint32{at("int"), kindInt << 24, 4, 32}
	for i := range uint32(30) { // type i+2 has two unnamed members of type i+1
		name := uint32(0)
		if i == 29 {
			name = at("outer")
		}
		words = append(words, name, kindStruct<<24|2, 8, 0, i+1, 0, 0, i+1, 0)
	}
	types, err := Parse(blob(text, words...))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := types.Offset("outer", "b"); ok {
		t.Error("found")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample())
	f.Fuzz(func(t *testing.T, b []byte) {
		types, err := Parse(bytes.Clone(b))
		if err != nil {
			return
		}
		_, _ = types.Offset("outer", "list.c")
		_, _ = types.Offset("inner", "x")
		_, _ = types.Size("outer")
	})
}
