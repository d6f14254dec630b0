package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"dbg/arch"
	"dbg/frames"
	"dbg/image"
	"dbg/target"
)

// Config describes a process at a stop.
type Config struct {
	Arch *arch.Arch

	// Mappings is the memory map. PartialMap is set if it does not list all memory that is readable: by
	// default the process does not ask for memory outside of it.
	Mappings   []target.Mapping
	PartialMap bool

	// Auxv returns an entry of the auxiliary vector. It may be nil.
	Auxv func(typ uint64) (uint64, bool)

	// Files configures how mapped files are found. Its Cache is worth setting where several processes
	// are examined.
	Files frames.AddressSpaceOptions

	// MaxWalks limits the walks that are under way at once; the others wait. Each has an Unwinder of
	// its own, some 250 KB. The default is 16.
	MaxWalks int

	// Configure sets the fields of a new Unwinder. It may be nil.
	Configure func(*frames.Unwinder)
}

// Process is a process at a stop, whose memory is elsewhere. Code and tables come from files on this
// machine, everything else from a Memory.
//
// Several goroutines may use a Process, each with its own walks: one of them works at a time.
type Process struct {
	mem *Memory
	cfg Config

	mu      sync.Mutex // held while a task of the process works; guards the next four fields
	space   *frames.AddressSpace
	isOpen  bool // space is complete
	opening *routine

	relocated map[*image.File]bool // files with text relocations

	walkMu sync.Mutex       // guards the fields below
	spare  []*walkResources // of walks that have ended
	walks  int              // walks that have resources
	tasks  int              // tasks that have not ended
}

// ErrBusy is the error of Refresh while tasks are under way.
var ErrBusy = errors.New("walks of the process are under way")

// Errors of tasks that come too early or too late.
var (
	errNotOpen = errors.New("the process is not open")
	errOpen    = errors.New("the process is open already")
)

// NewProcess returns a process that Open opens. mem serves this process alone.
func NewProcess(cfg Config, mem *Memory) *Process {
	if cfg.MaxWalks <= 0 {
		cfg.MaxWalks = 16
	}
	return &Process{mem: mem, cfg: cfg, relocated: map[*image.File]bool{}}
}

// Memory returns the process's memory.
func (p *Process) Memory() *Memory { return p.mem }

// Space returns the address space, for its images and mappings. It is nil until Open has ended. It belongs
// to one goroutine, and walks use it: it must not be used while another goroutine calls Next.
func (p *Process) Space() *frames.AddressSpace {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.space
}

// Open finds the mapped files. It asks for the first bytes of those, and for the vDSO, all at once.
func (p *Process) Open(ctx context.Context) *Task {
	return p.task(ctx, func(*routine) (err error) {
		if p.space != nil {
			return errOpen
		}
		p.wantHeaders()
		space, err := frames.NewAddressSpace((*source)(p), p.cfg.Files)
		if err != nil {
			return fmt.Errorf("opening the process: %w", err)
		}
		p.space, p.isOpen = space, true
		return nil
	})
}

// Refresh is Open for a later stop of the process, with its memory map then. It forgets the memory and
// keeps the files. It fails with ErrBusy if a task is under way.
func (p *Process) Refresh(ctx context.Context, maps []target.Mapping) (*Task, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.walkMu.Lock()
	defer p.walkMu.Unlock()
	switch {
	case p.space == nil:
		return nil, errNotOpen
	case p.tasks > 0:
		return nil, ErrBusy
	}
	p.mem.Forget()
	p.isOpen = false
	p.cfg.Mappings = maps
	return p.taskLocked(ctx, func(*routine) error {
		p.wantHeaders()
		err := p.space.Refresh()
		p.isOpen = err == nil
		return err
	}), nil
}

// Close closes the files. No task may be under way.
func (p *Process) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.space == nil {
		return nil
	}
	s := p.space
	p.space, p.isOpen = nil, false
	return s.Close()
}

func (p *Process) task(ctx context.Context, body func(*routine) error) *Task {
	p.walkMu.Lock()
	defer p.walkMu.Unlock()
	return p.taskLocked(ctx, body)
}

// taskLocked makes a task that opens the process. The caller holds walkMu.
func (p *Process) taskLocked(ctx context.Context, body func(*routine) error) *Task {
	p.tasks++
	return newTask(p, newRoutine(ctx, p.mem, func(r *routine) error {
		p.opening = r
		return body(r)
	}, func(bool) { p.ended() }))
}

// ended notes the end of a task.
func (p *Process) ended() {
	p.walkMu.Lock()
	defer p.walkMu.Unlock()
	p.tasks--
	p.mem.taskEnded()
}

// wantHeaders asks for what NewAddressSpace reads: the ELF headers of mapped files, and the vDSO.
func (p *Process) wantHeaders() {
	const vdsoPages = 16
	last := ""
	for i := range p.cfg.Mappings {
		m := &p.cfg.Mappings[i]
		switch {
		case m.Path == "[vdso]":
			p.mem.want(m.Lo, min(uint64(m.Hi-m.Lo), vdsoPages*pageSize), ahead, 0)
		case m.Path != "" && m.Path[0] == '/' && m.Path != last:
			p.mem.want(m.Lo, 1, ahead, 0)
		}
		last = m.Path
	}
}

// source is the process as frames.MappedTarget, for the task that opens it.
type source Process

func (s *source) Mappings() ([]target.Mapping, error) { return s.cfg.Mappings, nil }

func (s *source) Auxv(typ uint64) (uint64, bool) {
	if s.cfg.Auxv == nil {
		return 0, false
	}
	return s.cfg.Auxv(typ)
}

func (s *source) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	return s.opening.read(addr, buf, len(buf))
}

// fromFile fills buf with memory that is the same in the file, as far as there is such memory from addr on,
// and returns the number of bytes. The walks of frames read .text so, too. The caller holds p.mu.
func (p *Process) fromFile(addr target.Addr, buf []byte) int {
	im := p.space.Image(addr)
	if im == nil || im.File == nil || im.Path == "[vdso]" {
		return 0
	}
	m := p.space.Mapping(addr)
	if m == nil || m.Write == target.Allowed || m.Path != im.Path {
		return 0
	}
	relocated, known := p.relocated[im.File]
	if !known {
		relocated = im.File.HasTextRelocations()
		p.relocated[im.File] = relocated
	}
	if relocated {
		return 0
	}
	buf = buf[:min(uint64(len(buf)), uint64(m.Hi-addr))]
	return im.File.ConstantMemory(image.Addr(uint64(addr)-im.Bias), buf)
}

// mappedPart returns how many of size bytes at an address are mapped.
func (p *Process) mappedPart(addr target.Addr, size int) int {
	if p.cfg.PartialMap {
		return size
	}
	n := 0
	for n < size {
		m := p.space.Mapping(addr + target.Addr(n))
		if m == nil {
			break
		}
		n += int(min(uint64(m.Hi-addr)-uint64(n), uint64(size-n)))
	}
	return n
}

// unmapped reports whether nothing is mapped at an address.
func (p *Process) unmapped(addr target.Addr) bool {
	return !p.cfg.PartialMap && p.space.Mapping(addr) == nil
}
