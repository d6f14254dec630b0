// The fixture of session/testdata/expr/go.txt.
package main

import "runtime"

type Point struct{ X, Y int }

type Celsius float64

type Level uint8

const (
	Low  Level = 1
	High Level = 200
)

type Named struct {
	Point
	Name string
	Next *Named
}

var count = 12

func twice(x int) int { return 2 * x }

//go:noinline
func stop(list ...any) { runtime.KeepAlive(list) }

func main() {
	var a8, b8 int8 = 100, -128
	var au8, bu8 uint8 = 200, 55
	var a16 int16 = -300
	var au16 uint16 = 65535
	var a, b, zero = 7, -7, 0
	var a32, max32 int32 = -5, 2147483647
	var au32, umax32 uint32 = 3000000000, 4294967295
	var a64, min64, max64 int64 = -5000000000, -1 << 63, 1<<63 - 1
	var au64, umax64 uint64 = 10000000000000000000, 1<<64 - 1
	var f float32 = 1.1
	var big float32 = 16777216
	var d, e = 1.1, -2.5
	var c128 = complex(1.5, -2)
	var c64 complex64 = complex(0.5, 3)
	yes, no := true, false
	r := '世'
	arr := [5]int{10, 20, 30, 40, 50}
	grid := [2][2]uint8{{1, 2}, {3, 4}}
	s := []int{1, 2, 3, 4}
	var empty []int
	text, none := "hello", ""
	pt := Point{3, 4}
	p := &pt
	var pnil *Point
	n := Named{Point{5, 6}, "outer", nil}
	n.Next = &Named{Point{7, 8}, "inner", nil}
	temp := Celsius(36.6)
	level, low := High, Low
	m := map[string]int{"one": 1, "two": 2}
	var i any = 42
	var inil any
	stop(&a8, &b8, &au8, &bu8, &a16, &au16, &a, &b, &zero, &a32, &max32, &au32, &umax32, &a64, &min64, &max64, &au64, &umax64)
	stop(&f, &big, &d, &e, &c128, &c64, &yes, &no, &r, &arr, &grid, &s, &empty, &text, &none, &pt, &p, &pnil, &n, &temp)
	stop(&level, &low, &m, &i, &inil, &count, twice(3)) // stop
}
