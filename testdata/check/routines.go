// Goroutines, channels, panics that are recovered, stacks that grow.
package main

import (
	"fmt"
	"sync"
)

//go:noinline
func deep(k int) int {
	var pad [64]int
	if k == 0 {
		return 0
	}
	pad[k%64] = k
	return deep(k-1) + pad[k%64]
}

//go:noinline
func fails(k int) int {
	if k == 0 {
		var m map[string]int
		m["x"] = 1
	}
	return fails(k-1) + 1
}

func caught(k int) (err error) {
	defer func() {
		err, _ = recover().(error)
	}()
	fails(k)
	return nil
}

func main() {
	ch := make(chan int)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ch <- deep(20 * i)
		}()
	}
	go func() { wg.Wait(); close(ch) }()
	sum := 0
	for v := range ch {
		sum += v
	}
	fmt.Println(sum, caught(3), deep(300))
}
