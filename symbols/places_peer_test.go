package symbols

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/internal/fixture/bigcpp"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
)

// placesFile is a file whose every address is asked for.
type placesFile struct {
	name string
	all  bool // only in the sweep
	make func(t *testing.T) string
	not  string // peers that do not read such files, or "entries", see TestLookups
}

var placesFiles = []placesFile{
	{"libc", false, func(t *testing.T) string { return libc(t).File().Path() }, ""},
	{"kernel", true, fixture.Kernel, ""},
	{"go-compile", true, func(t *testing.T) string {
		out := filepath.Join(t.TempDir(), "compile")
		command(t, "go", "build", "-o", out, "cmd/compile")
		return out
	}, ""},
	{"rust", false, func(t *testing.T) string { return compile(t, "rustc", "prog.rs", "-g") }, ""},
	{"rust-O", true, func(t *testing.T) string { return compile(t, "rustc", "prog.rs", "-g", "-O") }, ""},
	{"c++-O0", true, bigWith("g++", "-O0"), ""},
	{"c++-O2", false, bigWith("g++", "-O2"), ""},
	{"c++-O2-dwarf4", true, bigWith("g++", "-O2 -gdwarf-4"), ""},
	{"c++-O2-split", true, bigWith("g++", "-O2 -gsplit-dwarf"), "binutils entries"},
	{"c++-O2-dwz", false, after("dwz", "IN", "-o", "OUT"), ""},
	{"c++-O2-zlib", false, after("objcopy", "--compress-debug-sections=zlib", "IN", "OUT"), ""},
	{"c++-O2-zdebug", true, after("objcopy", "--compress-debug-sections=zlib-gnu", "IN", "OUT"), "binutils llvm"},
	{"c++-O2-zstd", false, after("objcopy", "--compress-debug-sections=zstd", "IN", "OUT"), ""},
	{"clang++-O2", true, bigWith("clang++-19", "-O2"), ""},
	{"clang++-O2-zstd", true, bigWith("clang++-19", "-O2 -gz=zstd -fuse-ld=lld-19"), ""},
}

func command(t *testing.T, tool string, args ...string) {
	t.Helper()
	fixture.Need(t, tool)
	if out, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", tool, strings.Join(args, " "), err, out)
	}
}

