package fault

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// mapped is a mapped file of 16 pages that has been cut to one.
func mapped(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 16*4096), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, 16*4096, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	Mapped(data, path)
	t.Cleanup(func() { Unmapped(data); unix.Munmap(data) })
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFileError(t *testing.T) {
	data := mapped(t)
	sum := byte(0)
	err := Catch(func() { sum += data[5*4096] })
	var file *FileError
	if !errors.As(err, &file) || !strings.Contains(err.Error(), "file was cut short") {
		t.Errorf("%v", err)
	}
	if err := Catch(func() { sum += data[10] }); err != nil {
		t.Errorf("what is still there: %v", err)
	}
	err = Catch(func() {
		var g Group
		for range 4 {
			g.Go(func() { sum := data[7*4096]; runtime.KeepAlive(sum) })
		}
		g.Wait()
		t.Error("the wait for goroutines that failed returned")
	})
	if !errors.As(err, &file) {
		t.Errorf("in a goroutine: %v", err)
	}
}

func TestPanicError(t *testing.T) {
	var list []int
	for _, f := range []func(){
		func() { _ = list[3] },
		func() { var p *int; *p = 1 },
		func() { var g Group; g.Go(func() { _ = list[4] }); g.Go(func() {}); g.Wait() },
	} {
		err := Catch(f)
		var mine *PanicError
		if !errors.As(err, &mine) || len(mine.Stack) == 0 || !strings.HasPrefix(err.Error(), "internal error: runtime error") {
			t.Errorf("%v", err)
		}
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		_ = Catch(runtime.Goexit)
		t.Error("a goroutine that ends goes on")
	}()
	<-done
}
