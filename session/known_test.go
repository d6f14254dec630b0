package session_test

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// TestKnownValues runs programs that write down what their variables are, at all levels of optimisation, and
// stops at each such place: what dbg shows must be what is written down, or that it does not know.
func TestKnownValues(t *testing.T) {
	var sum, shown int
	var cases []knownCase
	for _, o := range []string{"-O0", "-O1", "-O2", "-O3", "-Os", "-Og"} {
		for _, cc := range []string{"gcc", "clang-19"} {
			cases = append(cases, knownCase{"c/known.c", []string{"cc=" + cc, "-g", o, "-w"}, o == "-O0"})
		}
		for _, cc := range []string{"g++", "clang++-19"} {
			cases = append(cases, knownCase{"c/known.c", []string{"cc=" + cc, "-xc++", "-g", o, "-w"}, o == "-O0"})
		}
	}
	for _, o := range []string{"0", "1", "2", "3", "s"} {
		cases = append(cases, knownCase{"c/known.rs", []string{"-g", "-C", "opt-level=" + o, "-C", "codegen-units=1"}, o == "0"})
	}
	for _, c := range cases {
		t.Run(c.source+" "+strings.Join(c.flags, " "), func(t *testing.T) {
			n, known := c.run(t)
			sum, shown = sum+n, shown+known
			if n < 100 || known < n/4 {
				t.Errorf("of %d values that are written down dbg shows %d", n, known)
			}
		})
	}
	t.Logf("%d values are written down, dbg shows %d of them and none that is wrong", sum, shown)
}

type knownCase struct {
	source string
	flags  []string
	all    bool // nothing may be lost
}

// run gives how many values are written down, and how many of them dbg shows.
func (c *knownCase) run(t *testing.T) (n, shown int) {
	exe := fixture.Build(t, c.source, c.flags...)
	s, events := newSession(t)
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "stop_here"}}, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	for stops := 0; ; stops++ {
		stop, ok := next(t, events).(session.Stopped)
		if !ok {
			return n, shown // it has ended
		}
		bt := backtrace(t, s, stop.Thread)
		levels := map[string]int{} // where the search for the frame of a function goes on
		for _, k := range slices.Backward(writtenDown(t, s, bt)) {
			level := levelOf(bt, k.function, levels[k.function], k.name, levels)
			if level < 0 {
				if c.all {
					t.Errorf("stop %d: no frame of %s", stops, k.function)
				}
				continue
			}
			n++
			v, err := s.Evaluate(stop.Thread, level, k.name)
			text := ""
			if err != nil {
				text = "<" + err.Error() + ">"
			} else {
				text = s.FormatIn(stop.Thread, level, v, eval.Options{Inner: true, AddressOfStrings: true})
			}
			switch {
			case k.is(text):
				shown++
			case k.name == "one[3]" && slices.Contains(c.flags, "-O3") && strings.Contains(c.flags[0], "=g"):
				// gcc 12 forgets to say that it never stores this element of an array that it says is in memory; gdb shows the same.
			case !strings.HasPrefix(text, "<"):
				t.Errorf("stop %d, pc %v, frame %d: %s of %s is %s, dbg shows %s", stops, bt[level].PC, level, k.name, k.function, k.text(), text)
			case c.all:
				t.Errorf("stop %d, frame %d: %s of %s is %s, dbg shows %s", stops, level, k.name, k.function, k.text(), text)
			}
		}
		if err := s.Continue(0); err != nil {
			t.Fatal(err)
		}
	}
}

// levelOf finds the frame that a value is written down of. The last entries are of the innermost frame: a function that
// writes down a name again has called itself.
func levelOf(bt []session.Frame, function string, from int, name string, levels map[string]int) int {
	if key := function + " " + name; levels[key] > 0 {
		from = levels[key]
	}
	for i := from; i < len(bt); i++ {
		f := bt[i].FunctionName
		if j := strings.IndexByte(f, '('); j > 0 && !strings.HasSuffix(f, "operator()") {
			f = f[:j]
		}
		if f == function || strings.HasSuffix(f, "::"+function) {
			levels[function+" "+name] = i + 1
			return i
		}
	}
	return -1
}

// written is what a program says of a variable of its own.
type written struct {
	function, name string
	value          uint64
	isFloat        bool
}

func (w *written) text() string {
	if w.isFloat {
		return strconv.FormatFloat(math.Float64frombits(w.value), 'g', -1, 64)
	}
	return strconv.FormatInt(int64(w.value), 10)
}

// is reports whether a text is of the value.
func (w *written) is(text string) bool {
	if strings.HasPrefix(text, "@") {
		_, text, _ = strings.Cut(text, ": ") // a reference
	}
	text, _, _ = strings.Cut(text, " ")
	if w.isFloat {
		f, err := strconv.ParseFloat(text, 64)
		return err == nil && (f == math.Float64frombits(w.value) || float32(f) == float32(math.Float64frombits(w.value)))
	}
	if b, err := strconv.ParseBool(text); err == nil && len(text) > 1 {
		return b == (w.value != 0)
	}
	if u, err := strconv.ParseUint(text, 0, 64); err == nil {
		return u == w.value
	}
	i, err := strconv.ParseInt(text, 0, 64)
	return err == nil && uint64(i) == w.value
}

// writtenDown reads the program's table.
func writtenDown(t *testing.T, s *session.Session, bt []session.Frame) (out []written) {
	t.Helper()
	read := func(a uint64, n int) []byte {
		b := make([]byte, n)
		if _, err := s.ReadMemory(target.Addr(a), b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	address := func(text string) uint64 {
		a, err := s.ParseAddress(text)
		if err != nil {
			t.Fatal(err)
		}
		return uint64(a)
	}
	str := func(a uint64) string {
		var b []byte
		for len(b) < 64 {
			c := read(a+uint64(len(b)), 1)
			if c[0] == 0 {
				break
			}
			b = append(b, c[0])
		}
		return string(b)
	}
	count := binary.LittleEndian.Uint64(read(address("&known_count"), 8))
	if count > 256 {
		t.Fatalf("the table has %d entries", count)
	}
	info, _ := s.Target()
	ptr := info.Arch.PtrSize
	size := 2*ptr + 16
	raw := read(address("&known"), int(count)*size)
	u := binary.LittleEndian.Uint64
	pointer := func(b []byte) uint64 {
		if ptr == 4 {
			return uint64(binary.LittleEndian.Uint32(b))
		}
		return u(b)
	}
	for i := range int(count) {
		e := raw[i*size:]
		out = append(out, written{str(pointer(e)), str(pointer(e[ptr:])), u(e[2*ptr:]), u(e[2*ptr+8:]) != 0})
	}
	return out
}