// bigWith builds the program of many templates, with flags after its own, and keeps it.
func bigWith(cxx, flags string) func(*testing.T) string {
	return func(t *testing.T) string {
		fixture.Need(t, cxx)
		units := 1
		if fixture.All() {
			units = 5
		}
		version, _ := exec.Command(cxx, "--version").Output()
		h := sha256.Sum256(fmt.Append(version, flags, units, bigcpp.Header, bigcpp.Source(1), bigcpp.Main(units)))
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = os.TempDir()
		}
		dir := filepath.Join(cache, "dbg-fixtures", fmt.Sprintf("places-%x", h[:8]))
		done := filepath.Join(dir, "done")
		if path, err := os.ReadFile(done); err == nil {
			return string(path)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		wrapper := filepath.Join(dir, "cxx")
		if err := os.WriteFile(wrapper, []byte("#!/bin/sh\nexec "+cxx+" \"$@\" "+flags+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		path, err := bigcpp.Build(dir, units, wrapper)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(done, []byte(path), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// after makes a file of the program at -O2 with a tool.
func after(tool string, args ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		in, out := bigWith("g++", "-O2")(t), filepath.Join(t.TempDir(), "prog")
		args := slices.Clone(args)
		for i := range args {
			args[i] = strings.NewReplacer("IN", in, "OUT", out).Replace(args[i])
		}
		command(t, tool, args...)
		return out
	}
}

// place is what is said of an address: the chain of calls, the innermost first.
type place struct {
	other [][]string // other names of ours: what the linker calls them
	cols  []int      // of ours, and of llvm's
	Names []string   `json:"names"` // of functions, without parameters and template arguments
	Lines []string   `json:"lines"` // FILE:LINE; gdb has only the first
}

func (p place) String() string { return fmt.Sprint(p.Names, p.Lines) }

// TestPlaces holds function, inlined calls, file and line at random addresses of the
// code against three peers. What differs is told by kind; each is explained in
// docs/files.md, and a kind that is not there fails.
func TestPlaces(t *testing.T) {
	fixture.Need(t, "addr2line", "llvm-symbolizer-19", "gdb")
	for _, f := range placesFiles {
		t.Run(f.name, func(t *testing.T) {
			count := 300
			if fixture.All() {
				count = 10_000
			} else if f.all {
				fixture.Sweep(t)
			}
			path := f.make(t)
			m := load(t, path)
			peerPath := path
			if d := m.DebugFile(); d != nil {
				peerPath = d.Path()
			}
			addrs := randomCode(m, count)
			ours := make([]place, len(addrs))
			for i, a := range addrs {
				ours[i] = placeOf(m.CallsAt(a))
			}
			for _, peer := range []struct {
				name string
				ask  func(*testing.T, string, []image.Addr) []place
			}{{"binutils", binutilsPlaces}, {"llvm", llvmPlaces}, {"gdb", gdbPlaces}} {
				if strings.Contains(f.not, peer.name) {
					t.Logf("%s does not read such files", peer.name)
					continue
				}
				theirs := peer.ask(t, peerPath, addrs)
				again := func(a image.Addr) place { return peer.ask(t, peerPath, []image.Addr{a})[0] }
				comparePlaces(t, peer.name, m, addrs, ours, theirs, again)
			}
		})
	}
}

// randomCode returns addresses of the executable sections, each byte as likely as any
// other, always the same ones.
func randomCode(m *Module, n int) []image.Addr {
	var code []image.Section
	var total uint64
	for _, s := range m.File().Sections() {
		if s.Addr != 0 && s.Size > 0 && m.symbols().IsCode(s.Addr) && (strings.HasPrefix(s.Name, ".text") || s.Name == ".init.text") {
			code = append(code, s)
			total += s.Size
		}
	}
	rnd := rand.New(rand.NewPCG(5, 10_000))
	out := make([]image.Addr, n)
	for i := range out {
		at := rnd.Uint64N(total)
		for _, s := range code {
			if at < s.Size {
				out[i] = s.Addr + image.Addr(at)
				break
			}
			at -= s.Size
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func placeOf(calls []Call) (p place) {
	for _, c := range calls {
		p.Names = append(p.Names, bareName(c.Function.Name))
		p.other = append(p.other, []string{c.Function.Linkage, bareName(spelling.Demangle(c.Function.Linkage))})
		p.Lines = append(p.Lines, lineOf(c.Position.File, c.Position.Line))
		p.cols = append(p.cols, c.Position.Column)
	}
	return p
}

// lineOf writes FILE:LINE; a file without a line is not known.
func lineOf(file string, line int) string {
	if line == 0 || file == "" {
		return "?"
	}
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

var (
	cloneSuffix  = regexp.MustCompile(`( \[clone [^\]]*\])+$|(\.(cold|part|constprop|isra|lto_priv|llvm)(\.\d+)*)+$`)
	abiTag       = regexp.MustCompile(`\[abi:[^\]]*\]`)
	closure      = regexp.MustCompile(`\{+closure(_env)?(#\d+)?\}+`)
	rustHash     = regexp.MustCompile(`::h[0-9a-f]{16}$`)
	refQualifier = regexp.MustCompile(`(\))( const)? ?&&?$`)
	// What llvm-symbolizer leaves of Rust's first mangling.
	legacyRust = strings.NewReplacer("_$LT$", "<", "$LT$", "<", "$GT$", ">", "_$u7b$", "{", "$u7b$", "{", "$u7d$", "}", "$u20$", " ", "$u5b$", "[", "$u5d$", "]", "$RF$", "&", "$C$", ",", "vtable.shim", "")
	operator   = regexp.MustCompile(`operator ?(\(\)|\[\]|->\*?|<=>|<<=?|>>=?|[<>]=?|[^\w\s(<]+|[^(<]+)`)
)

// bareName makes the names of several tools one: the last component, without template
// arguments, parameters, ABI tags and suffixes of clones.
func bareName(name string) string {
	if name == "??" {
		return ""
	}
	name = cloneSuffix.ReplaceAllString(spelling.WithoutVersion(legacyRust.Replace(name)), "")
	name = refQualifier.ReplaceAllString(name, "$1")
	name = rustHash.ReplaceAllString(abiTag.ReplaceAllString(name, ""), "")
	name = closure.ReplaceAllString(name, "{closure}")
	if strings.Contains(name, ".(") || !strings.ContainsAny(name, ":(<") {
		return name // Go's methods, and C
	}
	if op := operatorOf(name); op != "" {
		return op
	}
	// What is in brackets is left out, and what follows parameters ("const").
	out, depth := "", 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '(' && strings.HasPrefix(name[i:], "(anonymous namespace)"):
			i += len("(anonymous namespace)") - 1
			out += "?"
		case c == '{' || c == '(' || c == '<' || c == '[':
			if c == '{' && depth == 0 {
				out += "{"
			}
			depth++
		case c == '}' || c == ')' || c == '>' && i > 0 && name[i-1] != '-' || c == ']':
			depth--
		case depth == 0:
			out += name[i : i+1]
		}
	}
	out = strings.TrimSuffix(strings.TrimSpace(out), " const")
	out = strings.TrimRight(out, ":") // Rust's "get::<u64>"
	if i := strings.LastIndex(out, "::"); i >= 0 {
		out = out[i+2:]
	}
	if i := strings.LastIndexByte(out, ' '); i >= 0 {
		out = out[i+1:] // a template's result type
	}
	return out
}

// operatorOf returns the operator that a name ends in: the last that is not within a
// template's arguments or parameters.
func operatorOf(name string) (op string) {
	depth, i := 0, 0
	for _, at := range operator.FindAllStringIndex(name, -1) {
		for ; i < at[0]; i++ {
			switch name[i] {
			case '<', '(', '{':
				depth++
			case '>', ')', '}':
				depth--
			}
		}
		if depth == 0 {
			op = strings.TrimSpace(name[at[0]:at[1]])
			if !unicode.IsLetter(rune(op[len(op)-1])) {
				op = strings.ReplaceAll(op, " ", "") // but "operator new"
			}
			if op == "operator<<" && at[1] < len(name) && (name[at[1]] == '_' || unicode.IsLetter(rune(name[at[1]]))) {
				op = "operator<" // of char: "operator<<char>"
			}
		}
		i = at[1]
	}
	if depth == 0 && strings.HasPrefix(name[i:], ":") {
		return "" // in an operator: a lambda, say
	}
	return op
}

func binutilsPlaces(t *testing.T, path string, addrs []image.Addr) []place {
	return addr2linePlaces(t, path, addrs, "addr2line", "-a", "-i", "-f", "-C", "-e", path)
}

func addr2linePlaces(t *testing.T, path string, addrs []image.Addr, tool string, args ...string) []place {
	t.Helper()
	cmd := exec.Command(tool, args...)
	cmd.Stdin = strings.NewReader(addressList(addrs))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split("\n"+strings.TrimSpace(string(out)), "\n0x")[1:]
	if len(blocks) != len(addrs) {
		t.Fatalf("%s answered %d of %d", tool, len(blocks), len(addrs))
	}
	places := make([]place, len(addrs))
	for i, block := range blocks {
		lines := strings.Split(block, "\n")[1:]
		for j := 0; j+1 < len(lines); j += 2 {
			places[i].Names = append(places[i].Names, bareName(lines[j]))
			file, line, _ := cutLast(cleanLine(lines[j+1]), ":")
			n, _ := strconv.Atoi(line)
			places[i].Lines = append(places[i].Lines, lineOf(file, n))
		}
	}
	return places
}

func llvmPlaces(t *testing.T, path string, addrs []image.Addr) []place {
	t.Helper()
	cmd := exec.Command("llvm-symbolizer-19", "--inlines", "--demangle", "--output-style=JSON", "--obj="+path)
	cmd.Stdin = strings.NewReader(addressList(addrs))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(out)))
	places := make([]place, len(addrs))
	for i := range places {
		var one struct {
			Symbol []struct {
				FunctionName, FileName string
				Line, Column           int
			}
		}
		if err := d.Decode(&one); err != nil {
			t.Fatalf("llvm-symbolizer-19: answer %d of %d: %v", i, len(addrs), err)
		}
		for _, s := range one.Symbol {
			places[i].Names = append(places[i].Names, bareName(s.FunctionName))
			places[i].Lines = append(places[i].Lines, lineOf(s.FileName, s.Line))
			places[i].cols = append(places[i].cols, s.Column)
		}
	}
	return places
}

// cutLast cuts at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func addressList(addrs []image.Addr) string {
	var in strings.Builder
	for _, a := range addrs {
		fmt.Fprintf(&in, "%v\n", a)
	}
	return in.String()
}

// gdbScript writes for each address the functions of the blocks around it and the line.
const gdbScript = `
import gdb, json
for a in open(ADDRS):
    pc = int(a, 16)
    names = []
    b = gdb.block_for_pc(pc)
    while b is not None and not b.is_static and not b.is_global:
        if b.function is not None:
            names.append(b.function.name)
        b = b.superblock
    s = gdb.find_pc_line(pc)
    line = "%s:%d" % (s.symtab.filename if s.symtab else "", s.line)
    print("@" + json.dumps({"names": names, "lines": [line]}))
`

func gdbPlaces(t *testing.T, path string, addrs []image.Addr) []place {
	t.Helper()
	dir := t.TempDir()
	list, script := filepath.Join(dir, "addrs"), filepath.Join(dir, "places.py")
	for name, text := range map[string]string{list: addressList(addrs), script: fmt.Sprintf("ADDRS = %q\n%s", list, gdbScript)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("gdb", "-nx", "-q", "-batch", "-ex", "set debuginfod enabled off", "-ex", "set width 0", "-ex", "file "+path, "-x", script).Output()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	var places []place
	for _, line := range strings.Split(string(out), "\n") {
		text, ok := strings.CutPrefix(line, "@")
		if !ok {
			continue
		}
		var p place
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		for i := range p.Names {
			p.Names[i] = bareName(p.Names[i])
		}
		for i := range p.Lines {
			file, line, _ := cutLast(p.Lines[i], ":")
			n, _ := strconv.Atoi(line)
			p.Lines[i] = lineOf(file, n)
		}
		places = append(places, p)
	}
	if len(places) != len(addrs) {
		t.Fatalf("gdb answered %d of %d", len(places), len(addrs))
	}
	return places
}

func comparePlaces(t *testing.T, peer string, m *Module, addrs []image.Addr, ours, theirs []place, again func(image.Addr) place) {
	t.Helper()
	symbols := map[string][]image.Addr{}
	for _, s := range m.files.SymbolFile().Symbols() {
		for _, name := range []string{bareName(spelling.WithoutVersion(s.Name)), bareName(spelling.Demangle(spelling.WithoutVersion(s.Name)))} {
			symbols[name] = append(symbols[name], s.Addr)
		}
	}
	kinds := map[string][]string{}
	same := 0
	for i, a := range addrs {
		// Of several symbols of the function proper any is right.
		if n, o := len(theirs[i].Names), len(ours[i].Names); n > 0 && o > 0 && theirs[i].Names[n-1] != ours[i].Names[o-1] {
			if f := m.FunctionAt(a); f != nil && slices.Contains(symbols[theirs[i].Names[n-1]], f.Lo) {
				theirs[i].Names[n-1] = ours[i].Names[o-1]
			}
		}
		k := explain(m, peer, a, ours[i], theirs[i])
		if strings.HasPrefix(k, "!") && len(theirs[i].Lines) > 0 && theirs[i].Lines[0] == "?" && !strings.HasPrefix(explain(m, peer, a, ours[i], again(a)), "!") {
			k = "asked alone it answers"
		}
		if k == "" {
			same++
			continue
		}
		kinds[k] = append(kinds[k], fmt.Sprintf("%v:\n    ours %v\n    %s %v", a, ours[i], peer, theirs[i]))
	}
	t.Logf("%s: %d addresses, %d the same", peer, len(addrs), same)
	for k, list := range kinds {
		if strings.HasPrefix(k, "!") {
			t.Errorf("%s: %s: %d, such as\n  %s", peer, k, len(list), strings.Join(list[:min(20, len(list))], "\n  "))
			continue
		}
		t.Logf("%s: %s: %d, such as\n  %s", peer, k, len(list), strings.Join(list[:min(3, len(list))], "\n  "))
	}
}

// explain says in what two answers differ, "" if in nothing. What begins with "!" is not
// explained by anything that is known of a peer.
func explain(m *Module, peer string, a image.Addr, ours, theirs place) string {
	line, _ := m.LineAt(a)
	f := m.FunctionAt(a)
	if f == nil {
		// Padding between functions: a peer may have the function before it.
		at := lineOf(line.File, line.Line)
		switch {
		case len(theirs.Lines) == 0 || theirs.Lines[0] == at:
			return ""
		case at == "?" && peer == "binutils":
			return "padding has the line of the function before it"
		case atSameAddress(m, a, theirs.Lines[0], false):
			return "another row of the same address"
		case peer == "binutils" && atSameAddress(m, a, theirs.Lines[0], true):
			return "file 1 of a DWARF 5 table is taken for file 0"
		}
		return "! line of padding, which is for us " + at
	}
	if f.FromSymbolTable {
		if n := len(theirs.Names); peer == "gdb" && n == 0 || n == 1 && theirs.Names[0] == ours.Names[0] {
			return ""
		}
		if !reaches(m, theirs, a) && f.Lo <= a && a < f.Hi {
			return "the symbol that is next below, which does not reach so far, or none"
		}
		return "! symbol"
	}
	n := len(ours.Names)
	switch {
	case len(theirs.Names) > n && peer == "gdb" && slices.Equal(theirs.Names[:n], ours.Names):
		return "a lambda's function is in a block of the function around it"
	case len(theirs.Names) < n && peer == "gdb" && f.Lang == lang.Go && isSubsequence(theirs.Names, ours):
		return "Go: a block overlaps an inlined call"
	case len(theirs.Names) < n && peer == "binutils" && isSubsequence(theirs.Names, ours):
		return "inlined calls are lost"
	case len(theirs.Names) != n:
		return "! depth"
	}
	for i, name := range theirs.Names {
		if name == ours.Names[i] || slices.Contains(ours.other[i], name) {
			continue
		}
		if peer == "binutils" && ours.other[i][0] == "" && name == theirs.Names[n-1] {
			return "an inlined call without a linkage name is named like the function around it"
		}
		if inherits(m, f, ours.other[i][0], i == n-1) {
			return "an inheriting constructor is named after its base"
		}
		return "! names"
	}
	for i := range theirs.Lines {
		if theirs.Lines[i] == ours.Lines[i] {
			continue
		}
		switch {
		case i == 0 && atSameAddress(m, a, theirs.Lines[0], false):
			return "another row of the same address"
		case i == 0 && peer == "binutils" && atSameAddress(m, a, theirs.Lines[0], true):
			return "file 1 of a DWARF 5 table is taken for file 0"
		case i == 0 && peer == "binutils" && inOtherUnit(m, a, theirs.Lines[0]):
			return "file 1 is taken for file 0, in another unit with the same function"
		case i == 0 && ours.Lines[0] == "?" && peer == "gdb":
			return "line 0 is the line before it"
		case peer == "binutils" && f.Lang == lang.Go && theirs.Lines[i] == "?":
			return "no lines of Go"
		case i == 0:
			return "! line"
		}
		return "! line of a call"
	}
	for i := range theirs.cols {
		switch {
		case theirs.cols[i] == ours.cols[i] || ours.Lines[i] == "?":
		case i == 0 && columnAtSameAddress(m, a, theirs.cols[0]):
			return "another row of the same address and line"
		default:
			return fmt.Sprintf("! column %v", i)
		}
	}
	return ""
}

// inOtherUnit reports whether one of several units that have a function at an address, as units
// have whose copy of a template the linker has dropped, has a line there if its file 1 is file 0.
func inOtherUnit(m *Module, a image.Addr, want string) bool {
	units, _ := m.dwarf().Units()
	for _, du := range units {
		if u := m.unit(du); du.Version == 5 && u.functionAt(uint64(a)) != nil {
			seq, _ := du.Files().At(uint64(a))
			for _, r := range seq.Rows {
				if r.File == 1 && lineOf(du.Files().File(0), int(r.Line)) == want {
					return true
				}
			}
		}
	}
	return false
}

// columnAtSameAddress is atSameAddress for a column.
func columnAtSameAddress(m *Module, a image.Addr, want int) bool {
	line, _ := m.LineAt(a)
	u := m.unitAt(a)
	if u == nil {
		return false
	}
	seq, _ := u.dw.Files().At(uint64(a))
	var last uint64
	for _, r := range seq.Rows {
		if r.Addr <= uint64(a) {
			last = r.Addr
		}
	}
	for _, r := range seq.Rows {
		if r.Addr == last && int(r.Line) == line.Line && int(r.Column) == want {
			return true
		}
	}
	return false
}

// reaches reports whether a symbol that a peer names has the address within its size.
func reaches(m *Module, theirs place, a image.Addr) bool {
	for _, s := range m.files.SymbolFile().Symbols() {
		if len(theirs.Names) > 0 && bareName(s.Name) == theirs.Names[0] && s.Addr <= a && uint64(a-s.Addr) < s.Size {
			return true
		}
	}
	return false
}

// inherits reports whether a linkage name, or a symbol of the function proper, is that of an
// inheriting constructor (Itanium C++ ABI, 5.1.4.3: CI1 and CI2; gcc's CI4 is for all kinds).
func inherits(m *Module, f *Function, linkage string, proper bool) bool {
	is := func(s string) bool {
		return strings.Contains(s, "CI1") || strings.Contains(s, "CI2") || strings.Contains(s, "CI4")
	}
	if is(linkage) {
		return true
	}
	for _, s := range m.files.SymbolFile().Symbols() {
		if proper && s.Addr == f.Lo && is(s.Name) {
			return true
		}
	}
	return false
}

// isSubsequence reports whether names are some of ours, in their order.
func isSubsequence(names []string, ours place) bool {
	i := 0
	for _, name := range names {
		for i < len(ours.Names) && ours.Names[i] != name && !slices.Contains(ours.other[i], name) {
			i++
		}
		if i++; i > len(ours.Names) {
			return false
		}
	}
	return true
}

// atSameAddress reports whether the line table has a line in a row at the address of the one that
// is ours; with file0, if its file 1 were file 0.
func atSameAddress(m *Module, a image.Addr, want string, file0 bool) bool {
	u := m.unitAt(a)
	if u == nil {
		return false
	}
	table := u.dw.Files()
	seq, _ := table.At(uint64(a))
	var last uint64
	for _, r := range seq.Rows {
		if r.Addr <= uint64(a) {
			last = r.Addr
		}
	}
	for _, r := range seq.Rows {
		if file0 && r.File == 1 && u.dw.Version == 5 {
			r.File = 0
		}
		if r.Addr == last && lineOf(table.File(uint64(r.File)), int(r.Line)) == want {
			return true
		}
	}
	return false
}
