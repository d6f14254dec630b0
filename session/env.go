package session

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"dbg/arch"
	"dbg/eval"
	"dbg/symbols"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
	"dbg/symbols/types"
	"dbg/target"
)

// env is the environment of a user's expression: one frame of one thread. It lives for one
// evaluation.
type env struct {
	s      *Session
	thread target.ThreadID
	level  int

	local   bool   // the expression has used the frame: a variable of it, or a register
	frame   *Frame // nil if there is none; then only globals and constants have values
	framed  bool
	visible []*symbols.Variable
	listed  bool

	viewed Value // the value that was last asked for its view
	view   eval.View

	reserved uint64 // bytes below the red zone that Allocate has given away
}

var _ eval.Env = (*env)(nil)

func (s *Session) env(t target.ThreadID, level int) *env {
	return &env{s: s, thread: t, level: level}
}

// View implements eval.Viewer. A value's text, its number of children and the children are asked for one
// after the other.
func (e *env) View(v Value) eval.View {
	if v.HasAddr && e.viewed.HasAddr && e.viewed.Addr == v.Addr && e.viewed.Type == v.Type {
		return e.view
	}
	e.viewed, e.view = v, e.s.views.View(v, e)
	return e.view
}

// at returns the frame, or nil.
func (e *env) at() *Frame {
	if !e.framed {
		e.framed = true
		if e.s.needStopped() == nil {
			if f, err := e.s.frame(e.thread, e.level); err == nil {
				e.frame = &f
			}
		}
	}
	return e.frame
}

func (e *env) Arch() *arch.Arch {
	if e.s.tgt != nil {
		return e.s.tgt.Arch()
	}
	if e.s.exeFile != nil && e.s.exeFile.File().Arch() != nil {
		return e.s.exeFile.File().Arch()
	}
	return arch.AMD64
}

// ReadMemory reads the process or, before it runs, the contents of its file.
func (e *env) ReadMemory(a target.Addr, buf []byte) (int, error) { return e.s.readMemory(a, buf) }

func (e *env) WriteMemory(a target.Addr, data []byte) (int, error) {
	if err := e.s.needProcess(); err != nil {
		return 0, err
	}
	e.viewed = Value{}
	n, err := e.s.tgt.WriteMemory(a, data)
	e.s.changed()
	return n, err
}

// changed drops cached results that were derived from memory and registers.
func (s *Session) changed() {
	fresh := s.cache.threadsFresh
	s.dropCache()
	s.cache.threadsFresh = fresh
}

// Language returns the language of the selected frame's function. It determines the format of a
// comparison's result.
func (e *env) Language() lang.Lang {
	if e.s.language != lang.Unknown {
		return e.s.language
	}
	if f := e.at(); f != nil && f.Function != nil {
		return f.Function.Lang
	}
	return lang.Unknown
}

// variables lists the visible variables of the frame, the outermost first.
func (e *env) variables() []*symbols.Variable {
	if !e.listed {
		e.listed = true
		if f := e.at(); f != nil {
			e.visible = e.s.variablesOf(f)
		}
	}
	return e.visible
}

