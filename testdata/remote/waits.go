// Goroutines that wait in system calls, each with a deep stack; then "ready", and the main one waits or panics.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
)

//go:noinline
func deep(n int, here *sync.WaitGroup, at func()) int {
	if n == 0 {
		here.Done()
		at()
		return 0
	}
	return deep(n-1, here, at) + 1
}

func main() {
	runtime.GOMAXPROCS(4)
	var here sync.WaitGroup
	here.Add(4)
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	for range 4 {
		go deep(50, &here, func() { syscall.Read(pipe[0], make([]byte, 1)) })
	}
	here.Wait()
	fmt.Println("ready")
	if len(os.Args) > 1 {
		debug.SetTraceback("crash")
		panic("with a core")
	}
	os.Stdin.Read(make([]byte, 1))
	select {}
}
