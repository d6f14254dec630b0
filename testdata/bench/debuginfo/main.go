// Command debuginfo makes the large C++ program that debug information is measured on.
package main

import (
	"flag"
	"fmt"
	"os"

	"dbg/internal/fixture/bigcpp"
)

func main() {
	dir := flag.String("dir", "/tmp/bigcpp", "where the program is built")
	units := flag.Int("units", 200, "how many units")
	cxx := flag.String("cxx", "g++", "the compiler")
	flag.Parse()
	exe, err := bigcpp.Build(*dir, *units, *cxx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(exe)
}
