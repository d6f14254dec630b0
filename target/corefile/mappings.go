package corefile

import "dbg/target"

// Part is a range of memory where a file is mapped.
type Part struct {
	Lo, Hi  uint64
	Path    string
	Offset  uint64 // of Lo, in the file
	Deleted bool
	// The permissions, used where no segment of the core covers the part.
	Read, Write, Exec target.Permission
}

// Mappings returns the memory map: the segments, split where a part begins or ends, and the
// ranges of parts that no segment covers. The parts must be sorted by address and must not
// overlap.
func (f *File) Mappings(parts []Part) []target.Mapping {
	m := mapper{parts: parts}
	for i := range f.segments {
		s := &f.segments[i]
		m.upTo(s.Addr, nil)
		m.at = s.Addr
		m.upTo(s.End(), s)
	}
	m.upTo(^uint64(0), nil)
	return m.out
}

// mapper builds a memory map.
type mapper struct {
	parts []Part
	next  int    // the first part that may end after at
	at    uint64 // the map is complete up to here
	out   []target.Mapping
}

// upTo extends the map to hi, in segment s, or outside all segments if s is nil.
func (m *mapper) upTo(hi uint64, s *Segment) {
	for m.at < hi {
		for m.next < len(m.parts) && m.parts[m.next].Hi <= m.at {
			m.next++
		}
		if m.next == len(m.parts) || m.parts[m.next].Lo >= hi {
			m.add(hi, s, nil)
			break
		}
		p := &m.parts[m.next]
		if p.Lo > m.at {
			m.add(p.Lo, s, nil)
		}
		m.add(min(p.Hi, hi), s, p)
	}
	m.at = max(m.at, hi)
}

// add adds the memory up to hi, unless it belongs to neither a segment nor a part.
func (m *mapper) add(hi uint64, s *Segment, p *Part) {
	t := target.Mapping{Lo: target.Addr(m.at), Hi: target.Addr(hi)}
	switch {
	case s != nil:
		t.Read, t.Write, t.Exec = s.Read, s.Write, s.Exec
	case p != nil:
		t.Read, t.Write, t.Exec = p.Read, p.Write, p.Exec
	}
	if p != nil {
		t.Path, t.Deleted, t.Offset = p.Path, p.Deleted, p.Offset+(m.at-p.Lo)
	}
	if m.at = hi; s != nil || p != nil {
		m.out = append(m.out, t)
	}
}
