// Two goroutines that each wait for the other one's mutex. The main goroutine sends SIGUSR2 when
// both are blocked.
package main

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"syscall"
)

func main() {
	var a, b sync.Mutex
	var held sync.WaitGroup
	held.Add(2)
	for _, order := range [][2]*sync.Mutex{{&a, &b}, {&b, &a}} {
		go func() {
			order[0].Lock()
			held.Done()
			held.Wait()
			order[1].Lock()
		}()
	}
	buf := make([]byte, 1<<16)
	for bytes.Count(buf[:runtime.Stack(buf, true)], []byte("[sync.Mutex.Lock]")) < 2 {
		runtime.Gosched()
	}
	syscall.Kill(os.Getpid(), syscall.SIGUSR2)
	select {}
}