// Variable finds a name: in the frame, then in the frame's file, then in all files.
func (e *env) Variable(name string) (Value, error) {
	name, global := strings.CutPrefix(name, "::")
	vars := e.variables()
	for i := len(vars) - 1; i >= 0 && !global; i-- {
		if vars[i].Name == name {
			e.local = true
			return e.s.readVariable(vars[i], e.at(), e.thread), nil
		}
	}
	for i := len(vars) - 1; i >= 0 && !global; i-- {
		if vars[i].Name == "&"+name { // a variable of Go in the heap: its address is known
			e.local = true
			return eval.Pointed(e.s.readVariable(vars[i], e.at(), e.thread), name, e)
		}
	}
	if name == "this" && e.Language() == lang.CPlusPlus {
		return Value{}, &eval.NotFoundError{Name: name} // never a global: no need to search for one
	}
	if !global && e.memberOfThis(name) {
		return Value{}, &eval.NotFoundError{Name: name} // eval looks in the object first
	}
	list := e.s.searchList()
	if f := e.at(); f != nil && f.Module != nil && f.Module.Symbols != nil {
		list = append([]searched{{f.Module.Symbols, f.Module}}, list...)
	}
	for _, f := range list {
		if gs := f.sym.Global(name); len(gs) > 0 {
			return e.s.readGlobal(gs[0], f, e.thread), nil
		}
		for _, fn := range f.sym.FunctionsByName(name) {
			if fn.Hi == 0 && fn.Lo == 0 {
				continue
			}
			v := eval.FunctionValue(fn.Name, target.Addr(fn.Lo), f.sym.FunctionType(fn))
			if f.mod != nil {
				v.Addr = f.mod.processAddr(fn.Lo)
			}
			return v, nil
		}
	}
	for _, f := range list {
		if t, n, ok := f.sym.Enumerator(name); ok {
			return eval.Constant(t, n, e.Arch()), nil
		}
	}
	for _, f := range e.s.searchList() { // the program's own, or its copy, comes first
		if a, ok := f.sym.LinkageAddr(name); ok {
			t := e.declaredType(name, list)
			if t == nil {
				return Value{}, fmt.Errorf("'%s' has unknown type; cast it to its declared type", name)
			}
			at := target.Addr(a)
			if f.mod != nil {
				at = f.mod.processAddr(a)
			}
			return eval.At(t, name, at, e), nil
		}
	}
	if v, ok, err := e.qualifiedVariable(name); ok {
		return v, err
	}
	if full := e.inPackage(name); full != "" {
		if v, err := e.Variable(full); err == nil {
			return v, nil
		}
	}
	return Value{}, &eval.NotFoundError{Name: name}
}

// inPackage returns a name of Go with the package of the frame's function, in which it needs none. It
// returns "" in other languages, and for a name that has a package.
func (e *env) inPackage(name string) string {
	f := e.at()
	if e.Language() != lang.Go || f == nil || f.Function == nil || strings.ContainsAny(name, ".:/&") {
		return ""
	}
	path, last := "", f.Function.Name
	if i := strings.LastIndexByte(last, '/'); i >= 0 {
		path, last = last[:i+1], last[i+1:]
	}
	pkg, _, ok := strings.Cut(last, ".")
	if !ok {
		return ""
	}
	return path + pkg + "." + name
}

// declaredType returns the type of a variable that is only declared in the debug information, as
// programs declare variables of the C library. It returns nil if there is no declaration.
func (e *env) declaredType(name string, list []searched) *types.Type {
	if f := e.at(); f != nil && f.Module != nil && f.Module.Symbols != nil {
		if t := f.Module.Symbols.DeclaredType(name, f.lookup); t != nil {
			return t
		}
	}
	for _, f := range list {
		if t := f.sym.DeclaredType(name, 0); t != nil {
			return t
		}
	}
	return nil
}

// memberOfThis reports whether the frame's function is a method of a class that has a member with
// that name: the member hides all globals.
func (e *env) memberOfThis(name string) bool {
	for _, v := range e.variables() {
		if v.Name == "this" && v.Type != nil {
			if class := v.Type.Strip().Elem(); class != nil {
				return hasMember(class.Strip(), name, 0)
			}
		}
	}
	return false
}

// hasMember searches a class, its anonymous members and its bases.
func hasMember(t *types.Type, name string, depth int) bool {
	if depth > 32 {
		return false
	}
	for _, f := range t.Fields() {
		if f.Name == name || (f.Base || f.Name == "") && f.Type != nil && hasMember(f.Type.Strip(), name, depth+1) {
			return true
		}
	}
	return false
}

// readVariable reads a variable of a frame.
func (s *Session) readVariable(v *symbols.Variable, f *Frame, t target.ThreadID) Value {
	fc := s.frameContext(f, t, 0)
	if f.Machine.Index > 0 && f.Machine.PCIsReturnAddress && !f.TailCall && v.SurvivesCall(f.lookup) {
		s.addSurvivors(fc, f, t)
	}
	return eval.ReadVariable(v, fc)
}

