package main

import "errors"

type P struct{ X, Y int }

//go:noinline
func two(a int) (int, error) { return a + 1, errors.New("no") }

//go:noinline
func str(a int) string { return "hello" }

//go:noinline
func three(a float64) (x float64, p P, s []int) { return a * 2, P{3, 4}, []int{1, 2} }

//go:noinline
func arr(a int) ([3]int, int) { return [3]int{a, a + 1, a + 2}, 9 }
func main()                   { two(1); str(1); three(1.5); arr(5) }
