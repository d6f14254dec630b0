package main

import (
	"errors"
	"fmt"
	"os"
)

type failure struct {
	code int
	text string
}

func try(v any) {
	defer func() { fmt.Fprintln(os.Stderr, recover()) }()
	panic(v)
}

func index(list []int, i int) (n int) {
	defer func() { recover() }()
	return list[i]
}

func main() {
	try("text")
	try(42)
	try(failure{7, "seven"})
	try(errors.New("an error"))
	index(nil, len(os.Args))
	panic("the last")
}