// readGlobal reads a variable that does not belong to a frame.
func (s *Session) readGlobal(v *symbols.Variable, in searched, t target.ThreadID) Value {
	fc := &eval.FrameContext{Mem: memoryFunc(s.readMemory), Arch: s.archOrDefault()}
	if in.mod != nil {
		fc.Bias = in.mod.Bias
		fc.Regs = &arch.Registers{Arch: fc.Arch}
		fc.TLS = s.tlsOf(in.mod, t)
	}
	if at, ok := s.copyOf(v, in); ok {
		return eval.At(v.Type, v.Name, at, fc.Mem)
	}
	return eval.ReadVariable(v, fc)
}

// copyOf returns the address of the program's own copy of a library's variable. If there is a copy,
// all files use it.
func (s *Session) copyOf(v *symbols.Variable, in searched) (target.Addr, bool) {
	exe := s.programFile()
	if exe.sym == nil || exe.sym == in.sym {
		return 0, false
	}
	a, ok := exe.sym.Copied(v.Linkage())
	if !ok || exe.mod == nil {
		return target.Addr(a), ok
	}
	return exe.mod.processAddr(a), true
}

// programFile returns the program's own file, or the zero value if it is unavailable.
func (s *Session) programFile() searched {
	if s.tgt == nil {
		return searched{sym: s.exeFile}
	}
	if m := s.exeModule(); m != nil {
		return searched{m.Symbols, m}
	}
	return searched{}
}

type memoryFunc func(target.Addr, []byte) (int, error)

func (m memoryFunc) ReadMemory(a target.Addr, buf []byte) (int, error) { return m(a, buf) }

func (s *Session) archOrDefault() *arch.Arch { return s.env(0, 0).Arch() }

func (e *env) Register(name string) (Value, error) {
	f := e.at()
	if f == nil {
		return Value{}, &eval.NotFoundError{Name: "$" + name}
	}
	if e.Arch() == arch.AMD64 && eval.IsXSaveRegister(name) {
		return eval.XSaveRegister(name, e.xsaveArea(f))
	}
	var wide func(arch.Reg) ([]byte, error)
	if f.Machine.Index == 0 {
		wide = func(r arch.Reg) ([]byte, error) { return e.s.tgt.WideRegister(e.thread, r) }
	}
	return eval.RegisterByName(name, e.Arch(), &f.Machine.Regs, wide)
}

func (e *env) SetRegister(name string, v uint64) error {
	f := e.at()
	if f == nil {
		return target.ErrNotRunning
	}
	r, full, ok := eval.RegisterUpdate(name, v, e.Arch(), &f.Machine.Regs)
	if !ok {
		return fmt.Errorf("register %s can't be changed", name)
	}
	return e.SetFrameRegister(r, full)
}

// SetRegisterPart writes to a thread's vector or x87 register. No call preserves these, so the callers
// of the innermost frame have none.
func (e *env) SetRegisterPart(r arch.Reg, off int, data []byte) error {
	if err := e.s.needProcess(); err != nil {
		return err
	}
	f := e.at()
	if f == nil {
		return target.ErrNotRunning
	}
	name := e.Arch().RegName(r)
	if f.Machine.Index != 0 || f.outside {
		return fmt.Errorf("register %s is not saved in this frame, so it can't be changed", name)
	}
	st, err := e.s.proc.SaveState(e.thread)
	if err != nil {
		return err
	}
	if !st.SetPart(r, off, data) {
		return fmt.Errorf("register %s can't be changed", name)
	}
	defer e.s.changed()
	return e.s.proc.RestoreState(e.thread, st)
}

