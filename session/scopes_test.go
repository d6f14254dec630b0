package session_test

import "testing"

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
