package remote

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"dbg/target"
)

// Need is a range of memory that the client shall fetch: whole pages of 4096 bytes.
type Need struct {
	Addr target.Addr
	Size int // in bytes
}

// Options bound a Memory. A zero field has its default.
type Options struct {
	// Ahead is the number of pages of a stack that a walk asks for at once, from the stack pointer up:
	// 16 by default, at most 256. When they do not suffice the walk asks for twice as many, up to 256.
	Ahead int

	// MaxPages limits the pages that are kept: 4096 by default (16 MB), at least 64. Those that were not
	// used for longest go first.
	MaxPages int

	// MaxOutstanding limits the pages that Needs has returned and that are not answered: 512 by default, at
	// most MaxPages.
	MaxOutstanding int
}

// mostAhead limits the pages of one request ahead, in pages.
const mostAhead = 256

func (o Options) complete() Options {
	if o.Ahead <= 0 {
		o.Ahead = 16
	}
	if o.MaxPages <= 0 {
		o.MaxPages = 4096
	}
	if o.MaxOutstanding <= 0 {
		o.MaxOutstanding = 512
	}
	o.Ahead, o.MaxPages = min(o.Ahead, mostAhead), max(o.MaxPages, 64)
	o.MaxOutstanding = min(o.MaxOutstanding, o.MaxPages)
	return o
}

// Stats counts the traffic of a Memory.
type Stats struct {
	Rounds   int // calls of Needs that returned something
	Needs    int // ranges that they returned
	Pages    int // pages in those ranges; a page that is asked for again counts again
	Supplied int // bytes that were supplied
	Evicted  int // pages that were dropped because of MaxPages
	Kept     int // pages that are kept now
	Most     int // the largest number of pages that were kept at once
}

// Memory holds the part of a process's memory that has arrived, and knows which part is wanted. It belongs
// to one stop of the process: memory does not change until Forget.
//
// Several goroutines may use a Memory.
type Memory struct {
	mu    sync.Mutex // guards all fields below
	opt   Options
	pages map[uint64]*page

	// queued are the pages that are wanted and not asked for, in the order of demand. A page that is no
	// longer wanted, or that has come meanwhile, may still be in the list.
	queued      [urgent + 1][]uint64
	outstanding int

	newest, oldest *page // of all pages, by their last use
	stats          Stats

	arrival, wanted signal
}

// signal is a channel that is closed when something has happened.
type signal struct{ next chan struct{} }

func (s *signal) wait() <-chan struct{} {
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

func (s *signal) fire() {
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}

// NewMemory returns a memory of which nothing is known.
func NewMemory(o Options) *Memory {
	return &Memory{opt: o.complete(), pages: map[uint64]*page{}}
}

// Needs returns the ranges that are wanted and were not returned before, by ascending address.
// Neighbouring pages are one range. Each page is to be answered with Supply, Unreadable or Retry, at
// any time and in any order. Needs returns nil if nothing is wanted, or if MaxOutstanding pages are
// unanswered.
func (m *Memory) Needs() []Need {
	m.mu.Lock()
	defer m.mu.Unlock()
	var numbers []uint64
	for d := urgent; d > unwanted; d-- {
		list := m.queued[d]
		i := 0
		for ; i < len(list) && m.outstanding < m.opt.MaxOutstanding; i++ {
			p := m.pages[list[i]]
			if p == nil || p.demand != d || p.asked || p.known() {
				continue
			}
			p.asked = true
			m.outstanding++
			numbers = append(numbers, p.number)
		}
		m.queued[d] = slices.Delete(list, 0, i)
	}
	needs := join(numbers)
	if len(needs) > 0 {
		m.stats.Rounds++
		m.stats.Needs += len(needs)
		m.stats.Pages += len(numbers)
	}
	return needs
}

// join returns the ranges of pages.
func join(numbers []uint64) (needs []Need) {
	slices.Sort(numbers)
	for i, n := range numbers {
		if i > 0 && numbers[i-1] == n-1 {
			needs[len(needs)-1].Size += pageSize
		} else {
			needs = append(needs, Need{target.Addr(n * pageSize), pageSize})
		}
	}
	return needs
}

// Arrival returns a channel that is closed when memory has come, or when a task has ended, after this call. A
// client that does not want to poll calls it before Next, and waits for it if Next returns Waiting.
func (m *Memory) Arrival() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.arrival.wait()
}

// Wanted returns a channel that is closed when something is wanted after this call, or may be asked for
// again because fewer pages are unanswered. A client that does not want to poll calls it before Needs.
func (m *Memory) Wanted() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wanted.wait()
}

