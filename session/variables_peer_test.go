package session_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/internal/gdbpeer"
	"dbg/session"
)

// The tests of this file hold every variable of every frame against gdb's, at random stops
// in programs of four languages and six compilers. gdb brings the program there and leaves a
// core; dbg reads the core.

var (
	variablesSeed  = flag.Int64("variables.seed", 0, "seed of TestVariablesAgainstGDB; 0 is always the same one, with DBG_ALL a new one each time")
	variablesStops = flag.Int("variables.stops", 0, "stops for each program; 0 is a share of the whole")
	variablesTell  = flag.Bool("variables.tell", false, "print each difference, the explained ones too")
	variablesKeep  = flag.String("variables.keep", "", "a directory for the cores of stops that are different")
)

// variablesPrograms are the programs: source, compiler and flags.
func variablesPrograms() (all []variablesProgram) {
	for _, cc := range []string{"gcc", "clang-19"} {
		for _, o := range []string{"-O0", "-O1", "-O2", "-O3", "-Os", "-Og"} {
			all = append(all, variablesProgram{"c/vars.c", "main", []string{"cc=" + cc, "-g", o, "-w"}})
		}
		all = append(all, variablesProgram{"c/vars.c", "main", []string{"cc=" + cc, "-gdwarf-4", "-O2", "-w"}})
	}
	for _, cc := range []string{"g++", "clang++-19"} {
		for _, o := range []string{"-O0", "-O1", "-O2", "-O3", "-Os", "-Og"} {
			all = append(all, variablesProgram{"c/vars.cc", "main", []string{"cc=" + cc, "-g", o, "-w"}})
		}
	}
	for _, o := range []string{"0", "1", "2", "3", "s"} {
		all = append(all, variablesProgram{"c/vars.rs", "vars::main", []string{"-g", "-C", "opt-level=" + o, "-C", "codegen-units=1"}})
	}
	all = append(all, variablesProgram{"c/vars.go", "main.main", nil}, variablesProgram{"c/vars.go", "main.main", []string{"-gcflags=-N -l"}})
	return all
}

type variablesProgram struct {
	source, start string
	flags         []string
}

// tally counts what came of the comparisons.
type tally struct {
	stops, frames, other                                int // other: frames that are not the same in both
	values, equal, explained, missing, extra, different int
	lines, linesDiffer                                  int

	why map[string]int // what explains how many
}

// explain counts a difference that is meant.
func (a *tally) explain(why string) {
	a.explained++
	if a.why == nil {
		a.why = map[string]int{}
	}
	a.why[why]++
}

func (a *tally) add(b tally) {
	a.stops += b.stops
	a.frames += b.frames
	a.other += b.other
	a.values += b.values
	a.equal += b.equal
	a.explained += b.explained
	a.missing += b.missing
	a.extra += b.extra
	a.different += b.different
	a.lines += b.lines
	a.linesDiffer += b.linesDiffer
	for why, n := range b.why {
		if a.why == nil {
			a.why = map[string]int{}
		}
		a.why[why] += n
	}
}

// inLine counts a difference in a frame's line that is meant.
func (a *tally) inLine(why string) {
	if a.why == nil {
		a.why = map[string]int{}
	}
	a.why["in a line: "+why]++
}

// wrong counts what nothing explains.
func (a *tally) wrong() int { return a.missing + a.extra + a.different + a.linesDiffer }

func (a tally) String() string {
	return fmt.Sprintf("%d stops, %d frames (%d not the same), %d values: %d equal, %d explained, %d only gdb's, %d only dbg's, %d different; %d lines of arguments, %d differ",
		a.stops, a.frames, a.other, a.values, a.equal, a.explained, a.missing, a.extra, a.different, a.lines, a.linesDiffer)
}

