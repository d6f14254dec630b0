package ptrace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"dbg/target"
)

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

func procPath(pid int, name string) string { return "/proc/" + itoa(pid) + "/" + name }

func preadByte(fd int, addr target.Addr, b []byte) (int, error) {
	return unix.Pread(fd, b[:1], int64(addr))
}

func sortThreads(list []target.Thread, pid int) {
	slices.SortFunc(list, func(a, b target.Thread) int {
		if main := target.ThreadID(pid); a.ID == main || b.ID == main {
			return cmp.Compare(boolInt(a.ID != main), boolInt(b.ID != main))
		}
		return cmp.Compare(a.ID, b.ID)
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func threadName(pid, tid int) string {
	b, _ := os.ReadFile(procPath(pid, "task/"+itoa(tid)+"/comm"))
	return strings.TrimSuffix(string(b), "\n")
}

// tasks lists the threads of a process.
func tasks(pid int) ([]int, error) {
	d, err := os.Open(procPath(pid, "task"))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	var out []int
	for _, n := range names {
		if tid, err := strconv.Atoi(n); err == nil {
			out = append(out, tid)
		}
	}
	return out, err
}

// statusField returns one field of /proc/PID/status: proc_pid_status(5).
func statusField(pid int, field string) string {
	b, _ := os.ReadFile(procPath(pid, "status"))
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// anyTask reads a file of /proc/PID. If the leader has exited, it reads the file of any living
// thread: memory maps and the like are the same.
func (p *Process) anyTask(name string) ([]byte, error) {
	b, err := os.ReadFile(procPath(p.pid, name))
	if err == nil && len(b) > 0 {
		return b, nil
	}
	list, terr := tasks(p.pid)
	if terr != nil {
		return nil, target.ErrGone
	}
	for _, tid := range list {
		if b, err := os.ReadFile(procPath(p.pid, "task/"+itoa(tid)+"/"+name)); err == nil && len(b) > 0 {
			return b, nil
		}
	}
	return nil, target.ErrGone
}

// Exe implements target.Target.
func (p *Process) Exe() string {
	path, err := os.Readlink(procPath(p.pid, "exe"))
	if err != nil {
		list, _ := tasks(p.pid)
		for _, tid := range list {
			if path, err = os.Readlink(procPath(p.pid, "task/"+itoa(tid)+"/exe")); err == nil {
				break
			}
		}
	}
	return strings.TrimSuffix(path, " (deleted)")
}

// Auxv implements target.Target.
func (p *Process) Auxv(typ uint64) (uint64, bool) {
	b, err := p.anyTask("auxv")
	if err != nil {
		return 0, false
	}
	for ; len(b) >= 16; b = b[16:] {
		t := binary.LittleEndian.Uint64(b)
		if t == typ {
			return binary.LittleEndian.Uint64(b[8:]), true
		}
		if t == 0 {
			break
		}
	}
	return 0, false
}

// Mappings implements target.Target.
func (p *Process) Mappings() ([]target.Mapping, error) {
	b, err := p.anyTask("maps")
	if err != nil {
		return nil, err
	}
	var out []target.Mapping
	for line := range bytes.Lines(b) {
		if m, ok := parseMapping(strings.TrimSuffix(string(line), "\n")); ok {
			out = append(out, m)
		}
	}
	return out, nil
}

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
