package session

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dbg/symbols"
	"dbg/target"
)

// NoLocationError means that a breakpoint has no place: the function or the line does not exist in
// the loaded files.
type NoLocationError struct{ What string }

func (e *NoLocationError) Error() string { return e.What }

// ParseBreakpoint parses the arguments of gdb's break command: LOCATION [thread N] [if CONDITION].
// LOCATION is FUNCTION, LINE, FILE:LINE, FILE:FUNCTION, +N, -N, *ADDRESS, or empty for the place of
// the selected frame.
func (s *Session) ParseBreakpoint(text string) (BreakpointSpec, error) {
	var spec BreakpointSpec
	loc, err := s.parseQualifiers(&spec, text)
	if err != nil {
		return spec, err
	}
	spec.LocationSpec, err = s.ParseLocation(loc)
	return spec, err
}

// ParseWatch parses what follows "watch": an expression, perhaps with a thread and a condition. spec.Watch
// gets the expression.
func (s *Session) ParseWatch(spec *BreakpointSpec, text string) (err error) {
	spec.Watch.Expr, err = s.parseQualifiers(spec, text)
	spec.Text = spec.Watch.Expr
	return err
}

// parseQualifiers removes "thread N" and "if CONDITION" from the end of text, and returns the rest.
func (s *Session) parseQualifiers(spec *BreakpointSpec, text string) (string, error) {
	loc := strings.TrimSpace(text)
	if i := keyword(loc, "if"); i >= 0 {
		spec.Condition = strings.TrimSpace(loc[i+2:])
		if spec.Condition == "" {
			return "", errors.New("a condition must follow \"if\"")
		}
		loc = strings.TrimSpace(loc[:i])
	}
	if i := keyword(loc, "thread"); i >= 0 {
		n, err := strconv.Atoi(strings.TrimSpace(loc[i+len("thread"):]))
		if err != nil {
			return "", errors.New("a thread number must follow \"thread\"")
		}
		id, ok := s.threadByNumber(n)
		if !ok {
			return "", fmt.Errorf("Unknown thread %d.", n) //lint:ignore ST1005 gdb's words, shown as they are
		}
		spec.Thread = id
		loc = strings.TrimSpace(loc[:i])
	}
	return loc, nil
}

// keyword returns the index of a separate word in text, or -1.
func keyword(text, word string) int {
	for i := 0; ; {
		j := strings.Index(text[i:], word)
		if j < 0 {
			return -1
		}
		j += i
		before := j == 0 || text[j-1] == ' ' || text[j-1] == '\t'
		end := j + len(word)
		after := end == len(text) || text[end] == ' ' || text[end] == '\t' || text[end] == '('
		if before && after {
			return j
		}
		i = end
	}
}

// ParseLocation parses a location.
func (s *Session) ParseLocation(text string) (LocationSpec, error) {
	return ask(s, func() (LocationSpec, error) {
		spec := LocationSpec{Text: text}
		switch {
		case text == "":
			f, err := s.frame(s.selected, s.level)
			if err != nil {
				return spec, errors.New("No default breakpoint address now.") //lint:ignore ST1005 gdb's words
			}
			spec.Addr, spec.HasAddr = f.PC, true
		case text[0] == '*':
			return spec, s.addressLocation(&spec, text[1:])
		case text[0] == '+' || text[0] == '-' || isNumber(text):
			n, err := strconv.Atoi(text)
			if err != nil {
				return spec, fmt.Errorf("malformed line number %q", text)
			}
			file, line, ok := s.defaultLine()
			if !ok {
				return spec, errors.New("No symbol table is loaded.  Use the \"file\" command.") //lint:ignore ST1005 gdb's words
			}
			if text[0] == '+' || text[0] == '-' {
				n += line
			}
			spec.File, spec.Line = file, n
		default:
			// The last single colon separates file and line: C++ names contain "::".
			i := strings.LastIndexByte(text, ':')
			if i > 0 && text[i-1] != ':' && i+1 < len(text) {
				rest := text[i+1:]
				spec.File = text[:i]
				if isNumber(rest) {
					n, err := strconv.Atoi(rest)
					if err != nil || n == 0 {
						return spec, fmt.Errorf("malformed line number %q", rest)
					}
					spec.Line = n
				} else {
					spec.Function = rest
				}
				return spec, nil
			}
			spec.Function = text
		}
		return spec, nil
	})
}

