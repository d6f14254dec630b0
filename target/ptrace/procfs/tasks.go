package procfs

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// Path returns the path of a file of a process, or of a thread: /proc has a directory for each
// thread, which it does not list.
func Path(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

func taskPath(pid, tid int, name string) string {
	return Path(pid, "task/"+strconv.Itoa(tid)+"/"+name)
}

// NameThreads puts the main thread first, sorts the others by their ids, and fills in their names:
// proc_pid_comm(5).
func NameThreads(pid int, list []target.Thread) {
	slices.SortFunc(list, func(a, b target.Thread) int {
		switch main := target.ThreadID(pid); {
		case a.ID == b.ID:
			return 0
		case a.ID == main:
			return -1
		case b.ID == main:
			return 1
		}
		return cmp.Compare(a.ID, b.ID)
	})
	for i := range list {
		name, _ := os.ReadFile(taskPath(pid, int(list[i].ID), "comm"))
		list[i].Name = strings.TrimSuffix(string(name), "\n")
	}
}

// IsThread reports whether a task is a thread of a process.
func IsThread(pid, tid int) bool {
	_, err := os.Stat(taskPath(pid, tid, ""))
	return err == nil
}

// Tasks lists the threads of a process, in no order. The list may be incomplete if the process
// creates threads meanwhile.
func Tasks(pid int) ([]int, error) { return numbers(Path(pid, "task")) }

// Processes lists all processes that /proc shows.
func Processes() []int {
	list, _ := numbers("/proc")
	return list
}

// Children lists the processes that the threads of a process have created and that still belong to
// it. The list may be incomplete if the process creates others meanwhile. Kernels without
// CONFIG_PROC_CHILDREN are slower: proc_pid_task(5).
func Children(pid int) (out []int) {
	list, _ := Tasks(pid)
	for _, tid := range list {
		b, err := os.ReadFile(taskPath(pid, tid, "children"))
		if errors.Is(err, os.ErrNotExist) && IsThread(pid, tid) {
			return childrenByParent(pid)
		}
		for f := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(f); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

func childrenByParent(pid int) (out []int) {
	for _, child := range Processes() {
		if StatusField(child, "PPid") == strconv.Itoa(pid) {
			out = append(out, child)
		}
	}
	return out
}

// numbers lists the entries of a directory whose names are numbers.
func numbers(dir string) ([]int, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	var out []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			out = append(out, n)
		}
	}
	return out, err
}

// OpenMemory opens the memory of a process for reading and writing: proc_pid_mem(5). The caller
// closes the descriptor. If the leader has exited, OpenMemory opens the file of another thread,
// which has the same memory.
func OpenMemory(pid int) (fd int, err error) {
	const flags = unix.O_RDWR | unix.O_CLOEXEC
	fd, err = unix.Open(Path(pid, "mem"), flags, 0)
	if err != nil {
		list, _ := Tasks(pid)
		for _, tid := range list {
			if fd, err = unix.Open(taskPath(pid, tid, "mem"), flags, 0); err == nil {
				break
			}
		}
	}
	return fd, err
}

// StatusField returns one field of /proc/PID/status of a process or a thread. It returns "" if the
// process has ended, or there is no such field: proc_pid_status(5).
func StatusField(pid int, field string) string {
	b, _ := os.ReadFile(Path(pid, "status"))
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
