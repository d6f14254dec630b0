package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"dbg/arch"
	"dbg/eval"
	"dbg/target"
)

// A tracepoint is a breakpoint that never stops the program: it counts its hits, and collects values
// at each. Where its condition and its expressions could be compiled, the judge does that on the
// tracer's thread, and copies bytes only. They are formatted when somebody looks at them. Otherwise
// the thread is parked, the full evaluator is used, and the record holds text.

// TraceSpec makes a breakpoint a tracepoint.
type TraceSpec struct {
	// Collect lists expressions. $args, $locals and $regs stand for the parameters and the local
	// variables that are visible, and for the general registers.
	Collect []string
}

// TraceRecord is one hit of a tracepoint.
type TraceRecord struct {
	Tracepoint int
	Number     uint64 // of the hit, from 1
	Time       time.Time
	Thread     target.ThreadID
	Place      BreakpointPlace
	Values     []TraceValue
}

// TraceValue is a value that was collected.
type TraceValue struct {
	Name string
	Text string
	Err  string // why there is no value; "" if there is one
}

// traceBuffer holds the records of one tracepoint. The sessions of a group share it.
type traceBuffer struct {
	mu     sync.Mutex // guards all fields
	places []*tracePlace
	chunks []*traceChunk // oldest first
	size   int           // of the chunks' records, in bytes
	hits   uint64
	lost   uint64 // the number of the oldest records that were dropped
	most   int    // the maximum of size
}

// traceChunk is a part of the records, one after the other.
type traceChunk struct {
	records []byte
	count   uint64
}

// tracePlace is what a tracepoint collects at one place. It does not change.
type tracePlace struct {
	buffer *traceBuffer
	index  uint16
	place  BreakpointPlace
	items  []traceItem
	slow   bool // needs the full evaluator
}

// traceItem is one value to collect.
type traceItem struct {
	text string
	c    *eval.Collector // nil: the general registers, or the full evaluator
	regs bool
}

// The sizes of chunks and buffers, in bytes.
const (
	traceChunkSize = 256 << 10
	traceMost      = 64 << 20
	traceItems     = 256 // the values of one hit
)

// A record begins with its length without this header (4 bytes), the place (2), whether it holds
// text (1), the time (8) and the thread (4). Then follows each value, after its length (2), which is
// noValue if it could not be read.
const (
	traceHeader = 19
	noValue     = 0xffff
)

// setTrace compiles what a tracepoint collects at its places.
func (s *Session) setTrace(b *logical) {
	b.tracing = map[target.Addr]*tracePlace{}
	if s.tgt == nil {
		return
	}
	for _, p := range b.Places {
		b.tracing[p.Addr] = s.compileTrace(b, p)
	}
}

// compileTrace prepares one place. A place that is the same as before keeps its records' meaning.
func (s *Session) compileTrace(b *logical, p BreakpointPlace) *tracePlace {
	t := &tracePlace{buffer: b.trace, place: p}
	t.place.describe()
	c := s.conditionContext(p)
	names := func(arguments bool) (out []string) {
		e := c.Env.(*env)
		for _, v := range e.visible {
			if v.Param == arguments && v.Name != "" && !slices.Contains(out, v.Name) {
				out = append(out, v.Name)
			}
		}
		return out
	}
	var texts []string
	for _, text := range b.Spec.Trace.Collect {
		switch text {
		case "$args":
			texts = append(texts, names(true)...)
		case "$locals":
			texts = append(texts, names(false)...)
		default:
			texts = append(texts, text)
		}
	}
	for _, text := range texts[:min(len(texts), traceItems)] {
		item := traceItem{text: text, regs: text == "$regs"}
		if !item.regs {
			var err error
			item.c, err = eval.CompileCollector(text, c)
			t.slow = t.slow || err != nil
		}
		t.items = append(t.items, item)
	}
	if b.Spec.Condition != "" && b.programs[p.Addr] == nil {
		t.slow = true
	}
	b.trace.mu.Lock()
	defer b.trace.mu.Unlock()
	t.index = uint16(len(b.trace.places))
	if len(b.trace.places) < 1<<16-1 {
		b.trace.places = append(b.trace.places, t)
	}
	return t
}

