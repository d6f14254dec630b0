// A program that knows its own values. It writes, for expressions of main, the text that a debugger must
// show, to the file that is its argument, and calls stopHere.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type Color int

const (
	Red Color = iota
	Green
	Blue
)

type Flags uint8

const (
	Read Flags = 1 << iota
	Write
	Run
)

type Point struct{ X, Y int }

type Failure struct{ Code int }

func (f *Failure) Error() string { return fmt.Sprint("code ", f.Code) }

var output *os.File

func says(expression, text string) { fmt.Fprintf(output, "%s\t%s\n", expression, text) }

//go:noinline
func stopHere() { output.WriteString("ready\n") }

//go:noinline
func keep(values ...any) { stop = len(values) }

var stop int

func held(e error, text string) string { return fmt.Sprintf("error(%T) %p %s", e, e, text) }

func main() {
	output, _ = os.Create(os.Args[1])
	defer output.Close()
	d0 := time.Duration(0)
	d1 := 1500 * time.Millisecond
	d2 := -3 * time.Hour
	t0 := time.Time{}
	t1 := time.Unix(1600000000, 5).UTC()
	t2 := time.Unix(1600000000, 0).In(time.FixedZone("HERE", 2*3600))
	current := time.Now()
	month, day := time.March, time.Sunday
	color, odd := Green, Color(7)
	flags, none := Read|Run, Flags(0)
	inner := errors.New("inner")
	wrapped := fmt.Errorf("outer: %w", inner)
	twice := fmt.Errorf("twice: %w", wrapped)
	joined := errors.Join(inner, wrapped)
	var failure error = &Failure{3}
	var noError error
	_, open := os.Open("/nonexistent")
	var mutex, locked sync.Mutex
	locked.Lock()
	var rw, reading, writing sync.RWMutex
	reading.RLock()
	reading.RLock()
	writing.Lock()
	var wg sync.WaitGroup
	wg.Add(3)
	var once, done sync.Once
	done.Do(func() {})
	var i32 atomic.Int32
	i32.Store(-7)
	var u64 atomic.Uint64
	u64.Store(1 << 63)
	var flag atomic.Bool
	flag.Store(true)
	var value atomic.Value
	value.Store("text")
	large, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	slice := []int{1, 2, 3, 4}
	var nothing []int
	text := "hello"
	m := map[string]int{"one": 1, "two": 2}
	channel := make(chan int, 4)
	channel <- 9
	array := [3]int{5, 6, 7}
	var boxed any = &Point{1, 2}
	var number any = 42
	var noMap map[int]int

	innerText := held(inner, `"inner"`)
	wrappedText := held(wrapped, `"outer: inner" {wraps: `+innerText+`}`)
	for _, x := range [][2]string{
		{"d0", d0.String()}, {"d1", d1.String()}, {"d2", d2.String()},
		{"t0", t0.String()}, {"t1", t1.String()}, {"t2", t2.String()}, {"current", current.String()},
		{"month", "time.March (3)"}, {"day", "time.Sunday (0)"},
		{"color", "main.Green (1)"}, {"odd", "7"}, {"flags", "main.Read | main.Run (5)"}, {"none", "0"},
		{"inner", innerText}, {"wrapped", wrappedText}, {"twice", held(twice, `"twice: outer: inner" {wraps: `+wrappedText+`}`)},
		{"joined", held(joined, "2 errors {"+innerText+", "+wrappedText+"}")},
		{"failure", fmt.Sprintf("error(*main.Failure) %p", failure)}, {"noError", "error nil"},
		{"open", fmt.Sprintf("error(*io/fs.PathError) %p ", open) + (`{Op: "open", Path: "/nonexistent", Err: error(syscall.Errno) syscall.ENOENT (2)}`)},
		{"mutex", "sync.Mutex unlocked"}, {"locked", "sync.Mutex locked"},
		{"rw", "sync.RWMutex unlocked"}, {"reading", "sync.RWMutex read locked by 2"}, {"writing", "sync.RWMutex write locked"},
		{"wg", "sync.WaitGroup counter: 3, waiting: 0"}, {"once", "sync.Once not done"}, {"done", "sync.Once done"},
		{"i32", "-7"}, {"u64", "9223372036854775808"}, {"flag", "true"}, {"value", `interface {}(string) "text"`},
		{"*large", large.String()},
		{"len(slice)", "4"}, {"cap(slice)", "4"}, {"slice[1:3]", "[]int len: 2, cap: 3, [2,3]"}, {"slice[2:]", "[]int len: 2, cap: 2, [3,4]"},
		{"slice[1:3][1]", "3"}, {"cap(slice[1:2])", "3"}, {"len(text)", "5"}, {"text[1:3]", `"el"`}, {"text[:2]", `"he"`},
		{`text == "hello"`, "true"}, {`text != "hello"`, "false"}, {"len(m)", "2"}, {`m["two"]`, "2"}, {"len(channel)", "1"}, {"cap(channel)", "4"},
		{"len(array)", "3"}, {"boxed.(*Point).Y", "2"}, {"*boxed.(*main.Point)", "{X = 1, Y = 2}"}, {"number.(int)", "42"},
		{"nothing == nil", "true"}, {"slice == nil", "false"}, {"noError == nil", "true"}, {"inner != nil", "true"}, {"noMap == nil", "true"},
		{"boxed == nil", "false"}, {"color == 1", "true"}, {"true", "true"},
	} {
		says(x[0], x[1])
	}
	stopHere()
	keep(d0, d1, d2, t0, t1, t2, current, month, day, color, odd, flags, none, inner, wrapped, twice, joined, failure, noError, open)
	keep(&mutex, &locked, &rw, &reading, &writing, &wg, &once, &done, &i32, &u64, &flag, &value, large)
	keep(slice, nothing, text, m, channel, array, boxed, number, noMap, fs.ErrNotExist, Blue, Write)
}
