package image

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"dbg/internal/fault"
)

// Mapping is a regular file that is mapped for reading. If the file is truncated later, an access
// faults: package fault turns that into an error that names the file.
type Mapping struct{ data []byte }

// Map maps a whole file. The error is an *OpenError. An empty file is an error.
func Map(path string) (*Mapping, error) { return MapUpTo(path, 1<<63-1) }

// MapUpTo is Map with a limit on the size of the file, in bytes.
func MapUpTo(path string, most int64) (*Mapping, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := info.Size()
	switch {
	case size == 0:
		return nil, &OpenError{Path: path, Reason: IsEmpty}
	case size > most || int64(int(size)) != size:
		return nil, &OpenError{Path: path, Reason: Unreadable, Err: fmt.Errorf("the file is too large: %d bytes", size)}
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, openError(path, fmt.Errorf("mmap: %w", err))
	}
	fault.Mapped(data, path)
	return &Mapping{data}, nil
}

// Peek reads the beginning of a regular file. It returns fewer bytes than requested if the file
// is shorter. The error is an *OpenError.
func Peek(path string, buf []byte) (int, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, _ := f.ReadAt(buf, 0)
	return n, nil
}

// ReadText reads a whole regular file of at most most bytes. The error is an *OpenError, or says that the
// file is too large.
func ReadText(path string, most int64) ([]byte, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > most {
		return nil, openError(path, fmt.Errorf("%d bytes are too many", info.Size()))
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, openError(path, err)
	}
	return data, nil
}

// openRegular opens a regular file. Paths come from files, too: opening a pipe must not wait for
// its writer.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = openError(path, err)
	case info.IsDir():
		err = &OpenError{Path: path, Reason: IsDirectory}
	case !info.Mode().IsRegular():
		err = &OpenError{Path: path, Reason: UnknownFormat, Detail: "it is not a regular file"}
	default:
		return f, info, nil
	}
	f.Close()
	return nil, nil, err
}

// Bytes returns the contents of the file. They start at a multiple of the page size.
func (m *Mapping) Bytes() []byte { return m.data }

// Release tells the system that a part of the file is not needed soon, like File.Release. from
// and to are multiples of the page size, or the end of the file.
func (m *Mapping) Release(from, to int) {
	if from < to && to <= len(m.data) {
		_ = unix.Madvise(m.data[from:to], unix.MADV_DONTNEED)
	}
}

// Close unmaps the memory, which must not be used any more.
func (m *Mapping) Close() error {
	if m == nil || m.data == nil {
		return nil
	}
	data := m.data
	m.data = nil
	fault.Unmapped(data)
	return unix.Munmap(data)
}