// open begins a record. The caller holds the lock.
func (t *traceBuffer) open(place *tracePlace, text bool, thread target.ThreadID) *traceChunk {
	t.hits++
	n := len(t.chunks)
	if n == 0 || len(t.chunks[n-1].records) > traceChunkSize {
		t.chunks = append(t.chunks, &traceChunk{records: make([]byte, 0, traceChunkSize+4096)})
		n++
	}
	for t.size > t.most && len(t.chunks) > 1 {
		t.size -= len(t.chunks[0].records)
		t.lost += t.chunks[0].count
		t.chunks = slices.Delete(t.chunks, 0, 1)
		n--
	}
	c := t.chunks[n-1]
	c.count++
	var h [traceHeader]byte
	binary.LittleEndian.PutUint16(h[4:], place.index)
	if text {
		h[6] = 1
	}
	binary.LittleEndian.PutUint64(h[7:], uint64(time.Now().UnixNano()))
	binary.LittleEndian.PutUint32(h[15:], uint32(thread))
	c.records = append(c.records, h[:]...)
	return c
}

// finish ends the record that begins at an offset of a chunk.
func (t *traceBuffer) finish(c *traceChunk, at int) {
	n := len(c.records) - at
	binary.LittleEndian.PutUint32(c.records[at:], uint32(n-traceHeader))
	t.size += n
}

// record collects the values for a thread that has hit the place.
func (p *tracePlace) record(thread target.ThreadID, regs *arch.Registers, mem target.Memory) {
	t := p.buffer
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.open(p, false, thread)
	at := len(c.records) - traceHeader
	for i := range p.items {
		start := len(c.records)
		c.records = append(c.records, 0, 0)
		ok := true
		if p.items[i].regs {
			for _, r := range regs.Arch.General {
				v, _ := regs.Get(r)
				c.records = binary.LittleEndian.AppendUint64(c.records, v)
			}
		} else {
			c.records, ok = p.items[i].c.Collect(c.records, regs, mem)
		}
		n := len(c.records) - start - 2
		if !ok || n >= noValue {
			c.records = c.records[:start+2]
			n = noValue
		}
		binary.LittleEndian.PutUint16(c.records[start:], uint16(n))
	}
	t.finish(c, at)
}

// recordSlowly collects the values as text, with the full evaluator.
func (s *Session) recordSlowly(b *logical, thread target.ThreadID, a target.Addr) {
	p := b.tracing[a]
	if p == nil {
		return
	}
	const longest = 16 << 10
	texts := make([]string, len(p.items))
	failed := make([]bool, len(p.items))
	env := s.env(thread, 0)
	for i, item := range p.items {
		if item.regs {
			var all []string
			if regs, err := s.tgt.Registers(thread); err == nil {
				for _, r := range regs.Arch.General {
					if v, ok := regs.Get(r); ok {
						all = append(all, fmt.Sprintf("%s=%#x", regs.Arch.RegName(r), v))
					}
				}
			}
			texts[i] = strings.Join(all, " ")
			continue
		}
		v, err := eval.Evaluate(item.text, env)
		if err != nil {
			texts[i], failed[i] = err.Error(), true
			continue
		}
		texts[i] = eval.Format(v, env, eval.DefaultOptions())
	}
	t := p.buffer
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.open(p, true, thread)
	at := len(c.records) - traceHeader
	for i, text := range texts {
		if len(text) > longest {
			text = text[:longest] + "..."
		}
		mark := byte(0)
		if failed[i] {
			mark = 1
		}
		c.records = binary.LittleEndian.AppendUint16(c.records, uint16(len(text)+1))
		c.records = append(append(c.records, mark), text...)
	}
	t.finish(c, at)
}

// errNoTracepoint is the error for a number that is no tracepoint's.
var errNoTracepoint = errors.New("no such tracepoint")

