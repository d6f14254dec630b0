// Package dumptest writes minidumps for tests: every stream and every context that package minidump
// reads, from plain values. It shares no code with the reader, so that the two can disagree.
//
// The layouts are those of minidumpapiset.h, winnt.h, and the extensions of Breakpad and Crashpad.
package dumptest

import (
	"encoding/binary"
	"unicode/utf16"
)

var le = binary.LittleEndian

// Dump is a minidump to write. A stream whose value is the zero value is left out.
type Dump struct {
	System      *System
	Misc        *Misc
	Threads     []Thread
	Modules     []Module
	Memory      []Memory // MemoryList
	Memory64    []Memory // Memory64List
	Regions     []Region // MemoryInfoList
	Exception   *Exception
	Breakpad    *Breakpad
	Unloaded    []Module
	Handles     []Handle
	Crashpad    *Crashpad
	Annotations map[string]string // with Crashpad
	Raw         map[uint32][]byte // streams by type: the texts of Linux

	Padded bool // lists have four bytes after their count
}

// System is MINIDUMP_SYSTEM_INFO.
type System struct {
	Processor           uint16
	Platform            uint32
	Major, Minor, Build uint32
	Version             string
}

// Misc is MINIDUMP_MISC_INFO.
type Misc struct{ PID, Created, User, Kernel uint32 }

// Thread is MINIDUMP_THREAD, with an entry in MINIDUMP_THREAD_NAME_LIST if it has a name.
type Thread struct {
	ID      uint32
	TEB     uint64
	Name    string
	Stack   Memory
	Context []byte
}

// Memory is a range of memory.
type Memory struct {
	Addr uint64
	Data []byte
}

// Module is MINIDUMP_MODULE, or MINIDUMP_UNLOADED_MODULE.
type Module struct {
	Base        uint64
	Size, Stamp uint32
	Name        string
	CodeView    []byte
}

// Region is MINIDUMP_MEMORY_INFO.
type Region struct {
	Base, Size        uint64
	State, Protection uint32
}

// Exception is MINIDUMP_EXCEPTION_STREAM.
type Exception struct {
	Thread, Code, Flags uint32
	Address             uint64
	Params              []uint64
	Context             []byte
}

// Breakpad is MDRawBreakpadInfo; both fields are valid.
type Breakpad struct{ Writer, Requester uint32 }

// Handle is MINIDUMP_HANDLE_DESCRIPTOR.
type Handle struct {
	Value      uint64
	Type, Name string
}

// Crashpad is MinidumpCrashpadInfo.
type Crashpad struct {
	Report, Client [16]byte
	AddressMask    uint64
	Modules        map[uint32]map[string]string // simple annotations, by index of the module
}

// PDB70 returns a CodeView record with a GUID.
func PDB70(guid [16]byte, age uint32, file string) []byte {
	return append(le.AppendUint32(append([]byte("RSDS"), guid[:]...), age), file+"\x00"...)
}

// BuildID returns Breakpad's CodeView record with a build id.
func BuildID(id []byte) []byte { return append(le.AppendUint32(nil, 0x4270454c), id...) }

// writer appends parts to a file and returns their offsets.
type writer struct {
	out   []byte
	texts map[string]uint32 // offsets of strings, which entries share
}

// put appends bytes, aligned to 4.
func (w *writer) put(b []byte) (off uint32) {
	for len(w.out)%4 != 0 {
		w.out = append(w.out, 0)
	}
	off = uint32(len(w.out))
	w.out = append(w.out, b...)
	return off
}

// location appends bytes and returns their MINIDUMP_LOCATION_DESCRIPTOR.
func (w *writer) location(b []byte) []byte {
	if b == nil {
		return make([]byte, 8)
	}
	return words(uint32(len(b)), w.put(b))
}

func (w *writer) text(s string) uint32 {
	if s == "" {
		return 0
	}
	if at, ok := w.texts[s]; ok {
		return at
	}
	u := utf16.Encode([]rune(s))
	b := words(uint32(2 * len(u)))
	for _, c := range append(u, 0) {
		b = le.AppendUint16(b, c)
	}
	w.texts[s] = w.put(b)
	return w.texts[s]
}

func (w *writer) utf8(s string) uint32 { return w.put(append(words(uint32(len(s))), s+"\x00"...)) }

func words(v ...uint32) (out []byte) {
	for _, x := range v {
		out = le.AppendUint32(out, x)
	}
	return out
}