// SetFrameRegister writes the register where the frame keeps it: in memory if an inner frame saved
// it, otherwise in the thread's own register.
func (e *env) SetFrameRegister(r arch.Reg, v uint64) error {
	if err := e.s.needProcess(); err != nil {
		return err
	}
	f := e.at()
	if f == nil {
		return target.ErrNotRunning
	}
	defer e.s.changed()
	switch place, at := f.Machine.Where(r); {
	case f.outside:
		return errors.New("a function called from dbg is on the stack above this frame; its registers can't be changed")
	case f.Machine.Index == 0 || place == placeLive:
		return e.s.tgt.SetRegister(e.thread, r, v)
	case place == placeMemory:
		buf := make([]byte, e.Arch().PtrSize)
		if len(buf) == 4 {
			e.Arch().ByteOrder.PutUint32(buf, uint32(v))
		} else {
			e.Arch().ByteOrder.PutUint64(buf, v)
		}
		_, err := e.s.tgt.WriteMemory(at, buf)
		return err
	}
	return fmt.Errorf("register %s is not saved in this frame, so it can't be changed", e.Arch().RegName(r))
}

// Type finds a type, first in the frame's file.
func (e *env) Type(name string) *types.Type {
	if f := e.at(); f != nil && f.Module != nil && f.Module.Symbols != nil {
		if t := f.Module.Symbols.Type(name); t != nil {
			return t
		}
	}
	for _, f := range e.s.searchList() {
		if t := f.sym.Type(name); t != nil {
			return t
		}
	}
	return nil
}

// GoType finds the debug information for a Go type descriptor at an address.
func (e *env) GoType(a target.Addr) (*types.Type, uint8) {
	if e.s.tgt == nil {
		if e.s.exeFile == nil {
			return nil, 0
		}
		return e.s.exeFile.GoType(imageAddr(uint64(a)))
	}
	if m := e.s.modules.holder(a); m != nil && m.Symbols != nil {
		return m.Symbols.GoType(m.fileAddr(a))
	}
	return nil, 0
}

// RustType finds the type of the trait objects with a vtable at an address. Views use it.
func (e *env) RustType(vtable target.Addr) *types.Type {
	if e.s.tgt == nil {
		return nil
	}
	if m := e.s.modules.holder(vtable); m != nil && m.Symbols != nil {
		return m.Symbols.RustType(m.fileAddr(vtable))
	}
	return nil
}

// RustVersion returns x of the compiler rustc 1.x that has made the program; 0 if it is not known.
func (e *env) RustVersion() int {
	if e.s.exeFile == nil {
		return 0
	}
	return e.s.exeFile.RustVersion()
}

// Symbolize returns the symbol at an address. A C++ function has its parameters, as in gdb's
// values.
func (e *env) Symbolize(a target.Addr) (string, uint64, bool) {
	name, off, ok := e.s.symbolize(a)
	if ok && e.s.tgt != nil {
		if m := e.s.modules.holder(a); m != nil && m.Symbols != nil {
			if full := m.Symbols.Signature(m.fileAddr(a - target.Addr(off))); full != "" {
				name = full
			}
		}
	}
	return name, off, ok
}

func (e *env) SetConvenience(name string, v Value) { e.s.vars[name] = v }

func (e *env) History(n int, relative bool) (Value, bool) {
	if relative {
		n = len(e.s.history) - n
	}
	if n < 1 || n > len(e.s.history) {
		return Value{}, false
	}
	return e.s.history[n-1], true
}

// Evaluate evaluates an expression in a frame. It does not add the value to the history.
func (s *Session) Evaluate(t target.ThreadID, level int, text string) (Value, error) {
	return ask(s, func() (Value, error) {
		e := s.env(t, level)
		v, err := eval.Evaluate(text, e)
		return v, e.suggest(err)
	})
}

// Truth evaluates a condition in a frame.
func (s *Session) Truth(t target.ThreadID, level int, text string) (bool, error) {
	return ask(s, func() (bool, error) {
		e := s.env(t, level)
		v, err := eval.Evaluate(text, e)
		if err != nil {
			return false, err
		}
		return eval.Truth(v, e)
	})
}

// Print evaluates an expression in the selected frame, and adds the value to the history under the
// number that it returns. A void value is not added; its number is 0.
//
// The result of a function without one is a value of type void.
func (s *Session) Print(text string) (Value, int, error) { return s.print(text, true) }

// Call is Print, but a value of type void is not kept: n is 0.
func (s *Session) Call(text string) (Value, int, error) { return s.print(text, false) }

