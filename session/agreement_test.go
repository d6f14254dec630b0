package session_test

import (
	"fmt"
	"math/rand"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/internal/gdbpeer"
	"dbg/session"
	"dbg/symbols"
	"dbg/target"
)

// The tests of this file go the same random ways through programs as gdb: step, next, finish and
// until, and compare the function and the line after each. After a difference, dbg goes on from
// gdb's place.

// agreement is a program that nobody wrote for these tests.
type agreement struct {
	name  string
	build func(t testing.TB) string
	args  []string
	data  func(t testing.TB) []string // makes the arguments instead of args
	setup []string                    // commands for gdb
	least float64                     // the part of the steps that must be equal, without those that are explained
	sweep bool                        // only make test-all builds it

	golang bool
	ways   int // the number of ways in percent; 0 means 100
	from   int // the number of places of which a way begins at the first; 0 means 4
}

// bias is where gdb and dbg load a position-independent program without randomisation.
const bias = 0x555555554000

// wayStarts finds places in a program's functions after their prologues.
func wayStarts(t *testing.T, exe string) (list []uint64) {
	t.Helper()
	f, err := image.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := symbols.Load(f, symbols.Options{})
	defer m.Close()
	seen := map[uint64]bool{}
	for _, s := range f.Symbols() {
		if s.Kind != image.Func || s.Addr == 0 {
			continue
		}
		fn := m.FunctionAt(s.Addr)
		if fn == nil || fn.FromSymbolTable || fn.Lo != s.Addr {
			continue
		}
		loc := m.AfterPrologue(fn)
		lr, ok := m.LineAt(loc.Addr)
		if !ok || lr.Line == 0 || lr.Lo != loc.Addr || strings.HasPrefix(fn.Name, "runtime.") {
			continue
		}
		a := uint64(loc.Addr)
		if f.Kind() == image.Shared || f.Segments()[0].Lo == 0 {
			a += bias
		}
		if !seen[a] {
			seen[a] = true
			list = append(list, a)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
	return list
}

// randomWays makes ways from a seed.
func randomWays(starts []uint64, seed int64, from, ways, steps int) (list []gdbpeer.Way) {
	r := rand.New(rand.NewSource(seed))
	words := []string{"step", "step", "step", "step", "next", "next", "next", "next", "finish", "until"}
	for range ways {
		var w gdbpeer.Way
		for range max(from, 4) {
			w.From = append(w.From, starts[r.Intn(len(starts))])
		}
		for range steps {
			w.Commands = append(w.Commands, words[r.Intn(len(words))])
		}
		list = append(list, w)
	}
	return list
}

// agreed counts the steps of a program.
type agreed struct {
	steps, equal int
	lost         int // ways that dbg could not go on after a difference
	differences  []string
	causes       map[string]int
	explained    map[string]int
}

func (a *agreement) compare(t *testing.T, seed int64, ways, steps int) *agreed {
	t.Helper()
	exe := a.build(t)
	if a.data != nil {
		a.args = a.data(t)
	}
	list := randomWays(wayStarts(t, exe), seed, a.from, ways, steps)
	args := strings.Join(a.args, " ") + " >/dev/null 2>&1 </dev/null"
	setup := append([]string{"set exec-wrapper env -i LD_LIBRARY_PATH=" + gdbLibraries(t), "set args " + args,
		"set disable-randomization on"}, a.setup...)
	all := gdbpeer.Walk(t, exe, setup, list)
	if len(all) < len(list) {
		t.Logf("gdb has gone %d of %d ways", len(all), len(list))
	}
	n := &agreed{causes: map[string]int{}, explained: map[string]int{}}
	for i, places := range all {
		if len(places) == 0 || places[0].Ended {
			continue // the program reaches none of the places
		}
		w := &walker{agreement: a, t: t, exe: exe, way: list[i], places: places, n: n}
		w.walk()
		w.close()
	}
	return n
}

// walker goes one way with dbg, beside the places where gdb has stopped.
type walker struct {
	*agreement
	t      *testing.T
	exe    string
	way    gdbpeer.Way
	places []gdbpeer.Place
	n      *agreed

	s      *session.Session
	events <-chan session.Event
	cancel func()
	// The present place.
	thread target.ThreadID
	name   string
	pc     uint64
	hidden int  // the number of inlined calls that are not shown
	entry  bool // it is the end of a function's prologue
	ended  bool

	failed string // gdb's error in the last step
}

func (w *walker) close() {
	if w.s != nil {
		w.cancel()
		w.s.Close()
		w.s = nil
	}
}

// start starts the program and runs to the first of the way's places.
func (w *walker) start() {
	w.t.Helper()
	w.close()
	w.s = session.New(session.Config{DebugDirs: []string{}})
	w.events, w.cancel = w.s.Subscribe()
	dev := null(w.t)
	err := w.s.Load(session.Program{Path: w.exe, Args: w.args, Env: []string{"LD_LIBRARY_PATH=" + gdbLibraries(w.t)},
		Stdin: dev, Stdout: dev, Stderr: dev})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.s.Start(); err != nil {
		w.t.Fatal(err)
	}
	var list []session.BreakpointSpec
	for _, at := range w.way.From {
		list = append(list, breakAt(at))
	}
	w.run(list...)
}

func breakAt(a uint64) session.BreakpointSpec {
	return session.BreakpointSpec{LocationSpec: session.LocationSpec{Addr: target.Addr(a), HasAddr: true}}
}

// run runs to the first of some places.
func (w *walker) run(places ...session.BreakpointSpec) {
	w.t.Helper()
	for _, spec := range places {
		if _, err := w.s.SetBreakpoint(spec, false); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.s.Continue(0); err != nil {
		w.t.Fatal(err)
	}
	w.arrive()
	for _, b := range w.s.Breakpoints() {
		if err := w.s.DeleteBreakpoint(b.ID); err != nil {
			w.t.Fatal(err)
		}
	}
}

// replay starts the program again and runs through the places of gdb: their addresses and stack
// pointers. It ends at the place of a number or, if done is given, at the first one after it where
// done is true.
func (w *walker) replay(to int, done func(i int) bool) bool {
	w.t.Helper()
	w.start()
	for i := 0; i < len(w.places) && !w.ended; i++ {
		if w.places[i].Ended {
			return false
		}
		if i > 0 {
			p, last := &w.places[i], &w.places[i-1]
			if p.PC != last.PC || p.SP != last.SP || p.Registers != last.Registers {
				spec := breakAt(p.PC)
				if !w.golang { // the place of a goroutine's stack is not the same in each run
					spec.Condition = fmt.Sprintf("$rsp == %d", p.SP)
				}
				w.run(spec)
			}
		}
		if i >= to && !w.ended && (done == nil || done(i)) {
			return true
		}
	}
	return false
}

// rejoin brings dbg to a place of gdb after a difference, and returns the place's number. A place
// that dbg shows in another way is skipped. false means that the way ends.
func (w *walker) rejoin(to int) (found int, ok bool) {
	w.t.Helper()
	if len(w.places) == to+1 || w.places[to].Ended {
		return 0, false // there is nothing more to compare
	}
	ok = w.replay(to, func(i int) bool {
		found = i
		grows := strings.HasPrefix(w.places[i].Func, "runtime.morestack") // no debugger unwinds from there
		return !grows && w.name == nameOfPlace(&w.places[i])
	})
	if !ok && !w.places[len(w.places)-1].Ended {
		w.n.lost++
	}
	return found, ok
}

// walk goes the way. After a difference it goes on from gdb's place.
func (w *walker) walk() {
	w.t.Helper()
	w.start()
	if g := nameOfPlace(&w.places[0]); w.ended || g != w.name {
		w.n.differences = append(w.n.differences, fmt.Sprintf("start: gdb %s, dbg %s", g, w.name))
		w.n.causes["start"]++
		return
	}
	for i := 1; i < len(w.places) && !w.ended; i++ {
		if w.compareStep(i) {
			continue
		}
		var ok bool
		if i, ok = w.rejoin(i); !ok {
			return
		}
	}
}

// compareStep makes one step, and reports whether it ends where gdb's does.
func (w *walker) compareStep(i int) bool {
	w.t.Helper()
	word, want := w.way.Commands[i-1], &w.places[i]
	err := stepBy(w.s, word)
	failed := want.Err != ""
	same := failed && want.Err == w.failed
	w.failed = want.Err
	switch {
	case err != nil && failed:
		return true
	case same:
		return false // it is counted
	case err == nil && !failed:
	case strings.Contains(want.Err, "bounds of current function") || strings.Contains(want.Err, "not within a known function"):
		w.explain("gdb does not know the function's bounds")
		return false
	case strings.Contains(want.Err, "No such process") && w.endsNow():
		w.explain("gdb reads registers when a program with several threads has ended")
		return false
	default:
		w.differ(word+" fails", fmt.Sprintf("%s at %s %#x: dbg %v, gdb %q", word, w.name, w.pc, err, want.Err))
		return false
	}
	from, before, hidden, g := w.pc, w.name, w.hidden, nameOfPlace(want)
	w.arrive()
	if w.name == g {
		w.n.steps++
		w.n.equal++
		// At another address of the same line, the next step would begin elsewhere.
		return w.ended || w.golang || w.pc == want.PC
	}
	why := gdbsReason(word, from, before, w.name, want)
	if why == "" && w.golang {
		why = goReason(w.pc, w.name, w.entry, want)
	}
	text := fmt.Sprintf("%s at %s %#x\n    dbg %s %#x\n    gdb %s %#x", word, before, from, w.name, w.pc, g, want.PC)
	if why == "" {
		why = w.modelReason(i, hidden)
	}
	if why != "" {
		w.explain(why)
		return false
	}
	w.differ(word, text)
	return false
}

// endsNow reports whether the step that runs ends the program.
func (w *walker) endsNow() bool {
	w.arrive()
	return w.ended
}

func (w *walker) explain(why string) {
	w.n.steps++
	w.n.explained[why]++
}

func (w *walker) differ(cause, text string) {
	w.n.steps++
	w.n.causes[cause]++
	w.n.differences = append(w.n.differences, text)
}

// gdbsReason returns the reason for a difference that docs/gdb.md describes, or "".
func gdbsReason(word string, from uint64, before, dbg string, gdb *gdbpeer.Place) string {
	lineless := !gdb.Ended && nameOfPlace(gdb) == "-"
	switch {
	case word != "finish" && lineless && dbg != "-" && dbg != "ended":
		return "gdb stops in a function without lines that was reached by a jump"
	case (word == "next" || word == "until") && !gdb.Ended && gdb.PC > from && nameOfPlace(gdb) == before:
		return "gdb stops again on a line that contains an inlined call"
	case word == "step" && dbg == "-" && (gdb.Ended || !lineless):
		return "gdb's step goes on where a function has neither lines nor a name"
	}
	if word == "until" && !gdb.Ended && gdb.PC < from && from-gdb.PC < 4096 {
		return "gdb's until goes back from a line that has several rows"
	}
	return ""
}

// goReason is gdbsReason for programs in Go.
// entry means that dbg is where the compiler has marked the end of a function's prologue.
func goReason(pc uint64, dbg string, entry bool, gdb *gdbpeer.Place) string {
	function, _, _ := strings.Cut(dbg, " ")
	switch {
	case gdb.Ended:
		return "gdb loses the step when the goroutine changes its thread"
	case strings.HasPrefix(gdb.Func, "runtime.morestack"):
		return "gdb enters the code that grows the stack"
	case lastName(gdb.Func) == function && entry && gdb.PC > pc && gdb.PC-pc < 32:
		return "gdb goes on after the end of the prologue of a function of Go"
	case lastName(gdb.Func) == function && gdb.PC < pc && pc-gdb.PC < 32:
		return "gdb stops at the entry of a function of Go whose prologue it does not know"
	}
	return ""
}

// arrive waits for a stop and names its place.
func (w *walker) arrive() {
	w.t.Helper()
	stop, ok := soon(w.t, w.s, w.events).(session.Stopped)
	if !ok {
		w.name, w.pc, w.ended = "ended", 0, true
		return
	}
	f, err := w.s.Frame(stop.Thread, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	p := gdbpeer.Place{Frame: gdbpeer.Frame{PC: uint64(f.PC), Func: f.FunctionName}}
	if f.HasSource() {
		p.File, p.Line = f.Position.File, f.Position.Line
	}
	w.thread, w.name, w.pc, w.hidden, w.ended = stop.Thread, nameOfPlace(&p), p.PC, hiddenAt(&f), false
	w.entry = afterPrologue(&f)
}

// nameOfPlace names a place by its function, file and line.
func nameOfPlace(p *gdbpeer.Place) string {
	switch {
	case p.Ended:
		return "ended"
	case p.File == "" || p.Line == 0:
		return "-"
	}
	return fmt.Sprintf("%s %s:%d", lastName(p.Func), filepath.Base(p.File), p.Line)
}

// lastName is a function's name without scopes, parameters and template arguments: gdb and dbg write
// those of local classes and of the ABI's tags in other ways.
func lastName(name string) string {
	var out strings.Builder
	depth := 0
	for _, c := range strings.ReplaceAll(name, "[abi:cxx11]", "") {
		switch {
		case c == '(' || c == '<':
			depth++
		case c == ')' || c == '>':
			depth--
		case depth == 0:
			out.WriteRune(c)
		}
	}
	parts := strings.Split(out.String(), "::")
	return strings.TrimSuffix(strings.TrimSpace(parts[len(parts)-1]), " const")
}

var agreements = []agreement{
	{name: "lua", build: lua("-O0"), args: luaArgs, least: 0.999},
	{name: "lua-O2", build: lua("-O2"), args: luaArgs, least: 0.998},
	{name: "jq", build: jq("-O0"), args: jqArgs, least: 0.999, sweep: true},
	{name: "jq-O2", build: jq("-O2"), args: jqArgs, least: 0.998, sweep: true, ways: 120},
	{name: "gofmt", build: gofmt, args: []string{"-d", sample("sample.go.txt")}, least: 0.99, sweep: true, golang: true, ways: 250},
	{name: "hexyl", build: fixture.Hexyl, args: []string{sample("build.ninja")}, least: 0.997, sweep: true, from: 200,
		setup: []string{"set print finish off"}},
	{name: "ninja", build: ninja("-O0"), args: ninjaArgs, least: 0.999, sweep: true},
	{name: "ninja-O2", build: ninja("-O2"), args: ninjaArgs, least: 0.998, sweep: true, ways: 110},
	{name: "redis", build: redis("-O0"), data: redisData, least: 0.999, sweep: true, from: 40, setup: mainThread},
	{name: "redis-O2", build: redis("-O2"), data: redisData, least: 0.998, sweep: true, from: 40, setup: mainThread},
}

var (
	luaArgs   = []string{sample("sample.lua")}
	jqArgs    = []string{"-n", "-f", sample("sample.jq")}
	ninjaArgs = []string{"-n", "-v", "-f", sample("build.ninja")}
)

func lua(flag string) func(testing.TB) string {
	return func(t testing.TB) string { return fixture.Lua(t, flag) }
}

func jq(flag string) func(testing.TB) string {
	return func(t testing.TB) string { return fixture.Jq(t, flag) }
}

func ninja(flag string) func(testing.TB) string {
	return func(t testing.TB) string { return fixture.Ninja(t, flag) }
}

func redis(flag string) func(testing.TB) string {
	return func(t testing.TB) string { return fixture.Redis(t, flag) }
}

func gofmt(t testing.TB) string { return fixture.Gofmt(t, "-gcflags=all=-N -l") }

func redisData(t testing.TB) []string { return fixture.RedisCommands(t, sample("sample.redis")) }

// mainThread leaves out the ways that begin in another thread: which thread is first is not the same
// in each run.
var mainThread = []string{"set var $main_only = 1"}

func sample(name string) string { return filepath.Join(fixture.Root(), "testdata/agree", name) }

// TestStepAgreement: after each step, dbg is where gdb is.
func TestStepAgreement(t *testing.T) {
	for _, a := range agreements {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			fixture.Need(t, "gdb")
			if a.sweep {
				fixture.Sweep(t)
			}
			ways := max(amount(100, 3)*max(a.ways, 100)/100, 3)
			n := a.compare(t, 1, ways, 30)
			t.Logf("%d steps, %d equal, %d ways lost, explained: %v, not explained: %v",
				n.steps, n.equal, n.lost, n.explained, n.causes)
			for _, d := range n.differences {
				t.Log(d)
			}
			open := 0
			for _, c := range n.causes {
				open += c
			}
			if n.steps == 0 || float64(open) > (1-a.least)*float64(n.steps) {
				t.Errorf("too few are equal: at least %.3f are expected", a.least)
			}
			if ways >= 100 && n.steps < 2000 {
				t.Errorf("%d steps: at least 2,000 are expected", n.steps)
			}
		})
	}
}

// soon is next with a limit: a step that never ends is a difference.
func soon(t *testing.T, s *session.Session, events <-chan session.Event) session.Event {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case ev := <-events:
			switch ev.(type) {
			case session.Stopped, session.Ended:
				return ev
			}
		case <-limit:
			t.Log("a step has not ended in 20 s")
			if err := s.Pause(); err != nil {
				t.Fatal(err)
			}
			limit = nil
		}
	}
}
