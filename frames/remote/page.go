package remote

import "dbg/target"

// pageSize is the unit of requests, in bytes. It does not depend on the process's own pages.
const pageSize = 4096

// page is what is known of one page of memory.
type page struct {
	number uint64 // address divided by pageSize
	data   []byte // pageSize bytes, or nil if none is readable
	parts  *parts // which bytes are known; nil if all of data is readable
	demand demand
	asked  bool // Needs has returned the page, and the answer is not complete
	pins   int  // tasks that wait for the page: it must stay
	older  *page
	newer  *page
}

// demand is how much a page is wanted.
type demand uint8

const (
	unwanted demand = iota
	ahead           // it may be of use soon
	urgent          // a task waits for it
)

// parts has a bit for each byte of a page.
type parts struct {
	readable, unreadable [pageSize / 64]uint64
}

func isSet(bits *[pageSize / 64]uint64, i int) bool { return bits[i/64]>>(i%64)&1 != 0 }

// known reports whether it is known of every byte whether it is readable.
func (p *page) known() bool {
	if p.parts == nil {
		return p.data != nil
	}
	for i := range p.parts.readable {
		if p.parts.readable[i]|p.parts.unreadable[i] != 1<<64-1 {
			return false
		}
	}
	return true
}

// supply adds the bytes from an offset on. What was known before stays.
func (p *page) supply(off int, b []byte) {
	if p.parts == nil && p.data != nil {
		return
	}
	if p.data == nil {
		p.data = make([]byte, pageSize)
	}
	if p.parts == nil {
		if len(b) == pageSize {
			copy(p.data, b)
			return
		}
		p.parts = &parts{}
	}
	for i, c := range b {
		if at := off + i; !isSet(&p.parts.unreadable, at) && !isSet(&p.parts.readable, at) {
			p.data[at] = c
			p.parts.readable[at/64] |= 1 << (at % 64)
		}
	}
	for _, bits := range p.parts.readable {
		if bits != 1<<64-1 {
			return
		}
	}
	p.parts = nil
}

// refuse marks n bytes from an offset on as unreadable. What was known before stays.
func (p *page) refuse(off, n int) {
	if p.parts == nil {
		if p.data != nil {
			return
		}
		p.parts = &parts{}
	}
	for at := off; at < off+n; at++ {
		if !isSet(&p.parts.readable, at) {
			p.parts.unreadable[at/64] |= 1 << (at % 64)
		}
	}
}

// read copies the bytes from an offset on, up to the first one that is not readable. missing is set
// if nothing is known of that one.
func (p *page) read(off int, buf []byte) (n int, missing bool) {
	if p.parts == nil {
		if p.data == nil {
			return 0, true
		}
		return copy(buf, p.data[off:]), false
	}
	most := min(len(buf), pageSize-off)
	for n < most && isSet(&p.parts.readable, off+n) {
		n++
	}
	copy(buf[:n], p.data[min(off, len(p.data)):])
	return n, n < most && !isSet(&p.parts.unreadable, off+n)
}

// pagesOf returns the numbers of the first and the last page of a range of at least one byte. The range
// ends at the end of the address space at the latest.
func pagesOf(addr target.Addr, size uint64) (first, last uint64) {
	end := uint64(addr) + max(size, 1) - 1
	if end < uint64(addr) {
		end = 1<<64 - 1
	}
	return uint64(addr) / pageSize, end / pageSize
}
