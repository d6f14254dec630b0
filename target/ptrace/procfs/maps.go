package procfs

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// parseMapping reads a line of /proc/PID/maps: proc_pid_maps(5).
//
//	7f2c9c000000-7f2c9c021000 r-xp 00026000 fe:01 1337   /usr/lib/libc.so.6
func parseMapping(line string) (m target.Mapping, ok bool) {
	var fields [5]string
	for i := range fields {
		fields[i], line, _ = strings.Cut(strings.TrimLeft(line, " "), " ")
	}
	lo, hi, _ := strings.Cut(fields[0], "-")
	l, err1 := strconv.ParseUint(lo, 16, 64)
	h, err2 := strconv.ParseUint(hi, 16, 64)
	if err1 != nil || err2 != nil || len(fields[1]) < 3 {
		return m, false
	}
	m.Lo, m.Hi = target.Addr(l), target.Addr(h)
	m.Read, m.Write, m.Exec = target.Permit(fields[1][0] == 'r'), target.Permit(fields[1][1] == 'w'), target.Permit(fields[1][2] == 'x')
	m.Offset, _ = strconv.ParseUint(fields[2], 16, 64)
	major, minor, _ := strings.Cut(fields[3], ":")
	ma, _ := strconv.ParseUint(major, 16, 32)
	mi, _ := strconv.ParseUint(minor, 16, 32)
	m.Device = unix.Mkdev(uint32(ma), uint32(mi))
	m.Inode, _ = strconv.ParseUint(fields[4], 10, 64)
	m.Path = strings.TrimLeft(line, " ")
	if m.Inode != 0 {
		// The kernel writes a newline in a path as \012.
		m.Path = strings.ReplaceAll(m.Path, `\012`, "\n")
		m.Path, m.Deleted = strings.CutSuffix(m.Path, " (deleted)")
	}
	return m, true
}

// parseSmaps reads /proc/PID/smaps: proc_pid_smaps(5).
func parseSmaps(b []byte) (out []target.Region) {
	for line := range bytes.Lines(b) {
		text := strings.TrimSuffix(string(line), "\n")
		if m, ok := parseMapping(text); ok {
			r := target.Region{Mapping: m}
			if _, after, ok := strings.Cut(text, " "); ok && len(after) > 3 {
				r.Shared = after[3] == 's'
			}
			out = append(out, r)
			continue
		}
		if len(out) == 0 {
			continue
		}
		r := &out[len(out)-1]
		name, value, _ := strings.Cut(text, ":")
		switch name {
		case "Anonymous", "Swap":
			// A page in the swap area was written, too.
			n, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 54)
			r.Anonymous += n << 10
		case "VmFlags":
			for _, f := range strings.Fields(value) {
				switch f {
				case "dd":
					r.DontDump = true
				case "io", "pf":
					r.IO = true
				case "ht":
					r.Huge = true
				}
			}
		}
	}
	return out
}
