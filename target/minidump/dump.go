package minidump

import (
	"fmt"
	"sync"

	"dbg/arch"
	"dbg/image"
	"dbg/target"
	"dbg/target/corefile"
)

// Options specifies where the files of the modules are.
type Options struct {
	// Exe is the file of the main program, or "" if unknown.
	Exe string

	// FindFile maps the path that a module had, in the way of its system, and its id (target.Image.UUID)
	// to candidate local files, the likeliest first. If it is nil, the path itself is tried.
	FindFile func(path, id string) []string
}

// Dump is a minidump. Its methods may be called from any goroutine.
type Dump struct {
	options Options
	base    *corefile.File // its segments are the memory in the dump
	streams map[streamType][]byte
	written uint32 // time_t, or 0

	arch     *arch.Arch
	system   system
	misc     misc
	crashpad crashpad
	threads  []thread
	modules  []*Module // in the order of the dump
	byAddr   []*Module // not overlapping
	regions  []region  // by address, not overlapping
	stacks   []memory  // by address
	parts    []corefile.Part

	fault     *exception
	writer    uint32 // the id of the thread that wrote the dump, or 0
	requester uint32 // the id of the thread that asked for it, or 0

	textLeft  int64 // budget for strings, see sized
	notes     []target.Note
	makeNotes sync.Once

	opening    sync.Mutex // guards the files of modules; taken before the lock of base
	imagesLeft int64      // budget for images that are copied from memory
}

var _ target.Target = (*Dump)(nil)

// IsCore reports whether a file is a minidump.
func IsCore(path string) (bool, error) {
	b := make([]byte, 4)
	n, err := image.Peek(path, b)
	if err != nil {
		return false, corefile.NotRegular(err)
	}
	return begins(b[:n]), nil
}

// Open maps a minidump. A damaged dump is opened as far as possible, and Warnings reports the
// damage. The error is one sentence for the user. It wraps ErrNotCore if the file is not a minidump.
func Open(path string, opts Options) (*Dump, error) {
	return corefile.OpenWith(path, func(f *corefile.File) (*Dump, error) { return parse(f, opts) })
}

// parse makes a Dump from f. The Dump owns f, unless there is an error.
func parse(f *corefile.File, opts Options) (*Dump, error) {
	d := &Dump{base: f, options: opts, streams: map[streamType][]byte{}, textLeft: mostText, imagesLeft: mostImages}
	if err := d.readDirectory(); err != nil {
		return nil, err
	}
	d.readSystem()
	d.readMisc()
	d.readThreads()
	d.readException()
	if d.arch == nil {
		d.arch = d.archOfContexts()
	}
	if d.arch == nil {
		return nil, fmt.Errorf("%s is a minidump for an unsupported processor: %s", f.Path(), d.system.machine())
	}
	d.checkContexts()
	d.readModules()
	d.readRegions()
	d.readMemory()
	d.layOut()
	d.findMain()
	d.nameThreads()
	d.readBreakpad()
	d.readCrashpad()
	d.orderThreads()
	if len(d.threads) == 0 {
		d.warn("the minidump has no threads")
	}
	return d, nil
}

func (d *Dump) warn(format string, args ...any) { d.base.Warnf(format, args...) }

// Warnings returns sentences about problems with the dump and its files, as found so far.
func (d *Dump) Warnings() []string { return d.base.Warnings() }

func (d *Dump) Arch() *arch.Arch  { return d.arch }
func (d *Dump) Kind() target.Kind { return target.Core }

// PID returns the process id, or 0 if the dump does not contain it.
func (d *Dump) PID() int { return d.misc.pid }

// Exe implements target.Target. It returns the path that the first module had: writers list the
// main program first.
func (d *Dump) Exe() string {
	if len(d.modules) > 0 {
		return d.modules[0].Path
	}
	return d.options.Exe
}

// SetRegister and WriteMemory return target.ErrReadOnly.
func (d *Dump) SetRegister(target.ThreadID, arch.Reg, uint64) error { return target.ErrReadOnly }
func (d *Dump) WriteMemory(a target.Addr, data []byte) (int, error) { return 0, target.ErrReadOnly }

// Close implements target.Target.
func (d *Dump) Close() error {
	d.opening.Lock()
	defer d.opening.Unlock()
	d.base.Lock()
	defer d.base.Unlock()
	for _, m := range d.modules {
		_ = m.local.Close()
		m.local, m.looked = nil, true
	}
	return d.base.Close()
}
