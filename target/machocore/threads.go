package machocore

import (
	"cmp"
	"encoding/json"
	"slices"

	"dbg/arch"
	"dbg/target"
)

// Thread state flavors: <mach/i386/thread_status.h>, <mach/arm/thread_status.h>. The x86 flavors
// without a width, and ARM_THREAD_STATE, begin with the flavor and count of their contents.
const (
	x86Thread32    = 1
	x86Float32     = 2
	x86Exception32 = 3
	x86Thread64    = 4
	x86Float64     = 5
	x86Exception64 = 6
	x86Thread      = 7
	x86Float       = 8
	x86Exception   = 9
	x86AVX64       = 17
	x86AVX         = 18

	armThread      = 1
	armThread64    = 6
	armException64 = 7
	armNEON64      = 17
)

// thread is one thread of the core, with slices of the file.
type thread struct {
	id        target.ThreadID
	regs      []byte // x86_THREAD_STATE64 or similar
	float     []byte // x86_FLOAT_STATE64, ARM_NEON_STATE64
	avx       []byte // x86_AVX_STATE64
	exception []byte
	signal    *target.SignalInfo
}

// readThread reads an LC_THREAD: a sequence of states, each with a flavor, a count of 32-bit
// words, and that many words.
func (c *Core) readThread(b []byte) {
	t := thread{}
	for len(b) >= 8 {
		flavor, size := le.Uint32(b), 4*uint64(le.Uint32(b[4:]))
		state, ok := cut(b, 8, size)
		if !ok {
			c.warn("the core file is damaged: the state of thread %d ends early", len(c.threads)+1)
			// The part that exists is still valid.
			state, size = b[8:], uint64(len(b)-8)
		}
		t.take(c.arch, flavor, state, true)
		b = b[8+size:]
	}
	if size := layouts[c.arch].size; len(t.regs) < size {
		c.warn("thread %d has %d bytes of general registers, expected %d", len(c.threads)+1, len(t.regs), size)
	}
	c.threads = append(c.threads, t)
}

// take stores a thread state of a known flavor, the first of each. outer is false for a state
// inside another one.
func (t *thread) take(a *arch.Arch, flavor uint32, b []byte, outer bool) {
	keep := func(p *[]byte) {
		if *p == nil {
			*p = b
		}
	}
	nested := false
	switch a {
	case arch.AMD64:
		switch flavor {
		case x86Thread64:
			keep(&t.regs)
		case x86Float64:
			keep(&t.float)
		case x86Exception64:
			keep(&t.exception)
		case x86AVX64:
			keep(&t.avx)
		case x86Thread, x86Float, x86Exception, x86AVX:
			nested = true
		}
	case arch.I386:
		switch flavor {
		case x86Thread32:
			keep(&t.regs)
		case x86Float32:
			keep(&t.float)
		case x86Exception32:
			keep(&t.exception)
		case x86Thread, x86Float, x86Exception:
			nested = true
		}
	case arch.ARM64:
		switch flavor {
		case armThread64:
			keep(&t.regs)
		case armNEON64:
			keep(&t.float)
		case armException64:
			keep(&t.exception)
		case armThread:
			nested = true
		}
	}
	if nested && outer && len(b) >= 8 {
		t.take(a, le.Uint32(b), cutSome(b, 8, 4*uint64(le.Uint32(b[4:]))), false)
	}
}

// nameThreads sets the ids of the threads: those in the note "process metadata", if it lists the
// same number of threads, else 1, 2, 3...
func (c *Core) nameThreads() {
	for i := range c.threads {
		c.threads[i].id = target.ThreadID(i + 1)
	}
	if c.notes.metadata == nil {
		return
	}
	var meta struct {
		Threads []struct {
			ID json.Number `json:"thread_id"`
		} `json:"threads"`
	}
	if err := json.Unmarshal(c.notes.metadata, &meta); err != nil {
		c.warn("the note \"process metadata\" can't be parsed: %v", err)
		return
	}
	if len(meta.Threads) == 0 {
		return
	}
	if len(meta.Threads) != len(c.threads) {
		c.warn("the note \"process metadata\" lists %d threads, but the core has %d: the thread ids are unknown", len(meta.Threads), len(c.threads))
		return
	}
	seen := map[int64]bool{}
	for _, m := range meta.Threads {
		id, err := m.ID.Int64()
		if err != nil || id <= 0 || seen[id] {
			c.warn("the note \"process metadata\" has no usable thread ids")
			return
		}
		seen[id] = true
	}
	for i, m := range meta.Threads {
		id, _ := m.ID.Int64()
		c.threads[i].id = target.ThreadID(id)
	}
}

// thread returns a thread by id, or nil.
func (c *Core) thread(id target.ThreadID) *thread {
	for i := range c.threads {
		if c.threads[i].id == id {
			return &c.threads[i]
		}
	}
	return nil
}

// Threads implements target.Target. The first thread is the one that seems to have died. The
// others are in the order of the core: the main thread first.
func (c *Core) Threads() []target.Thread {
	out := make([]target.Thread, len(c.threads))
	for i := range c.threads {
		out[i] = target.Thread{ID: c.threads[i].id, Signal: c.threads[i].signal}
	}
	slices.SortStableFunc(out, func(a, b target.Thread) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

func rank(t target.Thread) int {
	if t.Signal != nil {
		return 0
	}
	return 1
}
