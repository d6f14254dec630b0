package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dbg/eval"
	"dbg/target"
)

// filePiece is how much memory is copied at once.
const filePiece = 1 << 20

// DumpMemory writes the memory from lo up to hi to a file. If memory can't be read, no file is
// left.
func (s *Session) DumpMemory(path string, format MemoryFormat, appended bool, lo, hi target.Addr) error {
	return s.try(func() error {
		if hi <= lo {
			return errors.New("Invalid memory address range (start >= end).") //lint:ignore ST1005 gdb's words
		}
		return s.writeMemoryFile(path, format, appended, uint64(lo), uint64(hi), func(w io.Writer) error {
			buf := make([]byte, min(filePiece, hi-lo))
			for at := lo; at < hi; {
				if s.cutShort() {
					return s.ctx.Err()
				}
				b := buf[:min(target.Addr(len(buf)), hi-at)]
				if n, err := s.readMemory(at, b); err != nil || n < len(b) {
					if err == nil {
						err = &target.MemoryError{Addr: at + target.Addr(n)}
					}
					return err
				}
				if _, err := w.Write(b); err != nil {
					return err
				}
				at += target.Addr(len(b))
			}
			return nil
		})
	})
}

// DumpValue writes the bytes of an expression's value to a file. lvalue is false if the value has
// no address: then a format with addresses has 0.
func (s *Session) DumpValue(path string, format MemoryFormat, appended bool, expr string) (lvalue bool, err error) {
	err = s.try(func() error {
		e := s.env(s.selected, s.level)
		v, err := eval.Evaluate(expr, e)
		if err != nil {
			return err
		}
		if v = eval.Fetch(v, e); v.Err != nil {
			return v.Err
		}
		if v.Type == nil || len(v.Bytes) == 0 {
			return errors.New("Invalid expression.") //lint:ignore ST1005 gdb's words
		}
		lo := uint64(0)
		if lvalue = v.HasAddr; lvalue {
			lo = uint64(v.Addr)
		}
		return s.writeMemoryFile(path, format, appended, lo, lo+uint64(len(v.Bytes)), func(w io.Writer) error {
			_, err := w.Write(v.Bytes)
			return err
		})
	})
	return lvalue, err
}

// writeMemoryFile makes a file, or appends to one. If write fails, an older file is unchanged.
func (s *Session) writeMemoryFile(path string, format MemoryFormat, appended bool, lo, hi uint64, write func(io.Writer) error) (err error) {
	f, commit, err := openOutput(path, appended)
	if err != nil {
		return fmt.Errorf("cannot open %s: %w", path, reasonOf(err))
	}
	defer func() { err = commit(err) }()
	buffered := bufio.NewWriterSize(f, 64<<10)
	w, err := newMemoryWriter(buffered, format, path, lo, hi)
	if err != nil {
		return err
	}
	if err := write(w); err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return err
	}
	return buffered.Flush()
}

// reasonOf returns the reason of an error about a path.
func reasonOf(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// openOutput opens a file for writing. commit closes it: with an error it restores what was there
// before, and returns that error. A regular file appears under its name when it is complete.
func openOutput(path string, appended bool) (f *os.File, commit func(error) error, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	st, err := os.Stat(path)
	special := err == nil && !st.Mode().IsRegular()
	if appended || special {
		flags := os.O_WRONLY | os.O_CREATE
		if appended {
			flags |= os.O_APPEND
		}
		if f, err = os.OpenFile(path, flags, 0o666); err != nil {
			return nil, nil, err
		}
		return f, func(err error) error {
			if err != nil && !special {
				if st != nil {
					_ = f.Truncate(st.Size())
				} else {
					_ = os.Remove(path)
				}
			}
			return errors.Join(err, f.Close())
		}, nil
	}
	base := filepath.Base(path)
	if f, err = os.CreateTemp(filepath.Dir(path), "."+base[:min(len(base), 200)]+"."); err != nil {
		return nil, nil, err
	}
	mode := os.FileMode(0o600) // memory may hold secrets
	if st != nil {
		mode = st.Mode().Perm()
	}
	return f, func(err error) error {
		if err == nil {
			err = f.Chmod(mode)
		}
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err == nil {
			err = os.Rename(f.Name(), path)
		}
		if err != nil {
			_ = os.Remove(f.Name())
		}
		return err
	}, nil
}

// Restore describes what RestoreMemory copies.
type Restore struct {
	Path   string
	Binary bool // else S-records or Intel hexadecimal
	Offset uint64
	// Lo and Hi select a part of the file: offsets in a binary file, addresses in others. Hi 0
	// means up to the end.
	Lo, Hi uint64
}

// RestoreMemory copies a file into memory. It calls begun with a sentence before each part.
func (s *Session) RestoreMemory(r Restore, begun func(string)) error {
	return s.try(func() error {
		if err := s.needProcess(); err != nil {
			return err
		}
		f, err := os.Open(r.Path)
		if err != nil {
			return fmt.Errorf("Failed to open %s: %w.", r.Path, reasonOf(err)) //lint:ignore ST1005 gdb's words
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			return err
		}
		if !st.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", r.Path)
		}
		if r.Hi == 0 {
			r.Hi = ^uint64(0)
		}
		if r.Binary {
			return s.restoreBinary(f, uint64(st.Size()), r, begun)
		}
		return s.restoreRecords(f, r, begun)
	})
}

