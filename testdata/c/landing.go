// Panics that leave the calls which a step is over.
package main

import (
	"fmt"
	"os"
)

//go:noinline
func thrower(n int) int {
	if n > 0 {
		panic("x")
	}
	return n
}

//go:noinline
func middle(n int) int {
	r := thrower(n)
	return r + 1
}

//go:noinline
func recovers(n int) (r int) {
	defer func() {
		if e := recover(); e != nil {
			r = 7
		}
	}()
	r = middle(n)
	return r + 1
}

//go:noinline
func caller() int {
	a := recovers(1)
	b := recovers(0)
	return a + b
}

//go:noinline
func grow(n int) int {
	var big [1024]byte
	big[n%1024] = 1
	if n > 0 {
		return grow(n-1) + int(big[0])
	}
	return thrower(1)
}

//go:noinline
func deep() (r int) {
	defer func() { recover() }()
	r = grow(200)
	return r
}

func main() {
	fmt.Fprintln(os.Stderr, caller(), deep())
}
