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
	"dbg/symbols/types"
	"dbg/target"
)

// env is the world of a user's expression: one frame of one thread. It lives as
// long as one evaluation.
type env struct {
	s      *Session
	thread target.ThreadID
	level  int

	frame   *Frame // nil if there is none: then only globals and constants have a meaning
	framed  bool
	visible []*symbols.Variable
	listed  bool

	reserved uint64 // bytes below the red zone that Allocate has given away
}

var _ eval.Env = (*env)(nil)

func (s *Session) env(t target.ThreadID, level int) *env {
	return &env{s: s, thread: t, level: level}
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

// ReadMemory reads the process, or, before it runs, what its file says.
func (e *env) ReadMemory(a target.Addr, buf []byte) (int, error) { return e.s.readMemory(a, buf) }

func (e *env) WriteMemory(a target.Addr, data []byte) (int, error) {
	if err := e.s.needProcess(); err != nil {
		return 0, err
	}
	n, err := e.s.tgt.WriteMemory(a, data)
	e.s.changed()
	return n, err
}

// changed forgets what was derived from memory and registers.
func (s *Session) changed() {
	fresh := s.cache.threadsFresh
	s.dropCache()
	s.cache.threadsFresh = fresh
}

// Language is that of the selected frame's function: it decides how the result of a
// comparison is written.
func (e *env) Language() lang.Lang {
	if f := e.at(); f != nil && f.Function != nil {
		return f.Function.Lang
	}
	return lang.Unknown
}

// variables lists what is visible in the frame, the outermost first.
func (e *env) variables() []*symbols.Variable {
	if !e.listed {
		e.listed = true
		if f := e.at(); f != nil {
			e.visible = e.s.variablesOf(f)
		}
	}
	return e.visible
}

// Variable finds a name: in the frame, then in the frame's file, then in all.
func (e *env) Variable(name string) (Value, error) {
	name, global := strings.CutPrefix(name, "::")
	vars := e.variables()
	for i := len(vars) - 1; i >= 0 && !global; i-- {
		if vars[i].Name == name {
			return e.s.readVariable(vars[i], e.at(), e.thread), nil
		}
	}
	if name == "this" && e.Language() == lang.CPlusPlus {
		return Value{}, &eval.NotFoundError{Name: name} // never a global: no need to search for one
	}
	if !global && e.memberOfThis(name) {
		return Value{}, &eval.NotFoundError{Name: name} // eval looks there before anything global
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
	for _, f := range e.s.searchList() { // the program's own, or its copy, before a library's
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
	return Value{}, &eval.NotFoundError{Name: name}
}

// declaredType is the type of a variable of which no file has debug information but for its declaration, as programs have of the C
// library's; nil if nobody declares it.
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

// memberOfThis reports whether the frame is a member function's, of a class that has
// a member of that name: it hides everything global.
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

// hasMember looks through a class, its anonymous members and its bases.
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

// readGlobal reads a variable that is in no frame.
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

// copyOf returns where the program has its own copy of a file's variable, which is then the one that all files use.
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

// programFile returns the program's own file; the zero value if it can't be had.
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

// SetFrameRegister writes where the frame keeps the register: in memory if an
// inner frame saved it, in the thread's own register if none did.
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

// Type finds a type in the frame's file first.
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

// GoType finds what a description of a type in the memory of a program in Go is in its debug information.
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

// Symbolize names what is at an address; a function of C++ with its parameters, as gdb does in values.
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

func (e *env) Convenience(name string) (Value, bool) {
	v, ok := e.s.vars[name]
	return v, ok
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

// Evaluate computes an expression in a frame. The value is not put into the
// history.
func (s *Session) Evaluate(t target.ThreadID, level int, text string) (Value, error) {
	return ask(s, func() (Value, error) { return eval.Evaluate(text, s.env(t, level)) })
}

// Print computes an expression in the selected frame and keeps the value in the history
// under the number it returns; void values get none (0).
func (s *Session) Print(text string) (Value, int, error) {
	n := 0
	v, err := ask(s, func() (Value, error) {
		e := s.env(s.selected, s.level)
		v, err := eval.Evaluate(text, e)
		if err != nil {
			return v, err
		}
		n = s.keep(v, e)
		return v, nil
	})
	return v, n, err
}

// keep puts a value into the history.
func (s *Session) keep(v Value, e *env) int {
	if v.Type == nil || v.Type.Strip().Kind == types.Void {
		return 0
	}
	s.history = append(s.history, eval.Fetch(v, e))
	return len(s.history)
}

// KeepValue puts a value into the history, where $N finds it.
func (s *Session) KeepValue(v Value) int {
	n := 0
	s.do(func() { n = s.keep(v, s.env(s.selected, s.level)) })
	return n
}

// Children gives the parts of a value: members, elements, what a pointer
// points to. A count of 0 means all, up to eval's bound.
func (s *Session) Children(t target.ThreadID, level int, v Value, start, count int) ([]Value, error) {
	return ask(s, func() ([]Value, error) { return eval.Children(v, s.env(t, level), start, count) })
}

// NumChildren says how many parts a value has.
func (s *Session) NumChildren(t target.ThreadID, level int, v Value) int {
	n := 0
	s.do(func() { n = eval.NumChildren(v, s.env(t, level)) })
	return n
}

// FormatIn gives a value as text, in a frame.
func (s *Session) FormatIn(t target.ThreadID, level int, v Value, opt eval.Options) string {
	out, _ := ask(s, func() (string, error) { return eval.Format(v, s.env(t, level), opt), nil })
	return out
}

// Variables reads the variables of a frame: parameters, or what is not one.
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

// Argument is a parameter as a backtrace shows it.
type Argument struct {
	Name, Value, Type string
	// AtEntry is what the function was passed, "" if that is not known or not asked for. Unchanged says that
	// it is the value still.
	AtEntry   string
	Unchanged bool
}

// String writes the argument as gdb does by default: x=5; x=x@entry=5 where it is known that the
// value is the one that was passed; x=<optimized out>, x@entry=5 where only that is known.
func (a Argument) String() string {
	switch {
	case a.AtEntry == "":
		return a.Name + "=" + a.Value
	case a.Unchanged:
		return a.Name + "=" + a.Name + "@entry=" + a.Value
	}
	return a.Name + "=" + a.Value + ", " + a.Name + "@entry=" + a.AtEntry
}

// Arguments gives the parameters of a frame as short text.
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

// Assign stores the value of an expression in a variable or part of one that
// Variables or Children gave.
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

// ParseAddress evaluates an expression to an address, in the selected frame.
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

// Definition gives what the type of an expression, or a type of a name, is made of: "ptype".
func (s *Session) Definition(text string) (string, error) {
	return ask(s, func() (string, error) {
		t, err := eval.TypeOf(text, s.env(s.selected, s.level))
		if err != nil {
			return "", err
		}
		return t.Definition(), nil
	})
}

// TypeOf gives the type of an expression, or of a type's name, without computing
// more than it needs: "whatis".
func (s *Session) TypeOf(text string) (string, error) {
	return ask(s, func() (string, error) {
		t, err := eval.TypeOf(text, s.env(s.selected, s.level))
		if err != nil {
			return "", err
		}
		return eval.TypeName(Value{Type: t}), nil
	})
}
