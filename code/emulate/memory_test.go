package emulate

import "errors"

var errUnmapped = errors.New("unmapped")

// arena is memory from base on. Everything else is unmapped.
type arena struct {
	base uint64
	data []byte
}

func (a *arena) at(addr uint64, n int) ([]byte, error) {
	offset := addr - a.base
	if offset > uint64(len(a.data)) || uint64(n) > uint64(len(a.data))-offset {
		return nil, errUnmapped
	}
	return a.data[offset:][:n], nil
}

func (a *arena) ReadMemory(addr uint64, buf []byte) error {
	b, err := a.at(addr, len(buf))
	copy(buf, b)
	return err
}

func (a *arena) WriteMemory(addr uint64, buf []byte) error {
	b, err := a.at(addr, len(buf))
	copy(b, buf)
	return err
}