func (s *Session) print(text string, void bool) (Value, int, error) {
	n := 0
	v, err := ask(s, func() (Value, error) {
		e := s.env(s.selected, s.level)
		v, err := eval.Evaluate(text, e)
		if err != nil {
			return v, e.suggest(err)
		}
		if void || v.Type != nil && v.Type.Strip().Kind != types.Void {
			n = s.keep(v, e)
		}
		return v, nil
	})
	return v, n, err
}

// keep adds a value to the history and returns its number.
func (s *Session) keep(v Value, e *env) int {
	s.history = append(s.history, eval.Fetch(v, e))
	return len(s.history)
}

// KeepValue adds a value to the history, as $N, and returns N.
func (s *Session) KeepValue(v Value) int {
	n := 0
	s.do(func() { n = s.keep(v, s.env(s.selected, s.level)) })
	return n
}

// Children returns the parts of a value: members, elements, or the target of a pointer. A count of
// 0 means all, up to eval's limit.
func (s *Session) Children(t target.ThreadID, level int, v Value, start, count int) ([]Value, error) {
	return ask(s, func() ([]Value, error) { return eval.Children(v, s.env(t, level), start, count) })
}

// NumChildren returns the number of parts of a value.
func (s *Session) NumChildren(t target.ThreadID, level int, v Value) int {
	n := 0
	s.do(func() { n = eval.NumChildren(v, s.env(t, level)) })
	return n
}

// FormatIn formats a value in a frame.
func (s *Session) FormatIn(t target.ThreadID, level int, v Value, opt eval.Options) string {
	out, _ := ask(s, func() (string, error) { return eval.Format(v, s.env(t, level), opt), nil })
	return out
}

// Variables reads the variables of a frame: its parameters, its locals, or both.
func (s *Session) Variables(t target.ThreadID, level int, kind ScopeKind) ([]Value, error) {
	return ask(s, func() ([]Value, error) {
		f, err := s.frame(t, level)
		if err != nil {
			return nil, err
		}
		return s.frameVariables(&f, t, kind), nil
	})
}

// frameVariables reads the parameters of a frame, its other variables, or both.
func (s *Session) frameVariables(f *Frame, t target.ThreadID, kind ScopeKind) []Value {
	var out []Value
	if kind == ScopeVariables {
		return append(s.frameVariables(f, t, ScopeArguments), s.frameVariables(f, t, ScopeLocals)...)
	}
	for _, v := range s.variablesOf(f) {
		if v.Param == (kind == ScopeArguments) && v.Name != "" {
			out = append(out, s.readVariable(v, f, t))
		}
	}
	return out
}

// Argument is a parameter in a backtrace.
type Argument struct {
	Name, Value, Type string
	// AtEntry is the value that was passed, or "" if it is unknown or was not requested. Unchanged
	// means that the current value is the same.
	AtEntry   string
	Unchanged bool
}

// String formats the argument as gdb does by default: x=5; x=x@entry=5 if the value is known to be
// the one that was passed; x=<optimized out>, x@entry=5 if only that is known.
func (a Argument) String() string {
	switch {
	case a.AtEntry == "":
		return a.Name + "=" + a.Value
	case a.Unchanged:
		return a.Name + "=" + a.Name + "@entry=" + a.Value
	}
	return a.Name + "=" + a.Value + ", " + a.Name + "@entry=" + a.AtEntry
}

// Arguments returns the parameters of a frame as short text.
func (s *Session) Arguments(t target.ThreadID, f *Frame, opt eval.Options) []Argument {
	out, _ := ask(s, func() ([]Argument, error) { return s.arguments(t, f, opt), nil })
	return out
}

