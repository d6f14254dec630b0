package unwindtable_test

import (
	"context"
	"io"
	"os"
	"testing"

	"dbg/internal/fixture"
	"dbg/unwindtable"
)

// BenchmarkPrint prints a library with a million rows.
func BenchmarkPrint(b *testing.B) {
	const path = "/usr/lib/x86_64-linux-gnu/libLLVM.so.19.1"
	if _, err := os.Stat(path); err != nil {
		fixture.Missing(b, "libLLVM is not installed")
	}
	for name, opt := range map[string]unwindtable.Options{"text": {}, "json": {JSON: true}, "raw": {Raw: true}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := unwindtable.Print(context.Background(), io.Discard, path, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
