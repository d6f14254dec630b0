package procfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"dbg/target"
)

// Process reads the files of one process. Its methods may be called from any goroutine.
type Process struct {
	id int
}

// Of returns the Process with an id.
func Of(pid int) Process { return Process{pid} }

// anyTask reads a file of /proc/PID. If the leader has exited, it reads the file of any living
// thread: memory maps and the like are the same.
func (p *Process) anyTask(name string) ([]byte, error) {
	b, err := os.ReadFile(Path(p.id, name))
	if err == nil && len(b) > 0 {
		return b, nil
	}
	list, terr := Tasks(p.id)
	if terr != nil {
		return nil, target.ErrGone
	}
	for _, tid := range list {
		if b, err := os.ReadFile(taskPath(p.id, tid, name)); err == nil && len(b) > 0 {
			return b, nil
		}
	}
	return nil, target.ErrGone
}

// Exe implements target.Target.
func (p *Process) Exe() string {
	path, err := os.Readlink(Path(p.id, "exe"))
	if err != nil {
		list, _ := Tasks(p.id)
		for _, tid := range list {
			if path, err = os.Readlink(taskPath(p.id, tid, "exe")); err == nil {
				break
			}
		}
	}
	return strings.TrimSuffix(path, " (deleted)")
}

// Auxv implements target.Target.
func (p *Process) Auxv(typ uint64) (uint64, bool) {
	for b := p.AuxvBytes(); len(b) >= 16; b = b[16:] {
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

// AuxvBytes implements target.AuxvReader.
func (p *Process) AuxvBytes() []byte {
	b, _ := p.anyTask("auxv")
	return b
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

// Regions implements target.RegionReader. It reads /proc/PID/smaps: proc_pid_smaps(5).
func (p *Process) Regions() ([]target.Region, error) {
	b, err := p.anyTask("smaps")
	if err != nil {
		return nil, fmt.Errorf("memory map of process %d: %w", p.id, err)
	}
	return parseSmaps(b), nil
}

// Touched implements target.RegionReader. It reads /proc/PID/pagemap, one word for each page. The
// kernel shows the bits that it uses to everyone who may trace the process.
func (p *Process) Touched(lo target.Addr, pages []bool) error {
	const used = 1<<63 | 1<<62 | 1<<61 // present, swapped, file page or shared
	f, err := os.Open(Path(p.id, "pagemap"))
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, 8*min(len(pages), 8192))
	for at := uint64(lo) / target.PageSize; len(pages) > 0; {
		n := min(len(pages), len(buf)/8)
		if _, err := f.ReadAt(buf[:8*n], int64(8*at)); err != nil {
			return fmt.Errorf("pages of process %d: %w", p.id, err)
		}
		for i := range n {
			pages[i] = binary.LittleEndian.Uint64(buf[8*i:])&used != 0
		}
		pages, at = pages[n:], at+uint64(n)
	}
	return nil
}
