// Functions for dbg to call while the program stands in main.stop. Each expectation in the tests is
// what the program itself computes with the same arguments.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

type Pair struct{ X, Y int }

//go:noinline
func (p Pair) Sum(n int) int { return p.X + p.Y + n }

//go:noinline
func (p *Pair) Scale(n int) int { p.X *= n; p.Y *= n; return p.X }

//go:noinline
func (p Pair) String() string { return fmt.Sprintf("<%d,%d>", p.X, p.Y) }

//go:noinline
func (p *Pair) Keep() *Pair { kept = p; return p }

//go:noinline
func (c Celsius) Double() Celsius { return c * 2 }

type Celsius float64

type Outer struct {
	Name string
	Pair
}

type Big struct{ A [10]int }

type Mixed struct {
	I int8
	F float32
	S string
	P *Pair
}

type Namer interface{ String() string }

var kept *Pair

//go:noinline
func add(a, b int) int { return a + b }

//go:noinline
func small(a int8, b uint16, c bool, d rune) (int8, uint16, bool, rune) { return -a, b + 1, !c, d + 1 }

//go:noinline
func half(f float64) float64 { return f / 2 }

//go:noinline
func floats(a float32, b float64, c complex128) (float32, float64, complex128) {
	return a * 2, b * 3, c * c
}

//go:noinline
func up(s string) string { return strings.ToUpper(s) }

//go:noinline
func join(a, b string) string { return a + "-" + b }

//go:noinline
func total(s []int) (n int) {
	for _, v := range s {
		n += v
	}
	return n
}

//go:noinline
func bytes(b []byte) int { return len(b) * int(b[0]) }

//go:noinline
func swap(p Pair) Pair { return Pair{p.Y, p.X} }

//go:noinline
func big(b Big, n int) Big { b.A[0] += n; b.A[9] += n; return b }

//go:noinline
func mixed(m Mixed) Mixed { m.I++; m.F *= 2; m.S += "!"; return m }

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k int) (int, int) {
	return a + b + c + d + e + f, g + h + i + j + k
}

//go:noinline
func name(n Namer) string { return "name " + n.String() }

//go:noinline
func results(n int) (int, string, error) { return n, "text", fmt.Errorf("error %d", n) }

//go:noinline
func nothing() { counter.Add(1) }

//go:noinline
func variadic(p string, n ...int) int { return len(p) + total(n) }

//go:noinline
func panics(s string) int { panic("oops " + s) }

//go:noinline
func nilDeref(p *Pair) int { return p.X }

//go:noinline
func deep(n int) int {
	var room [256]byte
	room[n%256] = 1
	if n == 0 {
		return int(room[0])
	}
	return deep(n-1) + int(room[n%256])
}

//go:noinline
func collect(n int) int { runtime.GC(); return n + 1 }

//go:noinline
func parks(n int) int {
	c := make(chan int)
	go func() { c <- n + 1 }()
	return <-c
}

//go:noinline
func breaks(n int) int {
	return n * 2 // break here
}

//go:noinline
func exits(n int) { os.Exit(n) }

//go:noinline
func throws() {
	m := map[int]int{}
	go func() {
		for {
			m[1]++
		}
	}()
	for {
		m[2]++
	}
}

//go:noinline
func spins() {
	for counter.Load() >= 0 {
	}
}

//go:noinline
func list(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint("item ", i))
	}
	return out
}

//go:noinline
func pick[T any](a, b T) T {
	if fmt.Sprint(a) < fmt.Sprint(b) {
		return a
	}
	return b
}

var counter atomic.Int64

//go:noinline
func stop(p *Pair, n Namer, f func(int) int, c Celsius, o *Outer, s []int, b Big, pm *Mixed, m Mixed, err error, e any, n_ int) int {
	local := Pair{30, 40}
	counter.Add(1) // stop
	fmt.Fprintln(os.Stderr, local.Sum(0), p, n, f(1), c, o, s, b, m.S, pm.S, err, e, n_)
	runtime.KeepAlive(&local)
	return local.Scale(2)
}

func storm() {
	for {
		var keep [][]byte
		for i := range 2000 {
			keep = append(keep, make([]byte, 16+i%100))
		}
		runtime.KeepAlive(keep)
		runtime.Gosched()
	}
}