func join(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func long(v ...uint64) (out []byte) {
	for _, x := range v {
		out = le.AppendUint64(out, x)
	}
	return out
}

// Bytes returns the file.
func (d *Dump) Bytes() []byte {
	w := &writer{out: make([]byte, 32), texts: map[string]uint32{}}
	type stream struct {
		typ      uint32
		location []byte
	}
	var streams []stream
	add := func(typ uint32, b []byte) { streams = append(streams, stream{typ, w.location(b)}) }
	list := func(typ uint32, entries [][]byte) {
		if len(entries) == 0 {
			return
		}
		head := words(uint32(len(entries)))
		if d.Padded {
			head = words(uint32(len(entries)), 0)
		}
		add(typ, join(head, join(entries...)))
	}
	if s := d.System; s != nil {
		b := join(le.AppendUint16(nil, s.Processor), make([]byte, 4), []byte{4, 1}, words(s.Major, s.Minor, s.Build,
			s.Platform, w.text(s.Version)))
		add(7, join(b, make([]byte, 28)))
	}
	if m := d.Misc; m != nil {
		add(15, words(24, 3, m.PID, m.Created, m.User, m.Kernel))
	}
	d.addThreads(w, list)
	list(4, d.modules(w))
	var ranges [][]byte
	for _, m := range d.Memory {
		ranges = append(ranges, join(long(m.Addr), w.location(m.Data)))
	}
	list(5, ranges)
	if e := d.Exception; e != nil {
		b := join(words(e.Thread, 0, e.Code, e.Flags), long(0, e.Address), words(uint32(len(e.Params)), 0), long(e.Params...))
		add(6, join(b, make([]byte, 160-len(b)), w.location(e.Context)))
	}
	d.addTables(w, add)
	if b := d.Breakpad; b != nil {
		add(0x47670001, words(3, b.Writer, b.Requester))
	}
	if c := d.Crashpad; c != nil {
		add(0x43500001, d.crashpad(w, c))
	}
	for typ, b := range d.Raw {
		add(typ, b)
	}
	if n := len(d.Memory64); n > 0 {
		// The bytes follow the table of ranges, which is after everything else.
		table := long(uint64(n), 0)
		var data []byte
		for _, m := range d.Memory64 {
			table, data = append(table, long(m.Addr, uint64(len(m.Data)))...), append(data, m.Data...)
		}
		add(9, table)
		at := len(w.out) - len(table) + 8
		le.PutUint64(w.out[at:], uint64(len(w.out)))
		w.out = append(w.out, data...)
	}
	var directory []byte
	for _, s := range streams {
		directory = append(directory, join(words(s.typ), s.location)...)
	}
	off := w.put(directory)
	copy(w.out, words(0x504d444d, 0xa793, uint32(len(streams)), off, 0, 1_700_000_000))
	return w.out
}

func (d *Dump) addThreads(w *writer, list func(uint32, [][]byte)) {
	var threads, names [][]byte
	for _, t := range d.Threads {
		threads = append(threads, join(words(t.ID, 0, 0, 0), long(t.TEB, t.Stack.Addr), w.location(t.Stack.Data),
			w.location(t.Context)))
		if t.Name != "" {
			names = append(names, join(words(t.ID), long(uint64(w.text(t.Name)))))
		}
	}
	list(3, threads)
	list(24, names)
}

func (d *Dump) modules(w *writer) (out [][]byte) {
	for _, m := range d.Modules {
		b := join(long(m.Base), words(m.Size, 0, m.Stamp, w.text(m.Name)), make([]byte, 52), w.location(m.CodeView))
		out = append(out, join(b, make([]byte, 108-len(b))))
	}
	return out
}

// addTables adds the streams that have the sizes of their header and their entries.
func (d *Dump) addTables(w *writer, add func(uint32, []byte)) {
	if n := len(d.Regions); n > 0 {
		b := join(words(16, 48), long(uint64(n)))
		for _, r := range d.Regions {
			b = append(b, join(long(r.Base, r.Base), words(r.Protection, 0), long(r.Size), words(r.State, r.Protection,
				0x20000, 0))...)
		}
		add(16, b)
	}
	if n := len(d.Unloaded); n > 0 {
		b := words(12, 24, uint32(n))
		for _, m := range d.Unloaded {
			b = append(b, join(long(m.Base), words(m.Size, 0, m.Stamp, w.text(m.Name)))...)
		}
		add(14, b)
	}
	if n := len(d.Handles); n > 0 {
		b := words(16, 32, uint32(n), 0)
		for _, h := range d.Handles {
			b = append(b, join(long(h.Value), words(w.text(h.Type), w.text(h.Name), 0, 0, 1, 1))...)
		}
		add(12, b)
	}
}

// crashpad returns the stream of Crashpad.
func (d *Dump) crashpad(w *writer, c *Crashpad) []byte {
	dictionary := func(m map[string]string) []byte {
		if m == nil {
			return nil
		}
		b := words(uint32(len(m)))
		for k, v := range m {
			b = append(b, words(w.utf8(k), w.utf8(v))...)
		}
		return b
	}
	simple := w.location(dictionary(d.Annotations))
	modules := words(uint32(len(c.Modules)))
	for i, m := range c.Modules {
		info := join(words(1), make([]byte, 8), w.location(dictionary(m)), make([]byte, 8))
		modules = append(modules, join(words(i), w.location(info))...)
	}
	return join(words(1), c.Report[:], c.Client[:], simple, w.location(modules), words(0), long(c.AddressMask))
}
