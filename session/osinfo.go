package session

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
)

// SystemTable is a table about the machine: "info os".
type SystemTable struct {
	Columns []string
	Rows    [][]string
}

// mostSystemRows limits a SystemTable.
const mostSystemRows = 100_000

// SystemTables names the tables of SystemTable with their descriptions.
var SystemTables = [][2]string{
	{"cpus", "Listing of all cpus/cores on the system"},
	{"files", "Listing of all file descriptors"},
	{"modules", "Listing of all loaded kernel modules"},
	{"msg", "Listing of all message queues"},
	{"processes", "Listing of all processes"},
	{"procgroups", "Listing of all process groups"},
	{"semaphores", "Listing of all semaphores"},
	{"shm", "Listing of all shared-memory regions"},
	{"sockets", "Listing of all internet-domain sockets"},
	{"threads", "Listing of all threads"},
}

// SystemTable reads one of SystemTables from /proc of this machine.
func (s *Session) SystemTable(name string) (SystemTable, error) {
	return ask(s, func() (SystemTable, error) {
		var t SystemTable
		if f := fileTables[name]; f != nil {
			return f(s)
		}
		switch name {
		case "processes":
			t.Columns = []string{"pid", "user", "command"}
		case "threads":
			t.Columns = []string{"pid", "command", "tid"}
		case "files":
			t.Columns = []string{"pid", "command", "file descriptor", "name"}
		default:
			return t, fmt.Errorf("there is no table %q", name)
		}
		names := map[uint32]string{}
		for _, pid := range numbersIn("/proc") {
			if s.cutShort() {
				return t, s.ctx.Err()
			}
			if len(t.Rows) >= mostSystemRows {
				break
			}
			dir := fmt.Sprintf("/proc/%d", pid)
			comm, err := s.procFileOf(dir + "/comm")
			if err != nil {
				continue // it has ended
			}
			command, id := strings.TrimSuffix(string(comm), "\n"), strconv.Itoa(pid)
			switch name {
			case "processes":
				status, _ := s.procFileOf(dir + "/status")
				line, _ := s.procFileOf(dir + "/cmdline")
				if text := strings.TrimRight(strings.ReplaceAll(string(line), "\x00", " "), " "); text != "" {
					command = text
				}
				t.Rows = append(t.Rows, []string{id, userName(names, firstID(string(status), "Uid:")), command})
			case "threads":
				for _, tid := range numbersIn(dir + "/task") {
					t.Rows = append(t.Rows, []string{id, command, strconv.Itoa(tid)})
				}
			case "files":
				for _, fd := range numbersIn(dir + "/fd") {
					path, _ := os.Readlink(fmt.Sprintf("%s/fd/%d", dir, fd))
					t.Rows = append(t.Rows, []string{id, command, strconv.Itoa(fd), path})
				}
			}
		}
		return t, nil
	})
}

// numbersIn lists the entries of a folder whose names are numbers.
func numbersIn(dir string) (out []int) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			out = append(out, n)
		}
	}
	return out
}

func userName(known map[uint32]string, id uint32) string {
	name, ok := known[id]
	if !ok {
		name = strconv.FormatUint(uint64(id), 10)
		if u, err := user.LookupId(name); err == nil {
			name = u.Username
		}
		known[id] = name
	}
	return name
}
