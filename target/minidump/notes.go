package minidump

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"dbg/target"
)

var _ target.NoteLister = (*Dump)(nil)

// noteList collects notes.
type noteList []target.Note

// add adds a note, unless the text is empty.
func (l *noteList) add(name, text string) {
	if text = strings.TrimSpace(text); text != "" {
		*l = append(*l, target.Note{Name: name, Text: text})
	}
}

// long adds a note that is shown only on request.
func (l *noteList) long(name, text string) {
	if text = strings.TrimSpace(text); text != "" {
		*l = append(*l, target.Note{Name: name, Text: text, Long: true})
	}
}

// Notes implements target.NoteLister: the system, the times, the exception, what the writer of the
// dump recorded, unloaded modules and handles.
func (d *Dump) Notes() []target.Note {
	d.base.RLock()
	defer d.base.RUnlock()
	if d.base.Closed() {
		return nil
	}
	d.makeNotes.Do(func() { d.notes = d.collectNotes() })
	return slices.Clone(d.notes)
}

// collectNotes makes the notes, once.
func (d *Dump) collectNotes() []target.Note {
	var l noteList
	l.add("system", d.Platform())
	d.addProcessor(&l)
	l.add("written", timeText(d.written))
	if m := d.misc; m.times {
		l.add("started", timeText(m.created))
		l.add("processor time", fmt.Sprintf("%d s user, %d s system", m.user, m.inKernel))
	}
	d.addException(&l)
	d.addAssertion(&l)
	l.add("comment", d.comment())
	l.add("Crashpad report", d.crashpad.report)
	l.add("Crashpad client", d.crashpad.client)
	for _, n := range d.crashpad.annotations {
		l.add("annotation "+n.Name, n.Text)
	}
	d.addUnloaded(&l)
	d.addHandles(&l)
	d.addLinux(&l)
	return l
}

// timeText writes a time_t, or "" for 0.
func timeText(t uint32) string {
	if t == 0 {
		return ""
	}
	return time.Unix(int64(t), 0).UTC().Format("2006-01-02 15:04:05 UTC")
}

func (d *Dump) addProcessor(l *noteList) {
	if s := &d.system; s.known {
		text := s.machine()
		if s.vendor != "" {
			text = s.vendor + " " + text
		}
		if s.processors > 0 {
			text += fmt.Sprintf(", %d processors", s.processors)
		}
		l.add("processor", text)
	}
}

func (d *Dump) addException(l *noteList) {
	if e := d.fault; e != nil && e.signal != nil {
		text := e.signal.Exception
		if text == "" {
			text = target.SignalName(e.signal.Number) + " " + target.SignalCodeName(e.signal.Number, e.signal.Code)
		}
		l.add("exception", fmt.Sprintf("%s in thread %d", text, e.thread))
		for i, p := range e.params {
			l.long(fmt.Sprintf("exception parameter %d", i), fmt.Sprintf("0x%x", p))
		}
	}
}

// addAssertion adds MDRawAssertionInfo: three texts of 128 UTF-16 units, a line, and a kind.
func (d *Dump) addAssertion(l *noteList) {
	b := d.streams[streamAssertion]
	if len(b) < 776 {
		return
	}
	text := fmt.Sprintf("%s in %s at %s:%d", fromUTF16(b[:256]), fromUTF16(b[256:512]), fromUTF16(b[512:768]),
		le.Uint32(b[768:]))
	l.add("assertion", text)
}

// comment returns the comment that a user added, in either encoding.
func (d *Dump) comment() string {
	if b := d.streams[streamCommentW]; b != nil {
		return fromUTF16(b[:min(len(b), longestText)])
	}
	b := d.streams[streamCommentA]
	b, _, _ = bytes.Cut(b[:min(len(b), longestText)], []byte{0})
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
}

// addUnloaded adds MINIDUMP_UNLOADED_MODULE_LIST.
func (d *Dump) addUnloaded(l *noteList) {
	for i, b := range d.tableOf(streamUnloadedModules, "unloaded modules", 4, 24) {
		if i == mostNotes {
			break
		}
		lo := le.Uint64(b)
		l.long("unloaded module", fmt.Sprintf("0x%x-0x%x %s", lo, lo+uint64(le.Uint32(b[8:])),
			d.text(uint64(le.Uint32(b[20:])))))
	}
}

// addHandles adds MINIDUMP_HANDLE_DATA_STREAM: the value, the type and the name of each.
func (d *Dump) addHandles(l *noteList) {
	for i, b := range d.tableOf(streamHandles, "handles", 4, 32) {
		if i == mostNotes {
			break
		}
		l.long(fmt.Sprintf("handle 0x%x", le.Uint64(b)),
			d.text(uint64(le.Uint32(b[8:])))+" "+d.text(uint64(le.Uint32(b[12:]))))
	}
}

// addLinux adds the streams that are copies of files, and the dynamic linker's list (MDRawDebug32,
// MDRawDebug64: a version, the place of the list, its length, and addresses).
func (d *Dump) addLinux(l *noteList) {
	for _, s := range []struct {
		name string
		typ  streamType
	}{{"lsb-release", streamLSB}, {"environment", streamEnviron}, {"cpuinfo", streamCPUInfo}} {
		b := d.streams[s.typ]
		for line := range bytes.FieldsFuncSeq(b[:min(len(b), longestText)], func(r rune) bool {
			return r == 0 ||
				r == '\n'
		}) {
			l.long(s.name, string(bytes.ToValidUTF8(line, []byte("\uFFFD"))))
		}
	}
	b, size := d.streams[streamDSODebug], uint64(24)
	if d.arch.PtrSize == 4 {
		size = 12
	}
	if len(b) < 12 {
		return
	}
	list, _ := cut(d.base.Bytes(), uint64(le.Uint32(b[4:])), uint64(min(le.Uint32(b[8:]), mostNotes))*size)
	for ; uint64(len(list)) >= size; list = list[size:] {
		if size == 12 {
			l.long("linked", fmt.Sprintf("0x%x %s", le.Uint32(list), d.text(uint64(le.Uint32(list[4:])))))
		} else {
			l.long("linked", fmt.Sprintf("0x%x %s", le.Uint64(list), d.text(uint64(le.Uint32(list[8:])))))
		}
	}
}
