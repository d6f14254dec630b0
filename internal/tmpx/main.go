package main

import (
	"dbg/image"
	"dbg/symbols"
	"fmt"
	"os"
	"strconv"
)

func main() {
	f, _ := image.Open(os.Args[1])
	m := symbols.Load(f, symbols.Options{})
	for _, a := range os.Args[2:] {
		v, _ := strconv.ParseUint(a, 0, 64)
		lr, ok := m.LineAt(image.Addr(v))
		fmt.Printf("%x %v %d %x-%x stmt %v;", v, ok, lr.Line, lr.Lo, lr.Hi, lr.IsStmt)
		for _, c := range m.CallsAt(image.Addr(v)) {
			fmt.Print(" ", c.Function.Name, ":", c.Position.Line)
		}
		fmt.Println()
	}
}
