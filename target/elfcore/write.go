package elfcore

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"dbg/target"
)

// Contents is what Write puts into a core file of x86-64.
type Contents struct {
	Memory  target.Memory
	Process target.ProcessInfo
	// Threads lists the threads. The first is the one that readers show first: the one whose signal
	// stopped the process, if there is one.
	Threads []WrittenThread
	Auxv    []byte
	Regions []target.Region // by address
	Filter  Filter
	// Excluded makes Write include memory that the program excluded with MADV_DONTDUMP.
	Excluded bool
	// Touched is that of target.RegionReader; nil if unknown.
	Touched func(lo target.Addr, pages []bool) error
}

// WrittenThread is a thread of a core file.
type WrittenThread struct {
	ID     target.ThreadID
	Signal int // for which it stopped, or 0
	State  target.ThreadState
}

// Filter selects the kinds of memory in a core file: core(5), "Controlling which mappings are
// written to the core dump".
type Filter uint

const (
	privateAnonymous Filter = 1 << iota
	sharedAnonymous
	privateFile
	sharedFile
	elfHeaders
	privateHuge
	sharedHuge

	// DefaultFilter is the kernel's default.
	DefaultFilter = privateAnonymous | sharedAnonymous | elfHeaders | privateHuge
)

// Written describes a core file that Write has made.
type Written struct {
	Size       int64  // of the file, with its holes
	Stored     int64  // bytes that were not zero pages, without headers
	Unreadable uint64 // bytes of memory that should be in the file but could not be read; they read as zeros
}

// pieceSize is the size of the buffers with which memory is copied. Two of them stay in the
// processor's cache.
const pieceSize = 256 << 10

// Write makes a core file. The file appears under its name when it is complete: if there is an
// error, or if ctx ends, nothing is left and an older file of that name is unchanged. Pages of
// zeros become holes of the file. The process must not move meanwhile.
func Write(ctx context.Context, path string, c *Contents) (w Written, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		return w, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+shortened(filepath.Base(path))+".")
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return w, fmt.Errorf("%s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			err = fmt.Errorf("core file %s: %w", path, err)
		}
	}()
	out := writer{ctx: ctx, f: f, c: c}
	if err = out.write(); err != nil {
		return w, err
	}
	if err = f.Close(); err != nil {
		return w, err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return w, err
	}
	return out.done, nil
}

// shortened limits a name so that a suffix fits into the file system's limit.
func shortened(name string) string { return name[:min(len(name), 200)] }

// writer writes one core file.
type writer struct {
	ctx      context.Context
	f        *os.File
	c        *Contents
	segments []segment
	done     Written
}

// segment is a program header of a region and its place in the file.
type segment struct {
	region *target.Region
	size   uint64 // in the file
	off    uint64
}

const (
	headerSize = 64
	progSize   = 56
	shdrSize   = 64
)

func (w *writer) write() error {
	notes := w.notes()
	for i := range w.c.Regions {
		r := &w.c.Regions[i]
		if r.Lo < r.Hi {
			w.segments = append(w.segments, segment{region: r, size: w.c.stored(r)})
		}
	}
	progs := uint64(len(w.segments)) + 1
	at := headerSize + progs*progSize
	shdr := uint64(0)
	if progs >= manyProgs {
		shdr, at = at, at+shdrSize
	}
	notesAt := at
	at = align(at + uint64(len(notes)))
	for i := range w.segments {
		w.segments[i].off = at
		at += align(w.segments[i].size)
	}
	if at > 1<<62 {
		return fmt.Errorf("the memory map has %d bytes", at)
	}
	// The end comes first: a full disk or a limit of the file's size often shows here.
	if err := w.f.Truncate(int64(at)); err != nil {
		return err
	}
	w.done.Size = int64(at)
	if _, err := w.f.WriteAt(notes, int64(notesAt)); err != nil {
		return err
	}
	if err := w.copyMemory(); err != nil {
		return err
	}
	_, err := w.f.WriteAt(w.headers(progs, shdr, notesAt, uint64(len(notes))), 0)
	return err
}

func align(n uint64) uint64 { return (n + target.PageSize - 1) &^ (target.PageSize - 1) }