// TraceRecords returns the records of a tracepoint from the hit number from on, at most most of
// them, and how many of the oldest hits are no longer kept.
func (s *Session) TraceRecords(id int, from uint64, most int) (out []TraceRecord, lost uint64, err error) {
	err = s.try(func() error {
		b := s.breakpoints.byID(id)
		if b == nil || b.trace == nil {
			return fmt.Errorf("%w: %d", errNoTracepoint, id)
		}
		out, lost = b.trace.list(from, most, func(p *tracePlace, item *traceItem, raw []byte) string {
			env := s.env(s.selected, 0)
			if item.regs {
				return registerText(env.Arch(), raw)
			}
			return item.c.Format(raw, env, eval.DefaultOptions())
		})
		for i := range out {
			out[i].Tracepoint = id
		}
		return s.cutError()
	})
	return out, lost, err
}

func registerText(a *arch.Arch, raw []byte) string {
	var all []string
	for i, r := range a.General {
		if len(raw) >= 8*(i+1) {
			all = append(all, fmt.Sprintf("%s=%#x", a.RegName(r), binary.LittleEndian.Uint64(raw[8*i:])))
		}
	}
	return strings.Join(all, " ")
}

// list decodes records.
func (t *traceBuffer) list(from uint64, most int, format func(*tracePlace, *traceItem, []byte) string) (out []TraceRecord, lost uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	number := t.lost
	for _, c := range t.chunks {
		if number+c.count < from {
			number += c.count
			continue
		}
		for b := c.records; len(b) >= traceHeader; {
			n := traceHeader + int(binary.LittleEndian.Uint32(b))
			one := b[:n]
			b = b[n:]
			if number++; number < from {
				continue
			}
			if len(out) == most {
				return out, t.lost
			}
			out = append(out, t.decode(one, number, format))
		}
	}
	return out, t.lost
}

func (t *traceBuffer) decode(b []byte, number uint64, format func(*tracePlace, *traceItem, []byte) string) TraceRecord {
	p := t.places[binary.LittleEndian.Uint16(b[4:])]
	text := b[6] == 1
	r := TraceRecord{
		Number: number, Place: p.place,
		Time:   time.Unix(0, int64(binary.LittleEndian.Uint64(b[7:]))),
		Thread: target.ThreadID(binary.LittleEndian.Uint32(b[15:])),
	}
	b = b[traceHeader:]
	for i := range p.items {
		v := TraceValue{Name: p.items[i].text}
		n := int(binary.LittleEndian.Uint16(b))
		b = b[2:]
		switch {
		case n == noValue:
			v.Err = "can't be read"
			n = 0
		case text && b[0] == 1:
			v.Err = string(b[1:n])
		case text:
			v.Text = string(b[1:n])
		default:
			v.Text = format(p, &p.items[i], b[:n])
		}
		b = b[n:]
		r.Values = append(r.Values, v)
	}
	return r
}

// ClearTrace drops the records of a tracepoint. Its count of hits begins again.
func (s *Session) ClearTrace(id int) error {
	return s.try(func() error {
		b := s.breakpoints.byID(id)
		if b == nil || b.trace == nil {
			return fmt.Errorf("%w: %d", errNoTracepoint, id)
		}
		b.trace.mu.Lock()
		defer b.trace.mu.Unlock()
		b.trace.chunks, b.trace.size, b.trace.hits, b.trace.lost = nil, 0, 0, 0
		return nil
	})
}

// SetCollect changes what a tracepoint collects from now on.
func (s *Session) SetCollect(id int, collect []string) error {
	return s.try(func() error {
		return s.edit(id, func(o *Session, b *logical) error {
			if b.trace == nil {
				return fmt.Errorf("%w: %d", errNoTracepoint, id)
			}
			if err := o.checkCollect(collect, b.Places); err != nil {
				return err
			}
			b.Spec.Trace = &TraceSpec{Collect: collect}
			o.setTrace(b)
			o.publishRules()
			return nil
		})
	})
}

// checkCollect returns an error if an expression has no meaning at any of the places.
func (s *Session) checkCollect(collect []string, places []BreakpointPlace) error {
	for _, text := range collect {
		if text == "$args" || text == "$locals" || text == "$regs" {
			continue
		}
		if err := s.checkCondition(text, places); err != nil {
			if len(places) == 0 {
				return err
			}
			if _, cerr := eval.CompileCollector(text, s.conditionContext(places[0])); cerr != nil && !errors.Is(cerr, eval.ErrNotCompiled) {
				return cerr
			}
		}
	}
	return nil
}
