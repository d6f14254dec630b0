package minidump

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strconv"

	"dbg/target"
	"dbg/target/corefile"
)

// region is a part of the process's memory map.
type region struct {
	lo, hi            uint64
	read, write, exec target.Permission
	path              string
	offset            uint64
}

// Protections of pages: PAGE_ constants of winnt.h. Exactly one of the low 8 bits is set. A guard page
// can't be accessed without an exception.
const (
	pageReadOnly         = 0x02
	pageReadWrite        = 0x04
	pageWriteCopy        = 0x08
	pageExecute          = 0x10
	pageExecuteRead      = 0x20
	pageExecuteReadWrite = 0x40
	pageExecuteWriteCopy = 0x80
	pageGuard            = 0x100

	memoryCommitted = 0x1000 // MEM_COMMIT
)

// readRegions reads the memory map: Linux's text where it is present, since it has the paths, or
// MINIDUMP_MEMORY_INFO_LIST. It does nothing if the dump has none.
func (d *Dump) readRegions() {
	if maps := d.streams[streamMaps]; len(maps) > 0 {
		d.readMaps(maps)
	}
	if len(d.regions) == 0 {
		for _, b := range d.tableOf(streamMemoryInfo, "memory regions", 8, 48) {
			lo, size := le.Uint64(b), le.Uint64(b[24:])
			if le.Uint32(b[32:]) != memoryCommitted || size == 0 || lo+size < lo {
				continue
			}
			r := region{lo: lo, hi: lo + size}
			p := le.Uint32(b[36:])
			has := func(bits uint32) target.Permission { return target.Permit(p&bits != 0 && p&pageGuard == 0) }
			r.read = has(pageReadOnly | pageReadWrite | pageWriteCopy |
				pageExecuteRead | pageExecuteReadWrite | pageExecuteWriteCopy)
			r.write = has(pageReadWrite | pageWriteCopy | pageExecuteReadWrite | pageExecuteWriteCopy)
			r.exec = has(pageExecute | pageExecuteRead | pageExecuteReadWrite | pageExecuteWriteCopy)
			d.regions = append(d.regions, r)
		}
	}
	slices.SortStableFunc(d.regions, func(a, b region) int { return cmp.Compare(a.lo, b.lo) })
	end, bad := uint64(0), 0
	d.regions = slices.DeleteFunc(d.regions, func(r region) bool {
		if r.lo < end {
			bad++
			return true
		}
		end = r.hi
		return false
	})
	if bad > 0 {
		d.warn("the minidump is damaged: %d entries of its memory map overlap others and are ignored", bad)
	}
}

// readMaps reads the text of proc_pid_maps(5).
func (d *Dump) readMaps(text []byte) {
	bad := 0
	for line := range bytes.Lines(text) {
		if len(d.regions) == mostRanges {
			break
		}
		r, ok := parseMapsLine(string(bytes.TrimRight(line, "\n\x00")))
		if !ok {
			bad++
			continue
		}
		d.regions = append(d.regions, r)
	}
	if bad > 0 {
		d.warn("the minidump is damaged: %d lines of its memory map can't be parsed", bad)
	}
}

// parseMapsLine parses "lo-hi perms offset device inode path".
func parseMapsLine(line string) (r region, ok bool) {
	f := bytes.SplitN([]byte(line), []byte(" "), 6)
	if len(f) < 5 {
		return r, false
	}
	lo, hi, _ := bytes.Cut(f[0], []byte("-"))
	var errs [3]error
	r.lo, errs[0] = strconv.ParseUint(string(lo), 16, 64)
	r.hi, errs[1] = strconv.ParseUint(string(hi), 16, 64)
	r.offset, errs[2] = strconv.ParseUint(string(f[2]), 16, 64)
	if errs != [3]error{} || r.lo >= r.hi || len(f[1]) != 4 {
		return r, false
	}
	r.read, r.write, r.exec = target.Permit(f[1][0] == 'r'), target.Permit(f[1][1] == 'w'), target.Permit(f[1][2] == 'x')
	if len(f) == 6 {
		r.path = string(bytes.TrimLeft(f[5], " "))
	}
	return r, true
}

// regionAt returns the region at an address, or nil.
func (d *Dump) regionAt(at uint64) *region {
	i := sort.Search(len(d.regions), func(i int) bool { return d.regions[i].lo > at }) - 1
	if i < 0 || at >= d.regions[i].hi {
		return nil
	}
	return &d.regions[i]
}