// manyProgs is PN_XNUM: the real number of program headers is in section header 0, elf(5).
const manyProgs = 0xffff

// headers makes the ELF header, the program headers and, if there are many of these, section
// header 0.
func (w *writer) headers(progs, shdr, notesAt, notesSize uint64) []byte {
	o := binary.LittleEndian
	b := make([]byte, 0, headerSize+progs*progSize+shdrSize)
	b = append(b, elf.ELFMAG...)
	b = append(b, byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT), 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = o.AppendUint16(b, uint16(elf.ET_CORE))
	b = o.AppendUint16(b, uint16(elf.EM_X86_64))
	b = o.AppendUint32(b, uint32(elf.EV_CURRENT))
	b = o.AppendUint64(b, 0) // e_entry
	b = o.AppendUint64(b, headerSize)
	b = o.AppendUint64(b, shdr)
	b = o.AppendUint32(b, 0) // e_flags
	sections, size := uint16(0), uint16(0)
	if shdr != 0 {
		sections, size = 1, shdrSize
	}
	for _, v := range []uint16{headerSize, progSize, uint16(min(progs, manyProgs)), size, sections, 0} {
		b = o.AppendUint16(b, v)
	}
	prog := func(typ elf.ProgType, flags elf.ProgFlag, off, addr, size, mem, align uint64) {
		b = o.AppendUint32(b, uint32(typ))
		b = o.AppendUint32(b, uint32(flags))
		for _, v := range []uint64{off, addr, 0, size, mem, align} {
			b = o.AppendUint64(b, v)
		}
	}
	prog(elf.PT_NOTE, 0, notesAt, 0, notesSize, 0, 4)
	for _, s := range w.segments {
		r := s.region
		var flags elf.ProgFlag
		for _, p := range []struct {
			have target.Permission
			flag elf.ProgFlag
		}{{r.Read, elf.PF_R}, {r.Write, elf.PF_W}, {r.Exec, elf.PF_X}} {
			if p.have == target.Allowed {
				flags |= p.flag
			}
		}
		prog(elf.PT_LOAD, flags, s.off, uint64(r.Lo), s.size, uint64(r.Hi-r.Lo), target.PageSize)
	}
	if shdr != 0 {
		h := make([]byte, shdrSize)
		o.PutUint64(h[32:], 1) // sh_size: the number of sections
		o.PutUint32(h[44:], uint32(progs))
		b = append(b, h...)
	}
	return b
}

// stored returns how many bytes of a region are in the file, by the rules of the kernel
// (fs/coredump.c, vma_dump_size).
func (c *Contents) stored(r *target.Region) uint64 {
	whole := uint64(r.Hi - r.Lo)
	pick := func(f Filter) uint64 {
		if c.Filter&f != 0 {
			return whole
		}
		return 0
	}
	file := r.Inode != 0
	switch {
	case r.Path == "[vdso]":
		return whole
	case r.Path == "[vsyscall]" || r.DontDump && !c.Excluded || r.IO:
		return 0
	case r.Huge && r.Shared:
		return pick(sharedHuge)
	case r.Huge:
		return pick(privateHuge)
	case r.Shared && r.Deleted:
		return pick(sharedAnonymous)
	case r.Shared:
		return pick(sharedFile)
	case !file || r.Anonymous > 0 && c.Filter&privateAnonymous != 0:
		return pick(privateAnonymous)
	case c.Filter&privateFile != 0:
		return whole
	case c.Filter&elfHeaders != 0 && r.Offset == 0 && r.Read == target.Allowed:
		magic := make([]byte, len(elf.ELFMAG))
		if n, _ := c.Memory.ReadMemory(r.Lo, magic); r.Exec == target.Allowed || string(magic[:n]) == elf.ELFMAG {
			return min(whole, target.PageSize)
		}
	}
	return 0
}

// piece is a part of a segment that one worker copies.
type piece struct {
	s      *segment
	off, n uint64
	pages  []bool // which pages may be other than zeros; nil: all
}

