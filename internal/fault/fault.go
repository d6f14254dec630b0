// Package fault keeps what goes wrong in reading a file from ending the program: a mapped file that is cut short while it is in use (the
// kernel sends SIGBUS), and a mistake of ours in code that reads damaged data.
//
// Catch is where that becomes an error. Goroutines that read files for another one are started through a Group, which hands what
// went wrong to the one that waits for them.
package fault

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"
)

// FileError says that a mapped file could not be read.
type FileError struct {
	Path string
	Addr uintptr // of the access, in our memory
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s was cut short, or could not be read, while it was in use", e.Path)
}

// PanicError is a mistake of the program's own.
type PanicError struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// latest is the PanicError that was made last.
var latest atomic.Pointer[PanicError]

// Latest returns the mistake that Catch or a Group has met last in this process; nil: there was none. A test that provokes mistakes sees
// those, too, that no answer shows.
func Latest() *PanicError { return latest.Load() }

// relayed is the panic of a goroutine that waits for others, of which one has failed.
type relayed struct{ err error }

// Error is what is printed if nobody catches it.
func (r relayed) Error() string {
	if mine, ok := r.err.(*PanicError); ok {
		return fmt.Sprintf("%v\n%s", r.err, mine.Stack)
	}
	return r.err.Error()
}

// Catch runs f. If f panics, or reads a mapped file where that is no longer, Catch returns a *FileError or a *PanicError.
func Catch(f func()) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			err = errorOf(r)
		}
	}()
	f()
	return nil
}

// Protect makes faults in this goroutine panics, for good: for a goroutine whose panics are somebody else's to catch, such as the
// coroutine of an iterator.
func Protect() { debug.SetPanicOnFault(true) }

func errorOf(r any) error {
	switch r := r.(type) {
	case relayed:
		return r.err
	case interface{ Addr() uintptr }: // runtime.Error of a fault
		if path, ok := mappings.find(r.Addr()); ok {
			return &FileError{path, r.Addr()}
		}
	}
	mine := &PanicError{r, debug.Stack()}
	latest.Store(mine)
	return mine
}

// Group is goroutines that work for the one that waits for them.
type Group struct {
	wait sync.WaitGroup
	lock sync.Mutex // guards err
	err  error
}

// Go runs f on a goroutine of its own.
func (g *Group) Go(f func()) {
	g.wait.Go(func() {
		if err := Catch(f); err != nil {
			g.lock.Lock()
			defer g.lock.Unlock()
			if g.err == nil {
				g.err = err
			}
		}
	})
}

// Wait waits until all have returned. If one has failed it panics, for the caller's Catch.
func (g *Group) Wait() {
	g.wait.Wait()
	if g.err != nil {
		panic(relayed{g.err})
	}
}

// mapping is a mapped file.
type mapping struct {
	end  uintptr
	path string
}

// known are the mapped files by their first address.
type known struct {
	lock sync.Mutex
	all  map[uintptr]mapping
}

var mappings = known{all: map[uintptr]mapping{}}

func (k *known) find(a uintptr) (string, bool) {
	k.lock.Lock()
	defer k.lock.Unlock()
	for lo, m := range k.all {
		if lo <= a && a < m.end {
			return m.path, true
		}
	}
	return "", false
}

// Mapped says that data is a mapped file, until Unmapped is called.
func Mapped(data []byte, path string) {
	if len(data) == 0 {
		return
	}
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	mappings.lock.Lock()
	defer mappings.lock.Unlock()
	mappings.all[lo] = mapping{lo + uintptr(len(data)), path}
}

// Unmapped says that data is about to be unmapped.
func Unmapped(data []byte) {
	if len(data) == 0 {
		return
	}
	mappings.lock.Lock()
	defer mappings.lock.Unlock()
	delete(mappings.all, uintptr(unsafe.Pointer(unsafe.SliceData(data))))
}
