// Go variables of all kinds, for a comparison of two debuggers at random stops.
package main

import (
	"errors"
	"fmt"
	"os"
)

type point struct{ X, Y int }

func (p *point) scale(k int) int {
	p.X *= k
	sink += p.X
	return p.X + p.Y
}

type speaker interface{ speak(n int) int }

func (p point) speak(n int) int { return p.X*n + p.Y }

type named []int

func (l named) speak(n int) int { return len(l) + n }

type color uint8

type embedded struct {
	point
	name string
	next *embedded
	fn   func(int) int
	any  any
	arr  [3]int16
}

var sink int

//go:noinline
func churn(n int) {
	for i := 0; i < n; i++ {
		sink += i * n
	}
}

//go:noinline
func slices(s []int, t string, a [3]int, m map[string]int) int {
	total := 0
	for i, x := range s {
		total += x * i
		sink = total
	}
	sub := s[1:2]
	for _, r := range t {
		total += int(r)
	}
	churn(1)
	total += a[1] + m["one"] + len(sub)
	return total
}

//go:noinline
func interfaces(s speaker, e any, err error) int {
	n := s.speak(3)
	churn(1)
	switch v := e.(type) {
	case int:
		n += v
	case string:
		n += len(v)
	case *point:
		n += v.Y
	}
	if err != nil {
		n += len(err.Error())
	}
	return n
}

//go:noinline
func scalars(a int8, b uint16, c int64, d float32, e float64, f complex128, g rune, h bool, u uintptr) float64 {
	t := float64(a) * e
	churn(1)
	z := f * complex(e, 2)
	sink = int(b) + int(c) + int(g)
	if h {
		t += real(z)
	}
	return t + float64(d) + float64(u)
}

//go:noinline
func structs(e embedded, p *embedded, c color) int {
	k := e.scale(2)
	churn(k & 3)
	f := func(x int) int { k += x; return k }
	r := f(p.X) + e.fn(3)
	var zero struct{}
	_ = zero
	return r + int(c) + len(p.name)
}

//go:noinline
func recursive(n int, acc []int) int {
	here := n * 3
	if n == 0 {
		churn(1)
		return len(acc)
	}
	r := recursive(n-1, append(acc, here))
	return r + here
}

func main() {
	total := 0
	m := map[string]int{"one": 1, "two": 2}
	ch := make(chan int, 2)
	for round := 0; round < 3; round++ {
		ch <- round
		total += slices([]int{1, 2, round}, "héllo", [3]int{4, 5, round}, m)
		var s speaker = point{round, 2}
		if round == 1 {
			s = named{1, 2}
		}
		total += interfaces(s, []any{1, "text", &point{3, 4}}[round], []error{nil, errors.New("bad"), nil}[round])
		total += int(scalars(-3, 60000, -5, 1.5, 2.25, 1+2i, 'é', round == 1, 99))
		e := embedded{point: point{round, 4}, name: "name", fn: func(x int) int { return x + round }, any: round}
		total += structs(e, &e, color(round))
		total += recursive(4, nil)
		total += <-ch
	}
	fmt.Fprintln(os.Stdout, total != 12345)
}
