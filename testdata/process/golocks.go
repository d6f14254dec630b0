// Deadlocks of goroutines, and programs that only look like them. The first argument is the case.
package main

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"
)

type account struct {
	name string
	mu   sync.Mutex
}

var (
	global sync.Mutex
	a, b   account
)

// transfer locks both accounts, as soon as the other transfer has locked one.
//
//go:noinline
func transfer(from, to *account, both *sync.WaitGroup) {
	from.mu.Lock()
	defer from.mu.Unlock()
	both.Done()
	both.Wait()
	to.mu.Lock()
	defer to.mu.Unlock()
}

//go:noinline
func transfers() {
	var both sync.WaitGroup
	both.Add(2)
	go transfer(&a, &b, &both)
	go transfer(&b, &a, &both)
}

//go:noinline
func produce(c chan int, locked chan bool) {
	global.Lock()
	defer global.Unlock()
	close(locked)
	c <- 1
}

//go:noinline
func consume(c chan int, locked chan bool) int {
	<-locked
	global.Lock()
	defer global.Unlock()
	return <-c
}

//go:noinline
func again() {
	global.Lock()
	defer global.Unlock()
	func() {
		global.Lock()
		defer global.Unlock()
	}()
}

//go:noinline
func both(a, b *account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	runtime.Gosched()
}

// relock releases the lock between two parts of its work.
//
//go:noinline
func relock() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range 3 {
		a.mu.Unlock()
		runtime.Gosched()
		a.mu.Lock()
	}
}

// ready is called when the program's goroutines will soon wait.
//
//go:noinline
func ready() {}

func main() {
	forever := make(chan bool)
	switch os.Args[1] {
	case "mutexes": // and main waits
		transfers()
		ready()
		<-forever
	case "awake": // a cycle, although main runs
		transfers()
		for {
			time.Sleep(time.Millisecond)
			ready()
		}
	case "channel": // a channel and a mutex
		c, locked := make(chan int), make(chan bool)
		go produce(c, locked)
		ready()
		consume(c, locked)
	case "send": // nobody receives
		c := make(chan string, 1)
		c <- "first"
		ready()
		c <- "second"
	case "self":
		ready()
		again()
	case "group":
		var w sync.WaitGroup
		w.Add(1)
		ready()
		w.Wait()
	case "select":
		c, d := make(chan int), make(chan string)
		ready()
		select {
		case <-c:
		case d <- "x":
		}
	case "sleep": // healthy: the lock is held for a while
		go func() {
			global.Lock()
			defer global.Unlock()
			for {
				time.Sleep(time.Millisecond)
				ready()
			}
		}()
		time.Sleep(10 * time.Millisecond)
		global.Lock()
	case "timer": // healthy: a timer sends
		t := time.NewTimer(time.Hour)
		go func() {
			for {
				time.Sleep(time.Millisecond)
				ready()
			}
		}()
		<-t.C
	case "after": // healthy: a timer runs a function
		time.AfterFunc(time.Hour, func() { close(forever) })
		ready()
		<-forever
	case "signal": // healthy: a signal sends
		c := make(chan os.Signal, 1)
		signal.Notify(c, os.Interrupt)
		ready()
		<-c
	case "contend": // healthy: many goroutines want the same locks, and release them for a while
		cond := sync.NewCond(&global)
		for range 4 {
			go func() {
				for {
					both(&a, &b)
				}
			}()
			go func() {
				for {
					relock()
				}
			}()
			go func() {
				global.Lock()
				defer global.Unlock()
				for {
					cond.Wait()
				}
			}()
		}
		for {
			cond.Signal()
			runtime.Gosched()
		}
	case "pipe": // healthy: a read from a pipe
		r, _, _ := os.Pipe()
		go func() { r.Read(make([]byte, 1)); close(forever) }()
		ready()
		<-forever
	}
}