func isNumber(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// defaultLine returns the line to which a bare number refers: that of the selected frame, else that
// of main.
func (s *Session) defaultLine() (string, int, bool) {
	if f, err := s.frame(s.selected, s.level); err == nil && f.HasSource() {
		return f.Position.File, f.Position.Line, true
	}
	if s.exeFile != nil {
		for _, fn := range s.exeFile.FunctionsByName("main") {
			if loc := s.exeFile.AfterPrologue(fn); loc.Line != 0 {
				return loc.File, loc.Line, true
			}
		}
	}
	return "", 0, false
}

func (s *Session) threadByNumber(n int) (target.ThreadID, bool) {
	id, err := ask(s, func() (target.ThreadID, error) {
		for _, t := range s.threads.all {
			if t.Number == n {
				return t.ID, nil
			}
		}
		return 0, target.ErrNoThread
	})
	return id, err == nil
}

// searched is a file in which names are searched, with the module that maps it (nil before the
// program runs).
type searched struct {
	sym *symbols.Module
	mod *Module
}

// searchList returns the files in which names are searched, the main program first.
func (s *Session) searchList() []searched {
	if s.tgt == nil {
		if s.exeFile == nil {
			return nil
		}
		return []searched{{sym: s.exeFile}}
	}
	var out []searched
	exe := s.exeModule()
	if exe != nil && exe.Symbols != nil {
		out = append(out, searched{exe.Symbols, exe})
	}
	for _, m := range s.modules.all {
		if m != exe && m.Symbols != nil {
			out = append(out, searched{m.Symbols, m})
		}
	}
	for _, m := range s.jitModules() {
		out = append(out, searched{m.Symbols, m})
	}
	return out
}

// resolve finds the breakpoint's places in the loaded files. It searches each file once.
func (s *Session) resolve(b *logical) ([]BreakpointPlace, error) {
	spec := &b.Spec
	if b.catch != nil {
		return s.resolveCatch(b)
	}
	if spec.HasAddr {
		return s.resolveAddress(spec)
	}
	list := s.searchList()
	if len(list) == 0 {
		return nil, &NoLocationError{"No symbol table is loaded.  Use the \"file\" command."}
	}
	var out []BreakpointPlace
	for i, f := range list {
		locs, ok := b.found[f.sym]
		if !ok {
			locs = find(f.sym, spec)
			if err := s.cutError(); err != nil {
				return nil, err
			}
			b.found[f.sym] = locs
		}
		for i := range locs {
			p := BreakpointPlace{Addr: target.Addr(locs[i].Addr), Module: f.mod, loc: &locs[i]}
			if f.mod != nil {
				p.Addr = f.mod.processAddr(locs[i].Addr)
				if f.mod.jit != nil && !f.mod.jit.has(p.Addr) {
					continue // the program has not loaded that part of the file
				}
			}
			out = append(out, p)
		}
		// A program has one main, and lines of its own source are not searched in libraries: their
		// debug information may be a thousand times as large.
		if i == 0 && len(out) > 0 && (spec.Function == "main" || spec.Line != 0) {
			break
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if p, ok := s.stub(spec, list); ok {
		return []BreakpointPlace{p}, nil
	}
	switch {
	case spec.Function != "" && spec.File != "":
		return nil, &NoLocationError{fmt.Sprintf("Function \"%s\" not defined in \"%s\".", spec.Function, spec.File)}
	case spec.Function != "":
		return nil, &NoLocationError{fmt.Sprintf("Function \"%s\" not defined.", spec.Function)}
	}
	for _, f := range list {
		if hasSource(f.sym, spec.File) {
			return nil, &NoLocationError{fmt.Sprintf("No line %d in file \"%s\".", spec.Line, filepath.Base(spec.File))}
		}
	}
	return nil, &NoLocationError{fmt.Sprintf("No source file named %s.", spec.File)}
}

// stub finds a PLT entry for a function that is in no loaded file. Before the program runs, a
// library's functions are found only there. When the library is loaded, the function itself is
// found.
func (s *Session) stub(spec *BreakpointSpec, list []searched) (p BreakpointPlace, ok bool) {
	if spec.Function == "" || spec.File != "" {
		return p, false
	}
	for _, f := range list {
		if a, ok := f.sym.StubOf(spec.Function); ok {
			p = BreakpointPlace{Addr: target.Addr(a), Module: f.mod}
			if f.mod != nil {
				p.Addr = f.mod.processAddr(a)
			}
			p.Function, _, _ = s.symbolize(p.Addr)
			return p, true
		}
	}
	return p, false
}

// find searches a location in one file.
func find(m *symbols.Module, spec *BreakpointSpec) []symbols.Location {
	if spec.Line != 0 {
		if !m.HasDebugInfo() {
			return nil
		}
		if spec.Column > 0 {
			return m.LinesAtColumn(spec.File, spec.Line, spec.Column)
		}
		return m.LinesByFile(spec.File, spec.Line)
	}
	list := m.BreakLocations(spec.Function)
	if spec.File == "" {
		return list
	}
	return slices.DeleteFunc(list, func(l symbols.Location) bool {
		l.Describe()
		return l.Function == nil || !sameFile(l.Function.File, spec.File)
	})
}

// sameFile reports whether path ends with the components of want.
func sameFile(path, want string) bool {
	path, want = filepath.Clean(path), filepath.Clean(want)
	return path == want || strings.HasSuffix(path, "/"+strings.TrimPrefix(want, "/"))
}

func hasSource(m *symbols.Module, file string) bool {
	if !m.HasDebugInfo() {
		return false
	}
	for _, f := range m.SourceFiles() {
		if sameFile(f, file) {
			return true
		}
	}
	return false
}

// resolveAll finds the places of all breakpoints again, after the loaded files have changed.
func (s *Session) resolveAll() { s.uncut(s.resolveEach) }

func (s *Session) resolveEach() {
	for _, b := range s.breakpoints.all {
		if b.watch != nil {
			if err := s.rearmWatch(b); err != nil {
				b.Problem = err.Error()
			}
			continue
		}
		before := placesText(b.Places)
		places, err := s.resolve(b)
		b.Problem = ""
		if err != nil {
			b.Problem = err.Error()
		}
		if !b.Enabled {
			b.Places = places
		} else if err := s.place(b, places); err != nil {
			b.Problem = err.Error()
		}
		if placesText(b.Places) != before {
			s.publish(BreakpointChanged{Breakpoint: b.public()})
		}
	}
}

func placesText(p []BreakpointPlace) string {
	var b strings.Builder
	for _, x := range p {
		fmt.Fprintf(&b, "%s ", x.Addr)
	}
	return b.String()
}

// FindLocation returns the places of a location without setting anything.
func (s *Session) FindLocation(spec LocationSpec) ([]BreakpointPlace, error) {
	return ask(s, func() ([]BreakpointPlace, error) {
		b := &logical{Breakpoint: Breakpoint{Spec: BreakpointSpec{LocationSpec: spec}}, found: map[*symbols.Module][]symbols.Location{}}
		places, err := s.resolve(b)
		for i := range places {
			places[i].describe()
		}
		return places, err
	})
}

// BreakpointsAt returns the numbers of the breakpoints at a location: those with a place at one of
// its addresses, or on one of its lines.
func (s *Session) BreakpointsAt(spec LocationSpec) ([]int, error) {
	places, err := s.FindLocation(spec)
	if err != nil {
		return nil, err
	}
	type line struct {
		file string
		line int
	}
	addrs, lines := map[target.Addr]bool{}, map[line]bool{}
	for _, p := range places {
		addrs[p.Addr] = true
		if p.Position.Line != 0 {
			lines[line{p.Position.File, p.Position.Line}] = true
		}
	}
	var out []int
	for _, b := range s.Breakpoints() {
		for _, p := range b.Places {
			if addrs[p.Addr] || lines[line{p.Position.File, p.Position.Line}] {
				out = append(out, b.ID)
				break
			}
		}
	}
	return out, nil
}

// describe sets the function and the position of a place.
func (p *BreakpointPlace) describe() {
	l := p.loc
	if l == nil {
		return
	}
	p.loc = nil
	l.Describe()
	p.Position = l.Position
	if l.Function != nil {
		p.Function = l.Function.Name
	}
}
