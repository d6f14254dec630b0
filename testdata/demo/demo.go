// Package demo holds the program of "dbg demo": a prebuilt static ELF for
// Linux on x86-64 with debug information, and its source. build.sh rebuilds it;
// a test says when binary and source no longer match.
package demo

import _ "embed"

// Program is the ELF file.
//
//go:embed demo
var Program []byte

// Source is what it was built from. The debug information calls it
// /dbg-demo/demo.c.
//
//go:embed demo.c
var Source []byte

// Dir is the folder that the debug information gives for the source.
const Dir = "/dbg-demo"

//go:generate sh build.sh
