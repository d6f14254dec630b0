// Command debuginfo makes the large C++ program that debug information is measured on, and with -measure holds dbg against gdb and
// lldb on programs that have been made:
//
//	go run ./internal/bench/debuginfo -units 200
//	go run ./internal/bench/debuginfo -measure 5,25,200 -kernel VMLINUX -plot docs/debuginfo.svg
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"dbg/internal/fixture/bigcpp"
)

func main() {
	dir := flag.String("dir", "/tmp/bigcpp", "where the program is built")
	units := flag.Int("units", 200, "how many units")
	cxx := flag.String("cxx", "g++", "the compiler")
	sizes := flag.String("measure", "", "the units of programs that are there, with commas: measure instead of making one")
	kernel := flag.String("kernel", "", "a kernel image with debug information, to be measured too")
	small := flag.String("small", "", "a small program, likewise")
	plot := flag.String("plot", "", "a file for the plot")
	runs := flag.Int("n", 3, "runs of each question")
	flag.Parse()
	if *sizes != "" {
		var units []int
		for _, s := range strings.Split(*sizes, ",") {
			n, err := strconv.Atoi(s)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(2)
			}
			units = append(units, n)
		}
		if err := measure(os.Stdout, *dir, units, *kernel, *small, *plot, *runs); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	exe, err := bigcpp.Build(*dir, *units, *cxx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(exe)
}
