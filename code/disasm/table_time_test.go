package disasm

import "testing"

// BenchmarkTable measures how long the first instruction waits for the table.
func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		compileTable()
	}
}
