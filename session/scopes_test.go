package session_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"dbg/symbols/types"
)

// Names with the function or the file that they belong to: f::local, 'file.c'::x.
func TestQualifiedNames(t *testing.T) {
	c := stopIn(t, "call/scopes.c", "-g", "-O0")
	for _, x := range [][2]string{
		{"main::here", "1"}, {"outer::local", "5"}, {"outer::n", "0"}, {"twice::calls", "1"}, {"mine", "4"}, {"twice::mine", "4"},
		{"'scopes.c'::hidden", "7"}, {"'call/scopes.c'::hidden + 1", "8"},
		{"twice::nosuch", `No symbol "nosuch" in function "twice".`},
		{"never::x", "No frame is currently executing in block never."},
		{"nosuch::x", `No symbol "nosuch::x" in current context.`},
		{"'nosuch.c'::hidden", `No symbol "nosuch.c::hidden" in current context.`},
	} {
		c.expect(x[0], x[1])
	}
}

// A flexible array member shows where it is; "this" is a constant pointer.
func TestFlexibleMember(t *testing.T) {
	c := stopIn(t, "call/flex.cc", "-g", "-O0")
	at := c.value("(long)&flex->data[0]")
	n, err := strconv.ParseInt(at, 10, 64)
	c.must(err)
	place := fmt.Sprintf("0x%x", n)
	c.expect("*flex", "{n = 3, data = "+place+"}")
	c.expect("flex->data", place)
	c.expect("flex->data[1]", "2")
	c.expect("flex->data[0]@3", "{1, 2, 3}")
	text, _, err := c.Definition("this", types.DefinitionOptions{})
	c.must(err)
	if !strings.HasPrefix(text, "struct Self {") || !strings.HasSuffix(text, "} * const") {
		t.Errorf("ptype this: %s", text)
	}
}
