package image

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"dbg/internal/fault"
)

// Mapping is a regular file that is mapped for reading.
type Mapping struct{ data []byte }

// Map maps a file of at least one and at most so many bytes.
func Map(path string, most int64) (*Mapping, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, or is no regular file", path, info.Size())
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	fault.Mapped(data, path)
	return &Mapping{data}, nil
}

// Bytes is the file, at an address that is a multiple of the page size.
func (m *Mapping) Bytes() []byte { return m.data }

// Release says that a part of the file that has been read is not needed soon, as File.Release does; from and to are multiples of the page
// size, or the file's end.
func (m *Mapping) Release(from, to int) {
	if from < to && to <= len(m.data) {
		_ = unix.Madvise(m.data[from:to], unix.MADV_DONTNEED)
	}
}

// Close gives the memory back: nobody may use it any more.
func (m *Mapping) Close() error {
	if m == nil || m.data == nil {
		return nil
	}
	data := m.data
	m.data = nil
	fault.Unmapped(data)
	return unix.Munmap(data)
}