// taskEnded tells those who wait that a task has ended.
func (m *Memory) taskEnded() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arrival.fire()
}

var errBeyond = errors.New("the range ends beyond the address space")

// Supply tells the memory's contents at an address. b need not be what Needs has asked for: it may be a
// part of it, or more. Bytes of which something is known already are ignored.
func (m *Memory) Supply(addr target.Addr, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if uint64(addr)+uint64(len(b))-1 < uint64(addr) {
		return fmt.Errorf("%d bytes of memory at %v: %w", len(b), addr, errBeyond)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Supplied += len(b)
	for len(b) > 0 {
		off := int(addr % pageSize)
		n := min(len(b), pageSize-off)
		p := m.page(uint64(addr) / pageSize)
		p.supply(off, b[:n])
		m.arrived(p)
		addr, b = addr+target.Addr(n), b[n:]
	}
	return nil
}

// Unreadable tells that memory can't be read. Bytes of which something is known already are ignored.
// It accepts at most as many pages as MaxPages.
func (m *Memory) Unreadable(addr target.Addr, size int) error {
	if size <= 0 {
		return nil
	}
	if uint64(addr)+uint64(size)-1 < uint64(addr) || size/pageSize > m.opt.MaxPages {
		return fmt.Errorf("%d bytes of unreadable memory at %v: %w", size, addr, errBeyond)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for size > 0 {
		off := int(addr % pageSize)
		n := min(size, pageSize-off)
		p := m.page(uint64(addr) / pageSize)
		p.refuse(off, n)
		m.arrived(p)
		addr, size = addr+target.Addr(n), size-n
	}
	return nil
}

// Retry tells that a request for memory has failed, and that another one may not: Needs returns the pages
// again, if they are still wanted.
func (m *Memory) Retry(addr target.Addr, size int) {
	if size <= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	first, last := pagesOf(addr, uint64(size))
	for n, p := range m.pages {
		if n < first || n > last || !p.asked {
			continue
		}
		p.asked = false
		m.outstanding--
		if p.demand == unwanted {
			continue
		}
		m.queued[p.demand] = append(m.queued[p.demand], n)
		m.wanted.fire()
	}
}

// Forget drops everything, for a process that has run. No task may be under way. Answers to earlier
// requests must not be supplied any more.
func (m *Memory) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.pages)
	m.queued, m.outstanding, m.newest, m.oldest = [urgent + 1][]uint64{}, 0, nil, nil
}

// Stats returns the counts so far.
func (m *Memory) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.Kept = len(m.pages)
	return s
}

// read fills buf from an address on. missing is set if nothing is known of one of the first need bytes,
// and the bytes before it are readable: then the result has no meaning.
func (m *Memory) read(addr target.Addr, buf []byte, need int) (n int, missing bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n < len(buf) {
		at := addr + target.Addr(n)
		if at < addr {
			return n, false, &target.MemoryError{Addr: at, Why: "beyond the address space"}
		}
		p := m.pages[uint64(at)/pageSize]
		if p == nil {
			return n, n < need, &target.MemoryError{Addr: at, Why: "not fetched"}
		}
		m.use(p)
		off := int(at % pageSize)
		got, unknown := p.read(off, buf[n:])
		n += got
		switch {
		case unknown:
			return n, n < need, &target.MemoryError{Addr: addr + target.Addr(n), Why: "not fetched"}
		case n < len(buf) && off+got < pageSize:
			return n, false, &target.MemoryError{Addr: addr + target.Addr(n), Why: "not readable"}
		}
	}
	return n, false, nil
}

// want asks for the pages of a range, and adds pins to them. It asks for no more pages ahead than may be
// outstanding.
func (m *Memory) want(addr target.Addr, size uint64, d demand, pins int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, last := pagesOf(addr, size)
	for n := first; ; n++ {
		if d == ahead && len(m.queued[ahead]) >= m.opt.MaxOutstanding {
			return
		}
		p := m.page(n)
		p.pins += pins
		if p.demand < d && !p.known() {
			p.demand = d
			if !p.asked {
				m.queued[d] = append(m.queued[d], n)
				m.wanted.fire()
			}
		}
		if n == last {
			return
		}
	}
}

// unpin takes back what want has added, from the pages that are still there.
func (m *Memory) unpin(addr target.Addr, size uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, last := pagesOf(addr, size)
	for n := first; ; n++ {
		if p := m.pages[n]; p != nil && p.pins > 0 {
			p.pins--
		}
		if n == last {
			return
		}
	}
}
