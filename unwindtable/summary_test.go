package unwindtable_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/unwindtable"
)

// TestSummary: the counts are those of the entries that JSON prints one by one, and readelf counts as many FDEs.
func TestSummary(t *testing.T) {
	exe := fixture.Build(t, "check/throws.cc", "-O1")
	var all bytes.Buffer
	if err := unwindtable.Print(context.Background(), &all, exe, unwindtable.Options{JSON: true}); err != nil {
		t.Fatal(err)
	}
	type entry struct {
		Rows []struct {
			CFA       string
			Registers map[string]string
		}
		LSDA        string `json:"lsda"`
		Personality string
		Sites       []json.RawMessage `json:"call_sites"`
	}
	entries, rows, lsdas, sites, byRBP, rbx, personalities := 0, 0, 0, 0, 0, 0, 0
	for _, line := range strings.Split(strings.TrimSpace(all.String()), "\n") {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		entries++
		rows += len(e.Rows)
		sites += len(e.Sites)
		if e.LSDA != "" {
			lsdas++
		}
		if e.Personality != "" {
			personalities++
		}
		saved := false
		for _, r := range e.Rows {
			if strings.HasPrefix(r.CFA, "rbp") {
				byRBP++
			}
			_, has := r.Registers["rbx"]
			saved = saved || has
		}
		if saved {
			rbx++
		}
	}
	var sum struct {
		Entries, Rows, Lsdas, Defects int
		CFA, Saved, Personalities     map[string]int
		Sites                         int `json:"call_sites"`
		Bytes                         int
	}
	var b bytes.Buffer
	if err := unwindtable.Print(context.Background(), &b, exe, unwindtable.Options{JSON: true, Summary: true}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &sum); err != nil {
		t.Fatal(err)
	}
	if sum.Entries != entries || sum.Rows != rows || sum.Lsdas != lsdas || sum.Sites != sites || sum.CFA["rbp"] != byRBP || sum.Saved["rbx"] != rbx ||
		sum.Personalities["__gxx_personality_v0"] != personalities || sum.Defects != 0 || entries == 0 || lsdas == 0 || rbx == 0 {
		t.Errorf("%s\n%d entries, %d rows, %d with data, %d call sites, %d by rbp, %d save rbx, %d personality routines", b.String(), entries, rows, lsdas, sites, byRBP, rbx, personalities)
	}
	fixture.Need(t, "readelf")
	out, err := exec.Command("readelf", "--debug-dump=frames", exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(out), " FDE cie="); n != sum.Entries {
		t.Errorf("readelf has %d FDEs, the summary %d", n, sum.Entries)
	}
}
