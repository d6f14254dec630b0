package corefile

import "dbg/target"

// Part is memory that a file is mapped in.
type Part struct {
	Lo, Hi  uint64
	Path    string
	Offset  uint64 // in the file, of Lo
	Deleted bool
	// The permissions where no segment of the core covers the part.
	Read, Write, Exec target.Permission
}

// Mappings returns the memory map: the segments, each cut where a part begins or ends, and
// what of the parts no segment covers. The parts are by address and do not overlap.
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

// mapper makes a memory map.
type mapper struct {
	parts []Part
	next  int    // the first part that may end after at
	at    uint64 // up to here the map is made
	out   []target.Mapping
}

// upTo goes on to hi, in segment s or in none.
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

// add adds the memory up to hi, unless it is of no segment and no part.
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
