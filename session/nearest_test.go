package session_test

import "testing"

// TestDidYouMean suggests the nearest name for one that is not there.
func TestDidYouMean(t *testing.T) {
	c := stoppedIn(t, "types/objects.cc", objectBuilds[0]...)
	for _, x := range [][2]string{
		{"vlaue", `No symbol "vlaue" in current context. Did you mean "value"?`},      // a local
		{"squar->id", `No symbol "squar" in current context. Did you mean "square"?`}, // a global
		{"shapes::Shape::cuont", `No symbol "shapes::Shape::cuont" in current context. Did you mean "shapes::Shape::count"?`},
		{"sizeof(Lable)", `No symbol "Lable" in current context. Did you mean "Label"?`}, // a type
		{"value.sdie", `There is no member named sdie. Did you mean "side"?`},
		{"nosuchthing", `No symbol "nosuchthing" in current context.`},
		{"value.nosuchthing", `There is no member named nosuchthing.`},
	} {
		if _, err := c.Evaluate(c.thread, 1, x[0]); err == nil || err.Error() != x[1] {
			t.Errorf("%s: %v, want %s", x[0], err, x[1])
		}
	}
	if _, err := c.TypeOf("vlaue"); err == nil || err.Error() != `No symbol "vlaue" in current context. Did you mean "value"?` {
		t.Errorf("whatis vlaue: %v", err)
	}
}
