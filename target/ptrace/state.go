package ptrace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"dbg/target"
)

var (
	_ target.StateReader  = (*Process)(nil)
	_ target.AuxvReader   = (*Process)(nil)
	_ target.RegionReader = (*Process)(nil)
)

// ThreadState implements target.StateReader. A thread that waits for a child of vfork has no
// floating-point state: the kernel shows it only for stopped threads.
func (p *Process) ThreadState(id target.ThreadID) (target.ThreadState, error) {
	var s target.ThreadState
	err := p.onThread(id, func(t *thread) error {
		u, err := t.registers()
		if err != nil {
			return err
		}
		s.User = bytes.Clone(u[:])
		if t.signal != nil && t.info.signo() == t.signal.Number {
			s.SigInfo = bytes.Clone(t.info[:])
		}
		if t.away {
			return nil
		}
		if s.FP, err = getRegSet(t.tid, ntFPREGSET, 512); err != nil {
			return err
		}
		s.XState, err = getXState(t.tid)
		return err
	})
	return s, err
}

const ntFPREGSET = 2

// AuxvBytes implements target.AuxvReader.
func (p *Process) AuxvBytes() []byte {
	b, _ := p.anyTask("auxv")
	return b
}

// Regions implements target.RegionReader. It reads /proc/PID/smaps: proc_pid_smaps(5).
func (p *Process) Regions() ([]target.Region, error) {
	b, err := p.anyTask("smaps")
	if err != nil {
		return nil, fmt.Errorf("memory map of process %d: %w", p.pid, err)
	}
	return parseSmaps(b), nil
}

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

// Touched implements target.RegionReader. It reads /proc/PID/pagemap, one word for each page. The
// kernel shows the bits that it uses to everyone who may trace the process.
func (p *Process) Touched(lo target.Addr, pages []bool) error {
	const used = 1<<63 | 1<<62 | 1<<61 // present, swapped, file page or shared
	f, err := os.Open(procPath(p.pid, "pagemap"))
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, 8*min(len(pages), 8192))
	for at := uint64(lo) / target.PageSize; len(pages) > 0; {
		n := min(len(pages), len(buf)/8)
		if _, err := f.ReadAt(buf[:8*n], int64(8*at)); err != nil {
			return fmt.Errorf("pages of process %d: %w", p.pid, err)
		}
		for i := range n {
			pages[i] = binary.LittleEndian.Uint64(buf[8*i:])&used != 0
		}
		pages, at = pages[n:], at+uint64(n)
	}
	return nil
}

// getRegSet reads a register set of at most size bytes.
func getRegSet(tid, set, size int) ([]byte, error) {
	b := make([]byte, size)
	v := unix.Iovec{Base: &b[0], Len: uint64(size)}
	if err := ptraceIovec(unix.PTRACE_GETREGSET, tid, set, &v); err != nil {
		return nil, err
	}
	return b[:v.Len], nil
}
