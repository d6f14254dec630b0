// What interfaces, maps and channels of Go hold: the program says itself, a line for each: NAME, what is expected, and for maps key and element.
package main

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

type point struct{ X, Y int }

func (p point) speak(n int) int { return p.X*n + p.Y }

type speaker interface{ speak(n int) int }

type named []int

func (l named) speak(n int) int { return len(l) + n }

type wrapped struct{ p *point }

type large [20]int

type dict map[string]int

//go:noinline
func stopHere() {}

//go:noinline
func says(name, want string) { fmt.Printf("%s\t%s\n", name, want) }

func (p point) text() string { return fmt.Sprintf("{X = %d, Y = %d}", p.X, p.Y) }

func keep(values ...any) {
	if len(os.Args) > 100 {
		fmt.Println(values...)
	}
}

//go:noinline
func interfaces(n int) {
	var none any
	var noErr error
	i, s, f, b := any(n), any(fmt.Sprint("text ", n)), any(float64(n)+0.5), any(n%2 == 0)
	u8, zero := any(uint8(n)), any(0)
	p := point{n, n + 1}
	str, ptr := any(p), any(&p)
	err := errors.New("gone")
	var sp speaker = p
	var sq speaker = &p
	var sn speaker = named{1, n}
	w, one := any(wrapped{&p}), any([1]*point{&p})
	arr := any([3]int16{1, 2, int16(n)})
	big := any(large{n, 2})
	m, ch := any(map[string]int{"k": n}), any(make(chan int, 3))
	list := []any{1, "two", nil, point{3, 4}}
	up := any(unsafe.Pointer(&p))
	says("none", "interface {} nil")
	says("noErr", "error nil")
	says("i", fmt.Sprintf("interface {}(int) %d", n))
	says("s", fmt.Sprintf("interface {}(string) %q", s))
	says("f", fmt.Sprintf("interface {}(float64) %g", f))
	says("b", fmt.Sprintf("interface {}(bool) %t", b))
	says("u8", fmt.Sprintf("interface {}(uint8) %d", u8))
	says("zero", "interface {}(int) 0")
	says("str", "interface {}(main.point) "+p.text())
	says("ptr", fmt.Sprintf("interface {}(*main.point) %p", &p))
	says("err", fmt.Sprintf("error(*errors.errorString) %p \"gone\"", err))
	says("sp", "main.speaker(main.point) "+p.text())
	says("sq", fmt.Sprintf("main.speaker(*main.point) %p", &p))
	says("sn", fmt.Sprintf("main.speaker(main.named) main.named len: 2, cap: 2, [1,%d]", n))
	says("w", fmt.Sprintf("interface {}(main.wrapped) {p = %p}", &p))
	says("one", fmt.Sprintf("interface {}([1]*main.point) [%p]", &p))
	says("arr", fmt.Sprintf("interface {}([3]int16) [1, 2, %d]", n))
	says("big", fmt.Sprintf("interface {}(main.large) [%d, 2, 0 <repeats 18 times>]", n))
	says("m", fmt.Sprintf("interface {}(map[string]int) map[string]int [\"k\": %d]", n))
	says("ch", "interface {}(chan int) chan int len: 0, cap: 3, []")
	says("list", `[]interface {} len: 4, cap: 4, [interface {}(int) 1,interface {}(string) "two",interface {} nil,interface {}(main.point) {X = 3, Y = 4}]`)
	says("up", fmt.Sprintf("interface {}(unsafe.Pointer) %p", &p))
	stopHere()
	keep(none, noErr, i, s, f, b, u8, zero, str, ptr, err, sp, sq, sn, w, one, arr, big, m, ch, list, up)
}

//go:noinline
func saysMap[K comparable, E any](name string, m map[K]E, text func(K, E) (string, string)) {
	for k, e := range m {
		key, elem := text(k, e)
		fmt.Printf("%s\t[%s]\t%s\n", name, key, elem)
	}
}

func ints(k, e int) (string, string) { return fmt.Sprint(k), fmt.Sprint(e) }