// say prints the results of the calls that the test makes, in dbg's notation.
func say() {
	p, o := &Pair{1, 2}, &Outer{"outer", Pair{5, 6}}
	show := func(call, format string, results ...any) { fmt.Println(call + "\t" + fmt.Sprintf(format, results...)) }
	pair := "{X = %d, Y = %d}"
	show("main.add(1, 2)", "%d", add(1, 2))
	show("main.add(main.add(1, 2), p.X)", "%d", add(add(1, 2), p.X))
	show("main.add(-5, n_)", "%d", add(-5, 70))
	a, b, c, d := small(1, 2, true, 97)
	show("main.small(1, 2, true, 97)", "{r0 = %d, r1 = %d, r2 = %t, r3 = %d}", a, b, c, d)
	show("main.half(3)", "%g", half(3))
	show("main.half(-3.5)", "%g", half(-3.5))
	show(`main.up("hello")`, "%q", up("hello"))
	show(`main.up("")`, "%q", up(""))
	show(`main.join("a", "b")`, "%q", join("a", "b"))
	show(`main.up(main.join("x", main.join("y", "z")))`, "%q", up(join("x", join("y", "z"))))
	show("main.total(s)", "%d", total([]int{1, 2, 3}))
	show(`main.bytes("abc")`, "%d", bytes([]byte("abc")))
	show("main.swap(*p)", pair, swap(*p).X, swap(*p).Y)
	r := big(Big{[10]int{1, 2, 3}}, 7)
	show("main.big(b, 7)", "{A = [%s]}", strings.ReplaceAll(strings.Trim(fmt.Sprint(r.A), "[]"), " ", ", "))
	m := mixed(Mixed{1, 1.5, "mixed", p})
	show("main.mixed(*pm).S", "%q", m.S)
	show("main.mixed(*pm).F", "%g", m.F)
	x, y := many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	show("main.many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)", "{r0 = %d, r1 = %d}", x, y)
	show("main.name(n)", "%q", name(p))
	show("main.name(p)", "%q", name(p))
	show("main.name(*p)", "%q", name(*p))
	show("n.String()", "%q", p.String())
	show("p.Sum(3)", "%d", p.Sum(3))
	show("p.Keep().Y", "%d", p.Keep().Y)
	show("o.Sum(1)", "%d", o.Sum(1))
	show("c.Double()", "%g", Celsius(21.5).Double())
	show(`main.variadic("abc", 1, 2, 3)`, "%d", variadic("abc", 1, 2, 3))
	show(`main.variadic("abc")`, "%d", variadic("abc"))
	show(`main.variadic("abc", s)`, "%d", variadic("abc", []int{1, 2, 3}...))
	show("main.deep(2000)", "%d", deep(2000))
	show("main.collect(4)", "%d", collect(4))
	show("main.parks(4)", "%d", parks(4))
	l := list(3)
	show("main.list(3)", "[]string len: 3, cap: %d, [%q,%q,%q]", cap(l), l[0], l[1], l[2])
	show("main.breaks(21)", "%d", breaks(21))
}

func main() {
	base := len(os.Args)
	if base > 1 && os.Args[1] == "say" {
		say()
		return
	}
	if base > 1 && os.Args[1] == "storm" {
		go storm()
		go func() {
			for {
				runtime.GC()
				time.Sleep(time.Microsecond)
			}
		}()
	}
	p := &Pair{1, 2}
	o := &Outer{"outer", Pair{5, 6}}
	closure := func(n int) int { return n + base*100 }
	c := Celsius(21.5)
	s := []int{1, 2, 3}
	m := Mixed{1, 1.5, "mixed", p}
	r := stop(p, p, closure, c, o, s, Big{[10]int{1, 2, 3}}, &m, m, fmt.Errorf("an error"), 7, base*70)
	fmt.Fprintln(os.Stderr, r, add(1, 2), half(3), up("a"), join("a", "b"), total(s), bytes([]byte("a")), swap(*p), big(Big{}, 1), mixed(m), name(p), c.Double(), o.Sum(1), p.Keep())
	fmt.Fprintln(os.Stderr, pick(1, 2), pick("a", "b"), list(3), deep(3), collect(1), parks(1), breaks(3), variadic("a", 1, 2))
	small(1, 2, true, 'a')
	floats(1, 2, 3)
	many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	results(1)
	nothing()
	if base > 100 {
		panics("now")
		nilDeref(nil)
		exits(base)
		throws()
		spins()
		fails(1)
		bounds(nil, 1)
	}
}

//go:noinline
func fails(n int) int { panic(fmt.Errorf("bad %d: %w", n, io.EOF)) }

//go:noinline
func bounds(s []int, i int) int { return s[i] }