// readMemory arranges the memory of the dump: the threads' stacks, the lists, and the list of 64-bit
// sizes, whose bytes follow each other. Ranges overlap in valid dumps: a stack is in the list of
// threads and in the list of memory, and Breakpad adds the bytes around an instruction.
func (d *Dump) readMemory() {
	var all []memory
	for i := range d.threads {
		all = append(all, d.threads[i].stack)
	}
	d.stacks = slices.Clone(all)
	slices.SortStableFunc(d.stacks, func(a, b memory) int { return cmp.Compare(a.addr, b.addr) })
	for _, b := range d.list(streamMemory, "memory ranges", 16, mostRanges) {
		all = append(all, memoryOf(b))
	}
	if b := d.streams[streamMemory64]; len(b) >= 16 {
		off := le.Uint64(b[8:])
		for _, e := range d.entries(b[16:], "memory ranges", le.Uint64(b), 16, mostRanges) {
			m := memory{le.Uint64(e), le.Uint64(e[8:]), off}
			all = append(all, m)
			if off += m.size; off < m.size {
				break
			}
		}
	}
	short, total := 0, uint64(len(d.base.Bytes()))
	all = slices.DeleteFunc(all, func(m memory) bool { return m.size == 0 || m.addr+m.size < m.addr })
	for i := range all {
		if m := &all[i]; m.off > total || m.size > total-m.off {
			short++
			m.size = total - min(m.off, total)
		}
	}
	if short > 0 {
		d.warn("the minidump is truncated: %d of %d memory ranges are incomplete", short, len(all))
	}
	// Of ranges that begin at one address, the longest comes first and hides the others.
	slices.SortStableFunc(all, func(a, b memory) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(b.size, a.size))
	})
	end := uint64(0)
	var segments []corefile.Segment
	for _, m := range all {
		if last := m.addr + m.size; last <= end {
			continue
		} else if m.addr < end {
			skip := end - m.addr
			m.addr, m.size, m.off = end, m.size-skip, m.off+skip
		}
		end = m.addr + m.size
		segments = append(segments, d.split(m)...)
	}
	d.base.Arrange(segments)
}

// split makes segments of a range, one for each region that it is in.
func (d *Dump) split(m memory) []corefile.Segment {
	var out []corefile.Segment
	i := sort.Search(len(d.regions), func(i int) bool { return d.regions[i].hi > m.addr })
	for m.size > 0 {
		n := m.size
		s := corefile.Segment{Addr: m.addr, Off: m.off}
		for i < len(d.regions) && d.regions[i].hi <= m.addr {
			i++
		}
		switch {
		case i < len(d.regions) && d.regions[i].lo <= m.addr:
			r := &d.regions[i]
			n = min(n, r.hi-m.addr)
			s.Read, s.Write, s.Exec = r.read, r.write, r.exec
		case i < len(d.regions):
			n = min(n, d.regions[i].lo-m.addr)
		}
		if s.Read == target.PermissionUnknown && d.inStack(m.addr) {
			// No system makes stacks executable, unless the program asks for it.
			s.Read, s.Write, s.Exec = target.Allowed, target.Allowed, target.Denied
		}
		s.Size, s.Have = n, n
		out = append(out, s)
		m.addr, m.off, m.size = m.addr+n, m.off+n, m.size-n
	}
	return out
}

// inStack reports whether an address is in the memory that a thread lists as its stack.
func (d *Dump) inStack(at uint64) bool {
	i := sort.Search(len(d.stacks), func(i int) bool { return d.stacks[i].addr > at }) - 1
	return i >= 0 && at-d.stacks[i].addr < d.stacks[i].size
}

// Mappings implements target.Target. It returns the memory map of the dump, if it has one, and the
// memory in the dump, with the paths of modules.
func (d *Dump) Mappings() ([]target.Mapping, error) { return d.base.Mappings(d.parts), nil }

// layOut makes the parts of the memory map: the regions, and the memory of modules that no region
// covers.
func (d *Dump) layOut() {
	for i := range d.regions {
		r := &d.regions[i]
		p := corefile.Part{Lo: r.lo, Hi: r.hi, Path: r.path, Offset: r.offset, Read: r.read, Write: r.write, Exec: r.exec}
		if m := d.moduleAt(r.lo); m != nil && p.Path == "" && m.Hi >= target.Addr(r.hi) {
			p.Path, p.Offset = m.Path, r.lo-uint64(m.Lo)
		}
		d.parts = append(d.parts, p)
	}
	regions := d.parts
	for _, m := range d.byAddr {
		lo, hi := uint64(m.Lo), uint64(m.Hi)
		i := sort.Search(len(regions), func(i int) bool { return regions[i].Hi > lo })
		for at := lo; at < hi; i++ {
			end := hi
			if i < len(regions) {
				end = min(hi, regions[i].Lo)
			}
			if at < end {
				d.parts = append(d.parts, corefile.Part{Lo: at, Hi: end, Path: m.Path, Offset: at - lo})
			}
			if i >= len(regions) {
				break
			}
			at = max(at, regions[i].Hi)
		}
	}
	slices.SortFunc(d.parts, func(a, b corefile.Part) int { return cmp.Compare(a.Lo, b.Lo) })
}

// ReadMemory implements target.Memory. It reads from the dump and, for code and constants that the
// dump does not contain, from the module's file.
func (d *Dump) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	return d.base.ReadMemory(addr, buf, d.inFile)
}
