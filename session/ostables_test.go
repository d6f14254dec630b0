package session_test

import (
	"net"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// TestSystemTables: every table of "info os" is there, and has what this process has made.
func TestSystemTables(t *testing.T) {
	s, _ := newSession(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	pid := strconv.Itoa(os.Getpid())
	want := map[string][]string{
		"sockets":    {"127.0.0.1", port, "0.0.0.0", "0", "LISTEN"},
		"procgroups": {strconv.Itoa(syscall.Getpgrp()), "", pid},
		"cpus":       {"0"},
		"processes":  {pid},
		"msg":        nil, "semaphores": nil, "shm": nil, "modules": nil,
	}
	for name, cells := range want {
		table, err := s.SystemTable(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found := slices.ContainsFunc(table.Rows, func(row []string) bool {
			for i, c := range cells {
				if c != "" && row[i] != c {
					return false
				}
			}
			return true
		})
		if cells != nil && !found {
			t.Errorf("%s has no row that begins with %q", name, cells)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Fatalf("%s: %d columns, a row of %d", name, len(table.Columns), len(row))
			}
		}
	}
}
