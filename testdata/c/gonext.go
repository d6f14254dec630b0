// The main goroutine goes over calls after which it may be on another thread, or on another stack.
package main

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"syscall"
	"time"
)

//go:noinline
func grow(n int) int {
	var pad [256]byte
	if n == 0 {
		return int(pad[3])
	}
	return grow(n-1) + int(pad[n%256])
}

// hop returns on another thread, if it can.
//
//go:noinline
func hop() {
	for t, i := syscall.Gettid(), 0; syscall.Gettid() == t && i < 200; i++ {
		time.Sleep(20 * time.Microsecond)
	}
}

func work(deep int, ping, pong chan int, mu *sync.Mutex) int {
	n := grow(deep)
	hop()
	fmt.Fprintln(io.Discard, n)
	ping <- n
	n += <-pong
	mu.Lock()
	n++
	mu.Unlock()
	return n
}

func main() {
	ping, pong := make(chan int), make(chan int)
	var mu sync.Mutex
	for range 4 {
		go func() {
			for {
				n, ok := <-ping
				if !ok {
					return
				}
				runtime.Gosched()
				mu.Lock()
				runtime.Gosched()
				mu.Unlock()
				pong <- n + 1
			}
		}()
	}
	sum := 0
	for i := 0; i < 1000000; i++ {
		done := make(chan int)
		go func() { // a fresh stack each time, which has to grow
			done <- work(i%64*8, ping, pong, &mu)
		}()
		sum += <-done
	}
	fmt.Println(sum)
}