// copyMemory copies the segments with two workers: one reads while the other one writes.
func (w *writer) copyMemory() error {
	const workers = 2
	ctx, cancel := context.WithCancelCause(w.ctx)
	defer cancel(nil)
	pieces := make(chan piece)
	var all sync.WaitGroup
	var lock sync.Mutex // guards w.done
	for range workers {
		all.Go(func() {
			buf := make([]byte, pieceSize)
			for p := range pieces {
				stored, lost, err := w.copyPiece(p, buf[:p.n])
				if err != nil {
					cancel(err)
				}
				lock.Lock()
				w.done.Stored += stored
				w.done.Unreadable += lost
				lock.Unlock()
			}
		})
	}
	w.cut(ctx, pieces)
	close(pieces)
	all.Wait()
	return context.Cause(ctx)
}

// cut sends the pieces of all segments, until ctx ends.
func (w *writer) cut(ctx context.Context, pieces chan<- piece) {
	for i := range w.segments {
		s := &w.segments[i]
		// Pages of files and of shared memory may be in memory without being in the page table.
		anonymous := w.c.Touched != nil && s.region.Inode == 0 && !s.region.Shared && !s.region.Huge && s.region.Path != "[vdso]"
		var pages []bool
		first := uint64(0) // offset of pages[0]
		for off := uint64(0); off < s.size; off += pieceSize {
			p := piece{s: s, off: off, n: min(pieceSize, s.size-off)}
			if anonymous {
				const ahead = 64 * pieceSize
				if have := uint64(len(pages)) * target.PageSize; off >= first+have {
					first, pages = off, make([]bool, min(ahead, s.size-off)/target.PageSize)
					if w.c.Touched(s.region.Lo+target.Addr(off), pages) != nil {
						anonymous, pages = false, nil // then the bytes tell
					}
				}
				if pages != nil {
					p.pages = pages[(off-first)/target.PageSize:][:p.n/target.PageSize]
					if !anyTrue(p.pages) {
						if ctx.Err() != nil {
							return
						}
						continue
					}
				}
			}
			select {
			case pieces <- p:
			case <-ctx.Done():
				return
			}
		}
	}
}

func anyTrue(list []bool) bool {
	for _, b := range list {
		if b {
			return true
		}
	}
	return false
}

var zeroPage [target.PageSize]byte

// holeSize is the shortest range of zeros that becomes a hole. Shorter ones cost a file system more
// than their bytes.
const holeSize = 64 << 10

// eachRun calls f with the parts of b between its holes.
func eachRun(b []byte, f func(lo, hi uint64) error) error {
	start, zeros, open := uint64(0), uint64(0), false
	size := uint64(len(b))
	for i := uint64(0); i < size; i += target.PageSize {
		switch {
		case !bytes.Equal(b[i:i+target.PageSize], zeroPage[:]):
			if !open || zeros >= holeSize {
				if open {
					if err := f(start, i-zeros); err != nil {
						return err
					}
				}
				start, open = i, true
			}
			zeros = 0
		default:
			zeros += target.PageSize
		}
	}
	if open {
		return f(start, size-zeros)
	}
	return nil
}

// copyPiece copies a piece. Zero pages, and pages that can't be read, become holes.
func (w *writer) copyPiece(p piece, buf []byte) (stored int64, lost uint64, err error) {
	run := func(lo, hi uint64) error {
		stored += int64(hi - lo)
		_, err := w.f.WriteAt(buf[lo:hi], int64(p.s.off+p.off+lo))
		return err
	}
	for at := uint64(0); at < p.n; {
		page := func(i uint64) bool { return p.pages == nil || p.pages[i/target.PageSize] }
		if !page(at) {
			at += target.PageSize
			continue
		}
		end := at
		for end < p.n && page(end) {
			end += target.PageSize
		}
		end = min(end, p.n)
		n, _ := w.c.Memory.ReadMemory(p.s.region.Lo+target.Addr(p.off+at), buf[at:end])
		have := at + uint64(n)&^(target.PageSize-1)
		if err := eachRun(buf[at:have], func(lo, hi uint64) error { return run(at+lo, at+hi) }); err != nil {
			return stored, lost, err
		}
		at = have
		if have < end {
			lost += target.PageSize
			at += target.PageSize
		}
	}
	return stored, lost, nil
}
