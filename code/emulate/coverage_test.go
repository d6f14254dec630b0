package emulate

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"dbg/internal/fixture"
)

// share counts instructions.
type share struct{ all, run, displaced, either int }

func (s *share) add(in instruction) {
	s.all++
	_, run := Decode(in.code, in.addr)
	_, _, displaced := Displace(in.code, in.addr, in.addr+1<<20)
	if run {
		s.run++
	}
	if displaced {
		s.displaced++
	}
	if run || displaced {
		s.either++
	}
}

func (s *share) String() string {
	percent := func(n int) float64 { return 100 * float64(n) / float64(max(s.all, 1)) }
	return fmt.Sprintf("%7d: Decode claims %.1f %%, Displace %.1f %%, one of them %.1f %%",
		s.all, percent(s.run), percent(s.displaced), percent(s.either))
}

// demand fails if less than run per cent are claimed by Decode, or less than either by one of both.
func (s *share) demand(t *testing.T, path string, run, either int) {
	if s.run*100 < s.all*run || s.either*100 < s.all*either {
		t.Errorf("%s: too few are claimed: %v", path, s)
	}
}

// TestCoverage counts the instructions of the libraries that this package claims.
func TestCoverage(t *testing.T) {
	for _, path := range libraries {
		lines := lineStarts(t, path)
		var every, first, statements share
		unknown := 0
		for _, f := range functions(t, path) {
			for _, in := range f.instructions() {
				if in.code == nil {
					unknown++
				}
				every.add(in)
				if in.first {
					first.add(in)
				}
				if lines[in.addr] {
					statements.add(in)
				}
			}
		}
		t.Logf("%s\n  instructions           %v\n  first ones of functions%v", path, &every, &first)
		if len(lines) != 0 {
			t.Logf("\n  first ones of lines    %v", &statements)
		}
		if unknown*1000 > every.all {
			t.Errorf("%s: %d unknown lengths", path, unknown)
		}
		// Every instruction of libc's vector code in assembly is the first one of a line.
		first.demand(t, path, 95, 99)
		statements.demand(t, path, 80, 99)
	}
}

// lineStarts returns the addresses where debug information in /usr/lib/debug begins a statement.
// The map is empty if there is none.
func lineStarts(t *testing.T, path string) map[uint64]bool {
	f, err := elf.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		fixture.Missing(t, "no "+path)
	}
	check(t, err)
	defer f.Close()
	note, err := f.Section(".note.gnu.build-id").Data()
	check(t, err)
	id := note[16:]
	debug, err := elf.Open(filepath.Join("/usr/lib/debug/.build-id", fmt.Sprintf("%x", id[:1]), fmt.Sprintf("%x.debug", id[1:])))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	check(t, err)
	defer debug.Close()
	data, err := debug.DWARF()
	check(t, err)
	starts := map[uint64]bool{}
	units := data.Reader()
	for {
		unit, err := units.Next()
		check(t, err)
		if unit == nil {
			return starts
		}
		units.SkipChildren()
		rows, err := data.LineReader(unit)
		check(t, err)
		if rows == nil {
			continue
		}
		var row dwarf.LineEntry
		line := 0
		for {
			err := rows.Next(&row)
			if err == io.EOF {
				break
			}
			check(t, err)
			if row.IsStmt && !row.EndSequence && row.Line != line {
				starts[row.Address] = true
			}
			line = row.Line
		}
	}
}