//go:noinline
func maps(n int) {
	var null map[string]int
	empty := map[int]int{}
	small := map[string]int{"one": n, "two": 2}
	eight := map[int]int{}
	for i := range 8 {
		eight[i] = i * n
	}
	nine := map[int]int{}
	for i := range 9 {
		nine[i] = i * n
	}
	holes := map[int]int{}
	for i := range 100 {
		holes[i] = i
	}
	for i := range 90 {
		delete(holes, i)
	}
	grown := map[int]int{}
	for i := range 5000 {
		grown[i*7] = i ^ n
	}
	points := map[point]string{{1, 2}: "a", {3, n}: "b"}
	keys := map[large]int{{1}: 1, {2, n}: 2}
	elems := map[string]large{"x": {1, 2, 3}, "y": {n}}
	mixed := map[any]any{1: "one", "two": n, point{1, 2}: nil}
	slices := map[string][]int{"s": {1, n}}
	set := map[uint8]struct{}{7: {}, uint8(n): {}}
	d := dict{"d": n}
	self := map[string]any{}
	self["self"] = self
	says("null", "map[string]int nil")
	says("empty", "map[int]int []")
	says("d", fmt.Sprintf("main.dict [\"d\": %d]", n))
	quoted := func(k string, e int) (string, string) { return fmt.Sprintf("%q", k), fmt.Sprint(e) }
	saysMap("small", small, quoted)
	saysMap("eight", eight, ints)
	saysMap("nine", nine, ints)
	saysMap("holes", holes, ints)
	saysMap("grown", grown, ints)
	saysMap("points", points, func(k point, e string) (string, string) { return k.text(), fmt.Sprintf("%q", e) })
	saysMap("keys", keys, func(k large, e int) (string, string) { return k.text(), fmt.Sprint(e) })
	saysMap("elems", elems, func(k string, e large) (string, string) { return fmt.Sprintf("%q", k), e.text() })
	saysMap("slices", slices, func(k string, e []int) (string, string) {
		return fmt.Sprintf("%q", k), fmt.Sprintf("[]int len: 2, cap: 2, [1,%d]", n)
	})
	saysMap("set", set, func(k uint8, e struct{}) (string, string) { return fmt.Sprint(k), "{<No data fields>}" })
	fmt.Printf("mixed\t[interface {}(int) 1]\tinterface {}(string) \"one\"\n")
	fmt.Printf("mixed\t[interface {}(string) \"two\"]\tinterface {}(int) %d\n", n)
	fmt.Printf("mixed\t[interface {}(main.point) {X = 1, Y = 2}]\tinterface {} nil\n")
	stopHere()
	keep(null, empty, small, eight, nine, holes, grown, points, keys, elems, mixed, slices, set, d, self)
}

// text is the array as dbg writes it: more than ten equal elements are counted.
func (l large) text() string {
	n, s := len(l), ""
	for n > 0 && l[n-1] == 0 {
		n--
	}
	for _, x := range l[:n] {
		s += fmt.Sprint(x, ", ")
	}
	return fmt.Sprintf("[%s0 <repeats %d times>]", s, len(l)-n)
}

//go:noinline
func channels(n int) {
	var null chan string
	plain := make(chan int)
	some := make(chan int, 4)
	for i := range 6 { // the content goes over the end of the buffer
		some <- i * n
		if i >= 3 {
			<-some
		}
	}
	full := make(chan point, 2)
	full <- point{1, n}
	full <- point{3, 4}
	shut := make(chan string, 2)
	shut <- "last"
	close(shut)
	empties := make(chan struct{}, 5)
	empties <- struct{}{}
	only := (<-chan int)(some)
	says("null", "chan string nil")
	says("plain", "chan int len: 0, cap: 0, []")
	says("some", fmt.Sprintf("chan int len: 3, cap: 4, [%d, %d, %d]", 3*n, 4*n, 5*n))
	says("only", fmt.Sprintf("<-chan int len: 3, cap: 4, [%d, %d, %d]", 3*n, 4*n, 5*n))
	says("full", fmt.Sprintf("chan main.point len: 2, cap: 2, [{X = 1, Y = %d}, {X = 3, Y = 4}]", n))
	says("shut", `chan string len: 1, cap: 2, closed, ["last"]`)
	says("empties", "chan struct {} len: 1, cap: 5, [{<No data fields>}]")
	stopHere()
	keep(null, plain, some, full, shut, empties, only)
}

func main() {
	interfaces(5)
	maps(3)
	channels(2)
}
