package session_test

import "testing"

// BenchmarkCall calls a function of the program.
func BenchmarkCall(b *testing.B) {
	c := newCaller(b)
	b.ResetTimer()
	for range b.N {
		if _, err := c.Evaluate(c.thread, 0, "f(1)"); err != nil {
			b.Fatal(err)
		}
	}
}
