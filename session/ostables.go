package session

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// fileTables are the tables of "info os" that the kernel writes as one file each.
var fileTables = map[string]func(*Session) (SystemTable, error){
	"cpus":       (*Session).cpuTable,
	"modules":    (*Session).moduleTable,
	"msg":        func(s *Session) (SystemTable, error) { return s.ipcTable("/proc/sysvipc/msg") },
	"semaphores": func(s *Session) (SystemTable, error) { return s.ipcTable("/proc/sysvipc/sem") },
	"shm":        func(s *Session) (SystemTable, error) { return s.ipcTable("/proc/sysvipc/shm") },
	"sockets":    (*Session).socketTable,
	"procgroups": (*Session).groupTable,
}

// lines reads the lines of a file of /proc.
func (s *Session) lines(path string) ([]string, error) {
	b, err := s.procFileOf(path)
	if err != nil {
		return nil, err
	}
	list := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	return list[:min(len(list), mostSystemRows)], nil
}

// cpuTable reads /proc/cpuinfo: "name : value" lines, and an empty line after each processor.
func (s *Session) cpuTable() (t SystemTable, err error) {
	list, err := s.lines("/proc/cpuinfo")
	if err != nil {
		return t, err
	}
	var row []string
	flush := func() {
		if row != nil {
			t.Rows = append(t.Rows, append(row, make([]string, len(t.Columns)-len(row))...))
			row = nil
		}
	}
	for _, line := range list {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			flush()
			continue
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		i := slices.Index(t.Columns, name)
		if i < 0 {
			i = len(t.Columns)
			t.Columns = append(t.Columns, name)
		}
		for len(row) <= i {
			row = append(row, "")
		}
		row[i] = value
	}
	flush()
	for i, r := range t.Rows { // a later processor may have told more
		t.Rows[i] = append(r, make([]string, len(t.Columns)-len(r))...)
	}
	return t, nil
}

// moduleTable reads /proc/modules: name, size, uses, users, state, address.
func (s *Session) moduleTable() (SystemTable, error) {
	t := SystemTable{Columns: []string{"name", "size", "num uses", "dependencies", "status", "address"}}
	list, err := s.lines("/proc/modules")
	if os.IsNotExist(err) {
		return t, nil // a kernel without modules
	}
	for _, line := range list {
		if f := strings.Fields(line); len(f) >= len(t.Columns) {
			t.Rows = append(t.Rows, f[:len(t.Columns)])
		}
	}
	return t, err
}

// ipcTable reads a file of /proc/sysvipc, whose first line has the names of the columns: sysvipc(7).
func (s *Session) ipcTable(path string) (t SystemTable, err error) {
	list, err := s.lines(path)
	if os.IsNotExist(err) {
		return t, nil // a kernel without System V IPC
	}
	if err != nil || len(list) == 0 {
		return t, err
	}
	t.Columns = strings.Fields(list[0])
	for _, line := range list[1:] {
		if f := strings.Fields(line); len(f) == len(t.Columns) {
			t.Rows = append(t.Rows, f)
		}
	}
	return t, nil
}

// socketStates are the states of proc_pid_net(5), of a TCP socket (net/tcp_states.h of the kernel).
var socketStates = []string{"", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT", "CLOSE",
	"CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING", "NEW_SYN_RECV"}

// socketTable reads /proc/net/tcp and its relatives: proc_pid_net(5).
func (s *Session) socketTable() (SystemTable, error) {
	t := SystemTable{Columns: []string{"local address", "local port", "remote address", "remote port", "state", "user", "family", "protocol"}}
	users := map[uint32]string{}
	for _, k := range [][3]string{{"tcp", "INET", "STREAM"}, {"udp", "INET", "DGRAM"}, {"tcp6", "INET6", "STREAM"}, {"udp6", "INET6", "DGRAM"}} {
		list, err := s.lines("/proc/net/" + k[0])
		if err != nil || len(list) == 0 {
			continue // a kernel without that protocol
		}
		for _, line := range list[1:] {
			f := strings.Fields(line)
			if len(f) < 8 || len(t.Rows) >= mostSystemRows {
				continue
			}
			local, localPort := socketAddress(f[1])
			remote, remotePort := socketAddress(f[2])
			state := ""
			if n, err := strconv.ParseUint(f[3], 16, 8); err == nil && n < uint64(len(socketStates)) {
				state = socketStates[n]
			}
			uid, _ := strconv.ParseUint(f[7], 10, 32)
			t.Rows = append(t.Rows, []string{local, localPort, remote, remotePort, state, userName(users, uint32(uid)), k[1], k[2]})
		}
	}
	return t, nil
}

// socketAddress parses "0100007F:1F90": the address is written as words of the machine's byte order.
func socketAddress(text string) (address, port string) {
	host, p, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	if err != nil || len(b)%4 != 0 {
		return host, p
	}
	for i := 0; i < len(b); i += 4 {
		slices.Reverse(b[i : i+4])
	}
	if a, ok := netip.AddrFromSlice(b); ok {
		host = a.String()
	}
	if n, err := strconv.ParseUint(p, 16, 16); err == nil {
		p = strconv.FormatUint(n, 10)
	}
	return host, p
}

// groupTable lists the processes by process group, the leader of each first: proc_pid_stat(5).
func (s *Session) groupTable() (SystemTable, error) {
	t := SystemTable{Columns: []string{"pgid", "leader command", "pid", "command line"}}
	type process struct {
		pid, group int
		command    string
	}
	var all []process
	leaders := map[int]string{}
	for _, pid := range numbersIn("/proc") {
		if s.cutShort() {
			return t, s.ctx.Err()
		}
		stat, err := s.procFileOf(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || len(all) >= mostSystemRows {
			continue // it has ended
		}
		text := string(stat)
		open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
		if open < 0 || end < open {
			continue
		}
		f := strings.Fields(text[end+1:]) // state, parent, group
		if len(f) < 3 {
			continue
		}
		group, err := strconv.Atoi(f[2])
		if err != nil {
			continue
		}
		leaders[pid] = text[open+1 : end]
		line, _ := s.procFileOf(fmt.Sprintf("/proc/%d/cmdline", pid))
		command := strings.TrimRight(strings.ReplaceAll(string(line), "\x00", " "), " ")
		if command == "" {
			command = leaders[pid]
		}
		all = append(all, process{pid, group, command})
	}
	slices.SortFunc(all, func(a, b process) int {
		if a.group != b.group {
			return a.group - b.group
		}
		return a.pid - b.pid
	})
	for _, p := range all {
		t.Rows = append(t.Rows, []string{strconv.Itoa(p.group), leaders[p.group], strconv.Itoa(p.pid), p.command})
	}
	return t, nil
}
