package symbols

import (
	"testing"
	"time"

	"dbg/image"
	"dbg/internal/fixture"
)

// TestEachNear: the names that are looked up in an index are those that differ by one letter.
func TestEachNear(t *testing.T) {
	near := map[string]bool{}
	eachNear("count", func(s []byte) bool { near[string(s)] = true; return true })
	for _, s := range []string{"conut", "coun", "ount", "counts", "Count", "caunt", "acount", "cont", "coumt"} {
		if !near[s] || !differsByOne("count", s) || !differsByOne(s, "count") {
			t.Errorf("%s is not near count", s)
		}
	}
	for _, s := range []string{"count", "conu", "countss", "tnuoc", "ctoun", ""} {
		if near[s] || differsByOne("count", s) {
			t.Errorf("%s is near count", s)
		}
	}
	for s := range near {
		if !differsByOne("count", s) {
			t.Errorf("%s does not differ from count by one letter", s)
		}
	}
}

// TestNearName finds a name with an index and without one, and takes no longer than it may.
func TestNearName(t *testing.T) {
	f, err := image.Open(fixture.Build(t, "types/objects.cc", "-g", "-O0", "-std=c++17"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := Load(f, Options{})
	defer m.Close()
	for _, indexed := range []bool{false, true} {
		if indexed {
			m.names.Index()
		}
		for name, want := range map[string]string{"squar": "square", "Labell": "Label", "mian": "main", "cuont": "count", "zzzzzz": "", "sq": ""} {
			if got := m.NearName(name, time.Second); got != want {
				t.Errorf("with an index %v: %q is near %q, want %q", indexed, name, got, want)
			}
		}
	}
	if got := m.nearInIndex(m.names.Index(), "squarf", time.Now().Add(-time.Second)); got != "" && got != "square" {
		t.Errorf("without time: %q", got)
	}
}
