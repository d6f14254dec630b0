package image

import (
	"fmt"

	"dbg/image/inflate"
)

// beginInflate checks the size that a section claims to inflate to, and allocates memory for it.
func (f *File) beginInflate(s *section, raw []byte, how inflate.Codec) ([]byte, error) {
	s.packed = true
	if err := f.inflated.Take(len(raw), s.inflatedSize, len(f.data)); err != nil {
		return nil, err
	}
	stream, err := inflate.Open(how, raw, s.inflatedSize)
	if err != nil {
		return nil, err
	}
	s.stream, s.data = stream, stream.Data
	return s.data, nil
}

// inflateTo makes the first n bytes of a section valid.
func (s *section) inflateTo(n uint64) error {
	if s.stream == nil {
		return nil
	}
	more, err := s.stream.To(n)
	if !more {
		s.stream = nil
	}
	return err
}

// damaged records why the data of a section can't be read.
func (f *File) damaged(s *section, err error) {
	s.done, s.data, s.stream = true, nil, nil
	s.err = fmt.Errorf("%s: section %s at offset 0x%x: %w", f.path, s.name, s.off, err)
	f.trouble = append(f.trouble, s.err)
}

// Errors returns an error for each requested section that could not be read.
func (f *File) Errors() []error {
	if f == nil {
		return nil
	}
	return f.trouble
}
