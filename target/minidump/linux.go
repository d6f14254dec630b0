package minidump

import (
	"bytes"
	"strconv"
	"strings"

	"dbg/target"
)

var (
	_ target.AuxvReader       = (*Dump)(nil)
	_ target.ProcessDescriber = (*Dump)(nil)
)

// AuxvBytes implements target.AuxvReader. Only dumps of Linux have the vector.
func (d *Dump) AuxvBytes() []byte {
	d.base.RLock()
	defer d.base.RUnlock()
	if d.base.Closed() {
		return nil
	}
	return bytes.Clone(d.streams[streamAuxv])
}

// Auxv implements target.Target.
func (d *Dump) Auxv(typ uint64) (uint64, bool) {
	d.base.RLock()
	defer d.base.RUnlock()
	if d.base.Closed() {
		return 0, false
	}
	n := d.arch.PtrSize
	word := func(b []byte) uint64 {
		if n == 8 {
			return le.Uint64(b)
		}
		return uint64(le.Uint32(b))
	}
	for b := d.streams[streamAuxv]; len(b) >= 2*n; b = b[2*n:] {
		switch t := word(b); t {
		case typ:
			return word(b[n:]), true
		case 0:
			return 0, false
		}
	}
	return 0, false
}

// ProcStatus returns proc_pid_status(5) of the process, or "" if the dump does not contain it.
func (d *Dump) ProcStatus() string { return d.linuxText(streamStatus) }

// linuxText returns a stream that is a copy of a file of Linux.
func (d *Dump) linuxText(typ streamType) string {
	d.base.RLock()
	defer d.base.RUnlock()
	if d.base.Closed() {
		return ""
	}
	b := d.streams[typ]
	return string(bytes.ToValidUTF8(bytes.TrimRight(b[:min(len(b), 1<<20)], "\x00"), []byte("\uFFFD")))
}

// statusLine returns the value of a line of proc_pid_status(5), or "".
func (d *Dump) statusLine(name string) string {
	b := d.streams[streamStatus]
	for line := range bytes.Lines(b[:min(len(b), longestText)]) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return string(bytes.Trim(rest, " \t\n\x00"))
		}
	}
	return ""
}

// statusNumber returns the first number of a line of proc_pid_status(5), or 0.
func (d *Dump) statusNumber(name string) int {
	f := strings.Fields(d.statusLine(name))
	if len(f) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(f[0], 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// ProcessInfo implements target.ProcessDescriber.
func (d *Dump) ProcessInfo() (p target.ProcessInfo, ok bool) {
	args := strings.ReplaceAll(d.linuxText(streamCmdLine), "\x00", " ")
	d.base.RLock()
	defer d.base.RUnlock()
	if d.base.Closed() {
		return p, false
	}
	p = target.ProcessInfo{PID: d.misc.pid, Args: args}
	if d.streams[streamStatus] == nil {
		return p, true
	}
	p.Name, p.PPID = d.statusLine("Name:"), d.statusNumber("PPid:")
	p.UID, p.GID = uint32(d.statusNumber("Uid:")), uint32(d.statusNumber("Gid:"))
	if state := d.statusLine("State:"); state != "" {
		p.State = state[0]
	}
	return p, true
}
