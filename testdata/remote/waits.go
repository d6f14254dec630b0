// Goroutines that compute without end, each with a deep stack, and some in a system call; then "ready".
package main

import (
	"fmt"
	"os"
	"runtime"
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
	os.Stdin.Read(make([]byte, 1))
	select {}
}