func (s *Session) restoreBinary(f *os.File, size uint64, r Restore, begun func(string)) error {
	hi := min(size, r.Hi)
	if r.Lo >= size {
		return errors.New("Start address is greater than length of binary file " + r.Path + ".")
	}
	if hi <= r.Lo {
		return errors.New("the part of the file is empty")
	}
	begun(fmt.Sprintf("Restoring binary file %s into memory (0x%x to 0x%x)", r.Path, r.Offset+r.Lo, r.Offset+hi))
	buf := make([]byte, min(filePiece, hi-r.Lo))
	for at := r.Lo; at < hi; {
		n, err := f.ReadAt(buf[:min(uint64(len(buf)), hi-at)], int64(at))
		if n == 0 {
			return fmt.Errorf("%s: %w", r.Path, err)
		}
		if err := s.writePiece(r.Offset+at, buf[:n]); err != nil {
			return err
		}
		at += uint64(n)
	}
	return nil
}

// writePiece writes to the program's memory.
func (s *Session) writePiece(at uint64, b []byte) error {
	if s.cutShort() {
		return s.ctx.Err()
	}
	_, err := s.env(s.selected, s.level).WriteMemory(target.Addr(at), b)
	return err
}

// restoreRecords copies a text file. It checks the whole file before it changes memory.
func (s *Session) restoreRecords(f *os.File, r Restore, begun func(string)) error {
	each := func(do func(at uint64, data []byte) error) error {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 4096) // a record has at most 520 characters
		upper, any := uint64(0), false
		for n := 1; lines.Scan(); n++ {
			if n%4096 == 0 && s.cutShort() {
				return s.ctx.Err()
			}
			at, data, err := parseRecord(lines.Bytes(), &upper)
			if err != nil && !any {
				return fmt.Errorf("'%s' is not a recognized file format.", r.Path) //lint:ignore ST1005 gdb's words
			}
			if err != nil {
				return fmt.Errorf("%s:%d: %w", r.Path, n, err)
			}
			any = any || len(lines.Bytes()) > 0
			if len(data) > 0 {
				if err := do(at, data); err != nil {
					return err
				}
			}
		}
		if lines.Err() != nil || !any {
			return fmt.Errorf("'%s' is not a recognized file format.", r.Path) //lint:ignore ST1005 gdb's words
		}
		return nil
	}
	// Neighbouring records are one section, as in gdb.
	type section struct{ lo, hi uint64 }
	var sections []section
	err := each(func(at uint64, data []byte) error {
		if n := len(sections); n > 0 && sections[n-1].hi == at {
			sections[n-1].hi += uint64(len(data))
		} else if sections = append(sections, section{at, at + uint64(len(data))}); len(sections) > 1<<20 {
			return errors.New("the file has too many sections")
		}
		return nil
	})
	if err != nil {
		return err
	}
	number := 0
	var last uint64
	return each(func(at uint64, data []byte) error {
		if number == 0 || at != last {
			number++
			sec := sections[min(number, len(sections))-1]
			if lo, hi := max(sec.lo, r.Lo), min(sec.hi, r.Hi); lo < hi {
				begun(fmt.Sprintf("Restoring section .sec%d (0x%x to 0x%x)", number, lo+r.Offset, hi+r.Offset))
			}
		}
		last = at + uint64(len(data))
		lo, hi := max(at, r.Lo), min(last, r.Hi)
		if lo >= hi {
			return nil
		}
		return s.writePiece(lo+r.Offset, data[lo-at:hi-at])
	})
}