func TestVariablesAgainstGDB(t *testing.T) {
	fixture.Need(t, "gdb")
	seed := *variablesSeed
	if seed == 0 {
		if seed = 1; os.Getenv("DBG_ALL") != "" {
			seed = rand.Int64N(1 << 31)
		}
	}
	t.Logf("go test ./session -run TestVariablesAgainstGDB -variables.seed=%d", seed)
	programs := variablesPrograms()
	stops := 2
	if os.Getenv("DBG_ALL") != "" {
		stops = 1000/len(programs) + 1
	}
	if *variablesStops > 0 {
		stops = *variablesStops
	}
	results := make([]tally, len(programs))
	t.Run("programs", func(t *testing.T) {
		for i, p := range programs {
			t.Run(p.source+" "+strings.Join(p.flags, " "), func(t *testing.T) {
				t.Parallel()
				results[i] = compareVariables(t, p, seed+int64(i), stops)
			})
		}
	})
	var sum tally
	for _, r := range results {
		sum.add(r)
	}
	t.Log(sum)
	for _, why := range slices.Sorted(maps.Keys(sum.why)) {
		t.Logf("%5d %s", sum.why[why], why)
	}
}

func compareVariables(t *testing.T, p variablesProgram, seed int64, stops int) (sum tally) {
	exe := fixture.Build(t, p.source, p.flags...)
	t.Log(exe)
	dir := t.TempDir()
	if *variablesKeep != "" {
		dir = filepath.Join(*variablesKeep, filepath.Base(filepath.Dir(exe)))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range gdbpeer.RandomStops(t, exe, p.start, dir, seed, stops, 8) {
		core := filepath.Join(dir, fmt.Sprintf("core.%d", i))
		s, _ := newSession(t)
		if err := s.OpenCore(core, exe); err != nil {
			t.Fatal(err)
		}
		sum.stops++
		before := sum.wrong()
		compareStop(t, s, want, &sum)
		s.Close()
		if *variablesKeep != "" && sum.wrong() > before {
			t.Logf("gdb %s %s", exe, core)
			continue
		}
		os.Remove(core)
	}
	return sum
}

// compareStop compares the frames of the selected thread.
func compareStop(t *testing.T, s *session.Session, want []gdbpeer.Variables, sum *tally) {
	thread, _ := s.Selected()
	bt, err := s.Backtrace(thread, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, w := range want {
		// At the first instruction of an inlined call gdb is still in the caller.
		for i < len(bt.Frames) && bt.Frames[i].TailCall && uint64(bt.Frames[i].PC) != w.PC {
			i++ // dbg knows of more
			sum.other++
		}
		if w.TailCall && (i >= len(bt.Frames) || !bt.Frames[i].TailCall) {
			sum.other++ // or gdb does
			continue
		}
		for i+1 < len(bt.Frames) && bt.Frames[i].Inlined && uint64(bt.Frames[i].PC) == w.PC && !sameFunction(bt.Frames[i].FunctionName, w.Func) {
			i++
			sum.other++
		}
		if i >= len(bt.Frames) || uint64(bt.Frames[i].PC) != w.PC {
			sum.other++
			break // what is further out is not the same
		}
		if i+1 < len(want) && !sameFunction(bt.Frames[i].FunctionName, w.Func) && i > 0 && uint64(bt.Frames[i-1].PC) == w.PC && sameFunction(bt.Frames[i-1].FunctionName, w.Func) {
			sum.other++ // after a step gdb shows an inlined call twice
			continue
		}
		if i > 0 && strings.HasPrefix(bt.Frames[i-1].FunctionName, "runtime.morestack") {
			// It has gone to another stack, of which unwind tables say nothing: what follows is none of its callers.
			sum.other++
			break
		}
		sum.frames++
		where := fmt.Sprintf("pc %#x, frame %d, %s", w.PC, i, w.Func)
		if fn := bt.Frames[i].Function; fn == nil || fn.FromSymbolTable {
			// Debug information knows no such function: a thunk. gdb lists the variables of the file as its locals.
			for range len(w.Args) + len(w.Locals) {
				sum.explain("gdb lists the file's variables as a thunk's")
			}
			sum.values += len(w.Args) + len(w.Locals)
			i++
			continue
		}
		context := newPlace(t, s, bt.Frames, i)
		context.function = w.Func
		for kind, list := range map[session.ScopeKind][]gdbpeer.Variable{session.ScopeArguments: w.Args, session.ScopeLocals: w.Locals} {
			compareLists(t, s, context, kind, list, where, sum)
		}
		compareLine(t, s, context, w.Line, where, sum)
		i++
	}
}

// sameFunction compares names, of which one may have parameters, or the arguments of templates written in another way.
func sameFunction(a, b string) bool { return bareName(a) == bareName(b) }

// bareName is a name without what is between brackets: lambdas::$_0::operator() of lambdas(int)::$_0::operator()(int) const.
func bareName(name string) string {
	name = strings.NewReplacer("operator()", "operator call", "operator<<", "operator shl", "operator<=", "operator le", "operator<", "operator lt",
		"operator->", "operator arrow", "operator>>", "operator shr", "operator>=", "operator ge", "operator>", "operator gt").Replace(name)
	var out strings.Builder
	level := 0
	for _, c := range name {
		switch c {
		case '(', '<':
			level++
		case ')', '>':
			level--
		default:
			if level == 0 {
				out.WriteRune(c)
			}
		}
	}
	return strings.TrimSuffix(out.String(), " const")
}

// place is where values are compared.
type place struct {
	level    int
	outer    bool // an outer frame, of which not all registers are known
	atEntry  bool // at a function's first instruction
	inlined  bool
	function string
	// tail says that the frame is one of a tail call, or was entered by one.
	tail bool
	// viaRegister says that the frame was called through a register that the callee may change.
	viaRegister bool
	number      func(expr string) (uint64, bool) // evaluates in the frame
}

func newPlace(t *testing.T, s *session.Session, frames []session.Frame, i int) *place {
	thread, _ := s.Selected()
	f := &frames[i]
	p := &place{level: i, outer: f.Machine.Index > 0 || f.TailCall, atEntry: i == 0 && f.Offset == 0 && !f.Inlined, inlined: f.Inlined}
	p.tail = f.TailCall || i+1 < len(frames) && frames[i+1].TailCall
	p.number = func(expr string) (uint64, bool) {
		v, err := s.Evaluate(thread, i, expr)
		if err != nil {
			return 0, false
		}
		n, err := strconv.ParseUint(s.FormatIn(thread, i, v, eval.Options{Format: 'u'}), 10, 64)
		return n, err == nil
	}
	for _, caller := range frames[i:] {
		if caller.Machine.Index != f.Machine.Index+1 {
			continue
		}
		// CALL r64 is FF /2; RBX, RSP and RBP are kept by the callee, and so are R12 to R15.
		var b [3]byte
		if _, err := s.ReadMemory(caller.PC-3, b[:]); err == nil && b[1] == 0xff && b[2]&^7 == 0xd0 {
			low := b[2]&7 < 4
			p.viaRegister = low && b[2]&7 != 3 && b[0] != 0x41 || low && b[0] == 0x41 || b[2]&7 > 5 && b[0] != 0x41
		}
		break
	}
	return p
}

// excuse says why a variable of that place may differ; "" if it does not, or if only the values can tell.
func (p *place) excuse(name, got, want string) string {
	switch {
	case got == want:
		return ""
	case p.outer && lostRegister(got, want):
		return "gdb shows what a register has now that the callee may have changed"
	case name == "this" && want == "0x0" && strings.HasPrefix(got, "0x"):
		// No object is at 0.
		return "gdb takes DW_OP_fbreg in the value that a caller passed for the wrong function's"
	case name == "maps" && p.function == "_dl_fini" && got == "<optimized out>":
		return "an array whose length is lost: gdb shows where it begins"
	case p.tail && p.function == "D::~D" && want == "<optimized out>" &&
		(name == "__in_chrg" && got == "2" || name == "__vtt_parm" && got == "0x0" || name == "this" && strings.HasPrefix(got, "0x7fff")):
		// The complete object's destructor jumps to the one that all share with just these.
		return "gdb does not find what a tail call passes"
	case name == "__al" && p.function == "std::__new_allocator<int>::allocate" && got == "<no such variable>" && want == "<optimized out>":
		return "gdb lists what is declared in a block that has no code"
	case want == `""` && strings.HasPrefix(got, `"`) && p.cutLength(name):
		return "gdb takes 32 bits of a string's length"
	case name == "restart" && p.function == "__run_exit_handlers":
		return "a label, which gdb takes for a variable"
	case p.atEntry && known(got) && known(want):
		// DWARF 5 (section 2.6.2) excludes it: what the variable has before that instruction's later views.
		return "gdb takes a range of no length for valid at a function's first instruction"
	}
	return ""
}

// cutLength reports whether a &str is longer than an int of gdb's can say, and is none in its low 32 bits.
func (p *place) cutLength(name string) bool {
	n, ok := p.number(name + ".length")
	return ok && n > 1<<31-1 && int32(n) <= 0
}

func compareLists(t *testing.T, s *session.Session, context *place, kind session.ScopeKind, want []gdbpeer.Variable, where string, sum *tally) {
	level := context.level
	thread, _ := s.Selected()
	values, err := s.Variables(thread, level, kind)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, v := range slices.Backward(values) {
		got[v.Name] = append(got[v.Name], s.FormatIn(thread, level, v, variablesFormat()))
	}
	seen := map[string]bool{}
	for _, w := range want {
		g := "<no such variable>"
		if list := got[w.Name]; len(list) > 0 {
			// Of several of one name in blocks of one another the order is not what is compared.
			at := max(slices.Index(list, w.Value), 0)
			g = list[at]
			got[w.Name] = slices.Delete(list, at, at+1)
		}
		sum.values++
		if why := context.excuse(w.Name, g, w.Value); why != "" {
			sum.explain(why)
		} else if g == "<no such variable>" && w.Value == "<optimized out>" && seen[w.Name] {
			sum.explain("gdb lists it twice")
		} else {
			judge(t, where+", "+w.Name, g, w.Value, sum)
		}
		seen[w.Name] = true
	}
	for name, list := range got {
		for _, g := range list {
			sum.values++
			judge(t, where+", "+name, g, "<no such variable>", sum)
		}
	}
}

func variablesFormat() eval.Options {
	opt := eval.DefaultOptions()
	opt.Inner, opt.Raw = true, true
	return opt
}

// lostRegister reports whether two values differ only in parts of which dbg says that their register is not saved.
func lostRegister(got, want string) bool {
	parts := strings.Split(got, "<not saved>")
	if len(parts) == 1 {
		return false
	}
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	if len(parts) == 2 && parts[0] == "" && parts[1] == "" {
		return true
	}
	return regexp.MustCompile("^" + strings.Join(parts, "[^,{}()]+") + "$").MatchString(want)
}

// judge compares one value.
func judge(t *testing.T, what, got, want string, sum *tally) {
	if got == want {
		sum.equal++
		return
	}
	why := explained(got, want)
	switch {
	case why != "":
		sum.explain(why)
	case known(want) && !known(got):
		sum.missing++
	case known(got) && !known(want):
		sum.extra++
	default:
		sum.different++
	}
	if why == "" {
		t.Errorf("%s\n  dbg: %s\n  gdb: %s", what, got, want)
	} else if *variablesTell {
		t.Logf("%s: %s\n  dbg: %s\n  gdb: %s", what, why, got, want)
	}
}

// known says that the text is of a value that is there.
func known(text string) bool {
	return text != "<optimized out>" && text != "<not saved>" && text != "<synthetic pointer>" && text != "<no such variable>" && !strings.HasPrefix(text, "<error")
}

// explained says why dbg and gdb may differ so: see docs/variables.md.
func explained(got, want string) string {
	for _, e := range explanations {
		if g, w := e.apply(got, want); g == w {
			return e.why
		}
	}
	return ""
}

// explanation is a difference between dbg and gdb that is meant. apply takes it out of both texts.
type explanation struct {
	why   string
	apply func(got, want string) (string, string)
}

var explanations = []explanation{
	{"both say that it can't be read, in other words", func(got, want string) (string, string) {
		if strings.HasPrefix(got, "<error") && strings.HasPrefix(want, "<error") {
			return "", ""
		}
		return unreadable.ReplaceAllString(got, "<invalid address>"), unreadable.ReplaceAllString(want, "<invalid address>")
	}},
	{"nullptr_t has a value", func(got, want string) (string, string) {
		return got, strings.ReplaceAll(want, "np = <incomplete type>", "np = 0x0")
	}},
	{"gdb takes Go's names for Pascal's", func(got, want string) (string, string) {
		return got, goName.ReplaceAllString(want, "$1.$2")
	}},
	{"dbg writes Go's values as Go does", func(got, want string) (string, string) {
		return goValue(got), goValue(goName.ReplaceAllString(want, "$1.$2"))
	}},
	{"dbg shows the elements of Rust's Vec and String", func(got, want string) (string, string) {
		if strings.Contains(want, "alloc::vec::Vec<") && (strings.Contains(got, "Vec(size=") || strings.Contains(got, `"`)) {
			return "", ""
		}
		return got, want
	}},
	{"dbg says how long a Rust slice is", func(got, want string) (string, string) {
		if m := rustSliceWhole.FindStringSubmatch(got); m != nil {
			got = m[1] + " [" + m[2] + "]"
		}
		return rustSliceSize.ReplaceAllString(got, "$1 [$2]"), want
	}},
	{"dbg shows the known parts of a Rust slice", func(got, want string) (string, string) {
		return rustSlice.ReplaceAllString(got, "<lost>"), lostSlice.ReplaceAllString(want, "<lost>")
	}},
	{"gdb takes a discriminant that is lost for zero", func(got, want string) (string, string) {
		if got == "<optimized out>" && rustNone.MatchString(want) {
			return "", ""
		}
		return got, want
	}},
	{"gdb takes the length of a slice that is lost for zero", func(got, want string) (string, string) {
		return lostLength.ReplaceAllString(got, "$1 []"), want
	}},
	{"gdb takes the length of a Go string that is lost for zero", func(got, want string) (string, string) {
		if strings.HasSuffix(got, ", len = <optimized out>}") && goEmpty.MatchString(want) {
			return "", ""
		}
		return got, want
	}},
	{"dbg shows where a reference is that can't be read", func(got, want string) (string, string) {
		if m := brokenReference.FindStringSubmatch(got); m != nil && want == "<error: Cannot access memory at address "+m[1]+">" {
			return "", ""
		}
		return got, want
	}},
	{"clang's pieces end before the value does: gdb takes the rest of a pointer to member for zero", func(got, want string) (string, string) {
		if got == "<optimized out>" && strings.HasPrefix(want, "&virtual ") {
			return "", ""
		}
		return got, want
	}},
	{"gdb reads what a reference refers to that is not there", func(got, want string) (string, string) {
		if strings.HasSuffix(got, "::None") && want == "<error: Cannot access memory at address 0x0>" {
			return "", ""
		}
		return got, want
	}},
	{"the pieces end before the value does: gdb takes the rest of a member for zero, and the next members for pointers without a value", func(got, want string) (string, string) {
		const lost = ", c = <optimized out>, d = <optimized out>}"
		return got, strings.ReplaceAll(pieceEnd.ReplaceAllString(want, lost), "<synthetic pointer>", "<optimized out>")
	}},
	{"the pieces end before the value does: gdb takes the rest of a member for a number, and the next ones for pointers without a value", func(got, want string) (string, string) {
		return got, sipEnd.ReplaceAllString(want, "tail: <optimized out>, ntail: <optimized out>,")
	}},
	{"the pieces end before the imaginary part", func(got, want string) (string, string) {
		if got == "<optimized out>" && realOnly.MatchString(want) {
			return "", ""
		}
		return got, want
	}},
	{"gdb prints a warning of its own into the value", func(got, want string) (string, string) {
		w, _, found := strings.Cut(want, "warning: (Internal error")
		if found && strings.HasPrefix(got, w) {
			return "", ""
		}
		return got, want
	}},
	{"gdb reads a dynamic part of what is optimised out", func(got, want string) (string, string) {
		if got == "<optimized out>" && strings.HasPrefix(want, "<error") {
			return "", ""
		}
		return got, want
	}},
	{"gdb does not read an array that is too large", func(got, want string) (string, string) {
		if strings.HasPrefix(got, "&[i32] {data_ptr: 0x") && strings.HasPrefix(want, "&[i32] <error") && strings.HasSuffix(want, "more than max-value-size>") {
			return "", ""
		}
		if strings.HasSuffix(got, "...}") && tooLarge.MatchString(want) {
			return "", ""
		}
		return got, want
	}},
	{"gdb leaves out the character before an incomplete sequence", func(got, want string) (string, string) {
		return incomplete.ReplaceAllString(got, `", <incomplete sequence`), want
	}},
	{"gdb makes up names for entries of the global offset table", func(got, want string) (string, string) {
		return inGOT.ReplaceAllString(got, ""), gotEntry.ReplaceAllString(want, "")
	}},
	{"gdb writes the arguments of templates anew", func(got, want string) (string, string) {
		return templateArguments(got), templateArguments(want)
	}},
	{"gdb counts the bytes of a string of Go that it shows, dbg the characters", func(got, want string) (string, string) {
		return sameStrings(goValue(spelledOut(got)), goValue(spelledOut(goName.ReplaceAllString(want, "$1.$2"))))
	}},
	{"gdb does not read what is defined in a function of which there are only inlined calls", func(got, want string) (string, string) {
		if guard.MatchString(got) && want == "{<No data fields>}" {
			return "", ""
		}
		return got, want
	}},
	{"gdb names no data by a symbol without a size", func(got, want string) (string, string) {
		return goType.ReplaceAllString(got, ""), want
	}},
}

var (
	unreadable      = regexp.MustCompile(`<error: Cannot access memory at address 0x[0-9a-f]+>`)
	goName          = regexp.MustCompile(`([a-z]+)\[([A-Za-z0-9_.*()]+)\]`)
	goSlice         = regexp.MustCompile(`[\w.*\[\]]+ len: (\d+), cap: (\d+), \[[^\]]*\]|\{array = 0x[0-9a-f]+(?: <[^>]*>)?, len = (\d+), cap = (\d+)\}`)
	goText          = regexp.MustCompile(`0x[0-9a-f]+ (["'])`)
	goFunc          = regexp.MustCompile(`\{(?:func|void) ?\([^{}]*\}`)
	goChar          = regexp.MustCompile(`(\d) '[^']+'`)
	goType          = regexp.MustCompile(` <(?:(?:type|go):|runtime\.gcbits)[a-z.*]+(?:\+\d+)?>`)
	rustSlice       = regexp.MustCompile(`(&(?:mut )?(?:\[[^{]*\]|str)) \{data_ptr: <optimized out>, length: [^}]*\}`)
	rustSliceSize   = regexp.MustCompile(`(&(?:mut )?\[[^{]*\])\(size=\d+\) \{([^}]*)\}`)
	rustNone        = regexp.MustCompile(`^core::option::Option<.*>::None$`)
	brokenReference = regexp.MustCompile(`^@(0x[0-9a-f]+): .*<error: Cannot access memory`)
	rustSliceWhole  = regexp.MustCompile(`^((?:&(?:mut )?|\*mut |\*const )\[[^{]*\])\(size=\d+\) \{(.*)\}$`)
	goEmpty         = regexp.MustCompile(`^0x[0-9a-f]+ ""$`)
	lostSlice       = regexp.MustCompile(`(?:&(?:mut )?\[[^{]*\] )?<error(?: reading variable)?: value has been optimized out>`)
	gotEntry        = regexp.MustCompile(` <[^<>]*(?:<[^<>]*>)*[^<>]*@got(?:[.\[]plt\]?)?>`)
	inGOT           = regexp.MustCompile(` <_GLOBAL_OFFSET_TABLE_\+\d+>`)
	incomplete      = regexp.MustCompile(`(?:\\\d{3}|[^\\])", <incomplete sequence`)
	realOnly        = regexp.MustCompile(`^[-+.0-9e]+ \+ 0i$`)
	lostLength      = regexp.MustCompile(`([&*][a-z ]*\[[^{}]*\]) \{data_ptr: 0x[0-9a-f]+, length: <optimized out>\}`)
	repeated        = regexp.MustCompile(`(", )?'(\\\d{3}|[^'\\])' <repeats (\d+) times>(, "|\.\.\.|)`)
	tooLarge        = regexp.MustCompile(`^<error: value requires \d{6,} bytes, which is more than max-value-size>$`)
	sipEnd          = regexp.MustCompile(`tail: \d+, ntail: <synthetic pointer>,`)
	guard           = regexp.MustCompile(`^\{_M_guarded = 0x[0-9a-f]+\}$`)
	pieceEnd        = regexp.MustCompile(`, c = -?\d+, d = <synthetic pointer>\}$`)
)

// goValue takes out of the text of a value of Go what dbg and gdb write in different ways: gdb writes slices as structures, shows where the text of
// a string is, takes bytes for characters, functions for C's, and puts arrays into braces.
func goValue(text string) string {
	text = goSlice.ReplaceAllString(text, "len $1$3 cap $2$4")
	text = goText.ReplaceAllString(text, "$1")
	text = goFunc.ReplaceAllString(text, "func")
	text = goChar.ReplaceAllString(text, "$1")
	text = goType.ReplaceAllString(text, "")
	return strings.NewReplacer("[", "{", "]", "}").Replace(text)
}

// spelledOut writes repeated characters of strings one by one.
func spelledOut(text string) string {
	text = repeated.ReplaceAllStringFunc(text, func(s string) string {
		m := repeated.FindStringSubmatch(s)
		n, _ := strconv.Atoi(m[3])
		begin, end := `"`, `"`
		if m[1] != "" {
			begin = ""
		}
		if m[4] == `, "` {
			m[4], end = "", ""
		}
		return begin + strings.Repeat(m[2], min(n, 1000)) + end + m[4]
	})
	return text
}

// sameStrings cuts the first string that goes on in both texts to where the shorter ends.
func sameStrings(got, want string) (string, string) {
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	const more = `"...`
	if rest, ok := strings.CutPrefix(want[n:], more); ok {
		if cut, own, ok := strings.Cut(got[n:], more); ok && !strings.Contains(strings.ReplaceAll(cut, `\"`, ""), `"`) {
			return got[:n] + own, want[:n] + rest
		}
	}
	return got, want
}

// templateArguments writes the numbers and pointers between angle brackets as gdb does.
func templateArguments(text string) string {
	return strings.NewReplacer("UL,", "ul,", "UL>", "ul>", " *,", "*,", " *>", "*>").Replace(text)
}

// compareLine compares the arguments as a backtrace shows them: the value, and the one that was passed.
func compareLine(t *testing.T, s *session.Session, context *place, want, where string, sum *tally) {
	thread, _ := s.Selected()
	v, err := s.ViewFrame(thread, context.level, session.ViewOptions{Format: variablesFormat()})
	if err != nil {
		t.Fatal(err)
	}
	if v.Function == nil || v.Function.FromSymbolTable {
		return
	}
	sum.lines++
	theirs, ok := argumentsOf(want, v.Args)
	if !ok && strings.Contains(want, "=warning: (Internal error: ") {
		sum.inLine("gdb prints a warning of its own into it")
		return
	}
	if !ok {
		var args []string
		for _, a := range v.Args {
			args = append(args, a.String())
		}
		sum.linesDiffer++
		t.Errorf("%s, its line\n  dbg: %s\n  gdb: %s", where, strings.Join(args, ", "), want)
		return
	}
	differs := false
	for i, a := range v.Args {
		b := theirs[i]
		whys := []string{context.compare(a.Name, a.Value, b.Value)}
		if a.AtEntry != b.AtEntry {
			whys = append(whys, context.entry(a, b))
		}
		for _, why := range whys {
			switch {
			case why == unexplained:
				t.Errorf("%s, %s in its line\n  dbg: %s\n  gdb: %s", where, a.Name, a, b)
				differs = true
			case why != "":
				sum.inLine(why)
				if *variablesTell {
					t.Logf("%s, %s in its line: %s\n  dbg: %s\n  gdb: %s", where, a.Name, why, a, b)
				}
			}
		}
	}
	if differs {
		sum.linesDiffer++
	}
}

const unexplained = "unexplained"

// compare says why two values differ: "" if they do not.
func (p *place) compare(name, got, want string) string {
	if got == want {
		return ""
	}
	if why := p.excuse(name, got, want); why != "" {
		return why
	}
	if why := explained(got, want); why != "" {
		return why
	}
	return unexplained
}

// entry says why what was passed differs.
func (p *place) entry(got, want session.Argument) string {
	if got.AtEntry != "" && want.AtEntry != "" {
		return p.compare(got.Name, got.AtEntry, want.AtEntry)
	}
	why := p.compare(got.Name, got.Value, want.Value)
	same := why != unexplained
	switch {
	case got.AtEntry == "" && p.inlined:
		return "gdb takes for what an inlined call was passed what the function around it was"
	case got.AtEntry == "" && strings.HasPrefix(want.AtEntry, "<error"):
		return "gdb says that it can't be computed"
	case got.AtEntry == "" && same && p.viaRegister:
		return "gdb takes what a register has now that the callee may have changed for where the call went"
	case want.AtEntry == "" && got.Unchanged && why == "gdb does not find what a tail call passes":
		return why
	case want.AtEntry == "" && got.Unchanged && got.Value == want.Value:
		return "gdb does not find what was passed, which is what it is still"
	}
	return unexplained
}

// argumentsOf takes gdb's arguments out of a frame's line, which has those of the given names; false if it has others.
func argumentsOf(line string, names []session.Argument) (out []session.Argument, ok bool) {
	_, line, ok = strings.Cut(line, " (")
	if len(names) > 0 {
		_, after, found := strings.Cut(line, names[0].Name+"=")
		if line, ok = after, found; !ok {
			return nil, false
		}
	}
	for i, n := range names {
		text := ""
		if i+1 < len(names) {
			text, line, ok = strings.Cut(line, ", "+names[i+1].Name+"=")
		} else if end := strings.LastIndex(line, ") at "); end >= 0 {
			text = line[:end]
		} else {
			ok = false
		}
		if !ok {
			return nil, false
		}
		text = strings.ReplaceAll(text, "<error reading variable: ", "<error: ")
		a := session.Argument{Name: n.Name, Value: text}
		if v, old, found := strings.Cut(text, ", "+n.Name+"@entry="); found {
			a.Value, a.AtEntry = v, old
		} else if v, found := strings.CutPrefix(text, n.Name+"@entry="); found {
			a.Value, a.AtEntry, a.Unchanged = v, v, true
		}
		out = append(out, a)
	}
	return out, ok
}
