// Values of Go's own types, for eval's tests: nothing runs, only the data is read.
package main

type point struct {
	X, Y int
	name string
}

var (
	text   = "hello, world"
	empty  string
	ints         = []int{1, 2, 3}
	words        = []string{"a", "b"}
	array        = [3]int16{4, 5, 6}
	origin       = point{1, 2, "o"}
	where        = &origin
	flag         = true
	ratio        = 2.5
	letter       = 'x'
	small  uint8 = 97
)

func main() {
	println(text, empty, ints, words, array[0], origin.X, where.Y, flag, ratio, letter, small)
}