func (s *Session) arguments(t target.ThreadID, f *Frame, opt eval.Options) []Argument {
	var out []Argument
	if s.needStopped() != nil {
		return nil
	}
	e := &env{s: s, thread: t, level: f.Level, frame: f, framed: true}
	opt.Inner = true
	for _, p := range s.variablesOf(f) {
		if !p.Param || p.Name == "" {
			continue
		}
		v := s.readVariable(p, f, t)
		a := Argument{Name: v.Name, Value: eval.Format(v, e, opt), Type: eval.TypeName(v)}
		if old, ok := s.atEntry(p, f, t); ok {
			a.AtEntry = eval.Format(old, e, opt)
			a.Unchanged = v.Avail == eval.Available && old.Avail == eval.Available && bytes.Equal(v.Bytes, old.Bytes)
		}
		out = append(out, a)
	}
	return out
}

// Assign stores the value of an expression in a variable, or in a part of one, from Variables or
// Children.
func (s *Session) Assign(t target.ThreadID, level int, v Value, text string) (Value, error) {
	return ask(s, func() (Value, error) {
		e := s.env(t, level)
		rhs, err := eval.Evaluate(text, e)
		if err != nil {
			return Value{}, err
		}
		return eval.Assign(v, rhs, e)
	})
}

// ParseAddress evaluates an expression in the selected frame to an address.
func (s *Session) ParseAddress(text string) (target.Addr, error) {
	return ask(s, func() (target.Addr, error) {
		e := s.env(s.selected, s.level)
		v, err := eval.Evaluate(text, e)
		if err != nil {
			return 0, err
		}
		return eval.AddressOf(v, e)
	})
}

// qualifiedVariable finds what gdb writes f::local and 'file.c'::global: a variable of the innermost
// frame of a function, and a global variable or a function that a file defines. ok is false if the part
// before the last "::" names neither.
func (e *env) qualifiedVariable(name string) (v Value, ok bool, err error) {
	scope, local := scopeAndName(name)
	if scope == "" {
		return Value{}, false, nil
	}
	if strings.ContainsAny(scope, "./") {
		for _, in := range e.s.searchList() {
			for _, g := range in.sym.Global(local) {
				if file := g.File(); file != "" && pathEndsIn(file, scope) {
					return e.s.readGlobal(g, in, e.thread), true, nil
				}
			}
			for _, fn := range in.sym.FunctionsByName(local) {
				if pathEndsIn(fn.File, scope) && fn.Hi != 0 {
					v := eval.FunctionValue(fn.Name, target.Addr(fn.Lo), in.sym.FunctionType(fn))
					if in.mod != nil {
						v.Addr = in.mod.processAddr(fn.Lo)
					}
					return v, true, nil
				}
			}
		}
		return Value{}, false, nil
	}
	if e.s.needStopped() != nil {
		return Value{}, false, nil
	}
	known := false
	for _, in := range e.s.searchList() {
		known = known || len(in.sym.FunctionsByName(scope)) > 0
	}
	if !known {
		return Value{}, false, nil
	}
	const most = 10_000 // frames
	for level := e.level; level < e.level+most; level++ {
		f, err := e.s.frame(e.thread, level)
		if err != nil {
			break
		}
		if f.Function == nil || f.Function.Name != scope {
			continue
		}
		in := e.s.env(e.thread, level)
		vars := in.variables()
		for i := len(vars) - 1; i >= 0; i-- {
			if vars[i].Name == local {
				e.local = true
				return e.s.readVariable(vars[i], in.at(), e.thread), true, nil
			}
		}
		return Value{}, true, fmt.Errorf("No symbol \"%s\" in function \"%s\".", local, scope) //lint:ignore ST1005 gdb's words
	}
	return Value{}, true, fmt.Errorf("No frame is currently executing in block %s.", scope) //lint:ignore ST1005 gdb's words
}

// scopeAndName splits a name at its last "::" outside of brackets.
func scopeAndName(name string) (scope, last string) {
	parts := spelling.Components(name)
	n := len(parts)
	if n < 2 {
		return "", name
	}
	return strings.Join(parts[:n-1], "::"), parts[n-1]
}

// pathEndsIn reports whether the last components of a path are those of another.
func pathEndsIn(path, end string) bool {
	return path == end || strings.HasSuffix(path, "/"+strings.TrimPrefix(end, "/")) && !strings.HasPrefix(end, "/")
}
