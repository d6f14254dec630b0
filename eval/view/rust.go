package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dbg/eval"
	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// rustViews are the views of Rust's standard library, by the type's name without its modules: std
// moves types between modules. Layouts differ between versions, too, so each view looks for members
// by their names, and returns nil where it does not find them: then the memory is shown.
var rustViews map[string]func(r *rust) bool

func init() { // they refer to functions that refer to views
	rustViews = map[string]func(r *rust) bool{
		"HashMap": rustHash, "HashSet": rustHash, "BTreeMap": rustBTree, "BTreeSet": rustBTree,
		"VecDeque": rustDeque, "BinaryHeap": rustHeap, "LinkedList": rustList,
		"Iter": rustIter, "IterMut": rustIter, "IntoIter": rustIter, "Chars": rustChars,
		"Rc": rustCounted, "Arc": rustCounted, "Weak": rustCounted, "Box": rustFat, "Pin": rustPin,
		"Cell": rustCell, "RefCell": rustRefCell, "Ref": rustGuard, "RefMut": rustGuard,
		"Mutex": rustLock, "RwLock": rustLock, "MutexGuard": rustGuard, "RwLockReadGuard": rustGuard, "RwLockWriteGuard": rustGuard,
		"OnceCell": rustOnceCell, "OnceLock": rustOnceLock, "LazyCell": rustLazyCell, "LazyLock": rustOnceLock,
		"PathBuf": rustOwnedText, "OsString": rustOwnedText, "CString": rustOwnedText,
		"Duration": rustDuration, "Instant": rustInstant, "SystemTime": rustSystemTime,
		"Range": rustRange, "RangeInclusive": rustRange, "RangeFrom": rustRange, "RangeTo": rustRange,
		"RangeToInclusive": rustRange, "RangeFull": rustRange,
		"Wrapping": rustTuple, "Saturating": rustTuple, "Reverse": rustTuple,
	}
}

// rust is a value of Rust's standard library. Its parts are found when it is first shown.
type rust struct {
	v    eval.Value
	env  *inner
	name string // without modules and arguments: "HashMap"

	list    *rustItems
	methods map[string]rustMethod
	deref   func() (eval.Value, error) // the operator *
	text    func(opt eval.Options) (string, error)

	done  bool
	check func() error // completes the view
	err   error
}

// rustMethod is a method with a number of arguments.
type rustMethod struct {
	args int
	run  func(args []eval.Value) (eval.Value, error)
}

// rustItems are items that a function returns.
type rustItems struct {
	form eval.Form
	n    int64
	at   func(i int64) eval.Value
}

func (l *rustItems) Form() eval.Form       { return l.form }
func (l *rustItems) Len() int64            { return l.n }
func (l *rustItems) At(i int64) eval.Value { return l.at(i) }

// rustView returns the maker of the views of a type, or nil.
func rustView(t *types.Type) func(v eval.Value, env *inner) eval.View {
	crate, name := rustName(t.Name)
	fill := rustViews[name]
	switch {
	case t.Lang != lang.Rust:
		return nil
	case crate == "&" || crate == "*":
		fill = rustFat
	case crate == "hashbrown" && strings.HasPrefix(name, "Hash"):
	case crate != "core" && crate != "alloc" && crate != "std":
		return nil
	case strings.HasPrefix(name, "NonZero"):
		fill = rustNumber
	case strings.HasPrefix(name, "Atomic"):
		fill = rustAtomic
	}
	if fill == nil {
		return nil
	}
	return func(v eval.Value, env *inner) eval.View {
		if r := (&rust{v: v, env: env, name: name}); fill(r) {
			return r
		}
		return nil
	}
}

// rustName splits a type's name into its crate and its name without modules and arguments. The
// crate of a reference is "&", and that of a pointer "*".
func rustName(full string) (crate, name string) {
	if full == "" {
		return "", ""
	}
	if full[0] == '&' || full[0] == '*' {
		return full[:1], full
	}
	head := templateName(full)
	crate, _, _ = strings.Cut(head, "::")
	return crate, head[strings.LastIndex(head, ":")+1:]
}

func (r *rust) prepare() error {
	if !r.done {
		r.done = true
		if r.check != nil {
			if err := r.check(); err != nil {
				r.err = &errInvalid{r.name, err}
			}
		}
	}
	return r.err
}

// Summary implements eval.View.
func (r *rust) Summary(opt eval.Options) (string, error) {
	if err := r.prepare(); err != nil {
		return "", err
	}
	if r.text == nil {
		return r.name, nil
	}
	return r.text(opt)
}

// Items implements eval.View.
func (r *rust) Items() (eval.Items, error) {
	if err := r.prepare(); err != nil || r.list == nil {
		return nil, err
	}
	return r.list, nil
}

// Method implements eval.View. Names are those of C++ for operators, as in other views.
func (r *rust) Method(name string, args []eval.Value) (eval.Value, bool, error) {
	m, ok := r.methods[name]
	deref := r.deref != nil && len(args) == 0
	switch name {
	case "operator*", "operator->", "deref", "as_ref", "borrow", "deref_mut", "borrow_mut", "as_mut":
		deref = deref && !ok
	default:
		deref = false
	}
	if !deref && (!ok || m.args != len(args)) {
		return eval.Value{}, false, nil
	}
	if err := r.prepare(); err != nil {
		return eval.Value{}, true, err
	}
	var v eval.Value
	var err error
	if deref {
		v, err = r.deref()
	} else {
		v, err = m.run(args)
	}
	return v, true, err
}

// method adds a method that needs no arguments.
func (r *rust) method(name string, run func() (eval.Value, error)) {
	r.add(name, 0, func([]eval.Value) (eval.Value, error) { return run() })
}

func (r *rust) add(name string, args int, run func(args []eval.Value) (eval.Value, error)) {
	if r.methods == nil {
		r.methods = map[string]rustMethod{}
	}
	r.methods[name] = rustMethod{args, run}
}

// says sets a summary that does not depend on options.
func (r *rust) says(text func() string) {
	r.text = func(eval.Options) (string, error) { return text(), nil }
}

// show sets the items to a few values with names.
func (r *rust) show(form eval.Form, list ...eval.Value) {
	r.list = &rustItems{form, int64(len(list)), func(i int64) eval.Value { return list[i] }}
}

// collection adds what all collections have: the size in the summary, and methods.
func (r *rust) collection() {
	r.says(func() string { return fmt.Sprintf("%s(size=%d)", r.name, r.list.n) })
	r.method("len", func() (eval.Value, error) { return eval.FromInt(r.list.n), nil })
	r.method("count", func() (eval.Value, error) { return eval.FromInt(r.list.n), nil })
	r.method("is_empty", func() (eval.Value, error) { return eval.Bool(r.list.n == 0), nil })
}

// indexed adds the methods of collections in which elements have places.
func (r *rust) indexed() {
	at := func(i int64) (eval.Value, error) {
		if i < 0 || i >= r.list.n {
			return eval.Value{}, fmt.Errorf("no such element: index %d of %d", i, r.list.n)
		}
		v := r.list.at(i)
		return v, availability(v)
	}
	get := func(args []eval.Value) (eval.Value, error) {
		i, err := eval.Number(args[0], r.env)
		if err != nil {
			return eval.Value{}, err
		}
		return at(i)
	}
	r.add("operator[]", 1, get)
	r.add("get", 1, get)
	first := func() (eval.Value, error) { return at(0) }
	last := func() (eval.Value, error) { return at(r.list.n - 1) }
	r.method("first", first)
	r.method("front", first)
	r.method("last", last)
	r.method("back", last)
	r.add("contains", 1, func(args []eval.Value) (eval.Value, error) {
		for i := range r.list.n {
			if i >= maxNodes {
				return eval.Value{}, errTooMany
			}
			v := r.list.at(i)
			if err := availability(v); err != nil {
				return eval.Value{}, err
			}
			same, err := eval.Equal(v, args[0], r.env)
			if same || err != nil {
				return eval.Bool(same), err
			}
		}
		return eval.Bool(false), nil
	})
}

var errTooMany = fmt.Errorf("more than %d elements", maxNodes)

// keyed adds the methods of maps and sets. pair returns a key and its value.
func (r *rust) keyed(isMap bool, pair func(i int64) (key, value eval.Value, err error)) {
	find := func(key eval.Value) (k, v eval.Value, found bool, err error) {
		for i := range r.list.n {
			if i >= maxNodes {
				return k, v, false, errTooMany
			}
			if k, v, err = pair(i); err != nil {
				return k, v, false, err
			}
			if found, err = eval.Equal(k, key, r.env); found || err != nil {
				return k, v, found, err
			}
		}
		return k, v, false, nil
	}
	contains := func(args []eval.Value) (eval.Value, error) {
		_, _, found, err := find(args[0])
		return eval.Bool(found), err
	}
	get := func(args []eval.Value) (eval.Value, error) {
		k, v, found, err := find(args[0])
		if err == nil && !found {
			err = fmt.Errorf("the %s has no such key", r.name)
		}
		if !isMap {
			v = k
		}
		return v, err
	}
	r.add("get", 1, get)
	if isMap {
		r.add("contains_key", 1, contains)
		r.add("operator[]", 1, get)
	} else {
		r.add("contains", 1, contains)
	}
}

// pairItem returns an item of a map, which is called by its key.
func pairItem(key, value eval.Value, env *inner) eval.Value {
	// A key is short text: its own type's form, and no address before a string.
	value.Name = "[" + eval.Format(key, env.Env, eval.Options{Inner: true, MaxElements: 200}) + "]"
	return value
}

// availability returns why a value can't be used, or nil.
func availability(v eval.Value) error {
	if v.Avail == eval.Unreadable {
		return v.Err
	}
	return nil
}

// dig returns a part of a value by the names of its members. Each step may have several names,
// divided by "|".
func dig(v eval.Value, env eval.Env, path ...string) (eval.Value, bool) {
	for _, names := range path {
		found := false
		for _, name := range strings.Split(names, "|") {
			if m, ok := eval.Member(v, name, env); ok {
				v, found = m, true
				break
			}
		}
		if !found {
			return eval.Value{}, false
		}
	}
	return v, true
}

// digNumber returns a part of a value as a number.
func digNumber(v eval.Value, env eval.Env, path ...string) (int64, bool) {
	m, ok := dig(v, env, path...)
	if !ok {
		return 0, false
	}
	return scalarIn(m, env)
}

// scalarIn reads the only number or pointer in the structures around it: Cell<usize>, AtomicU32,
// NonNull<T>, UsizeNoHighBit.
func scalarIn(v eval.Value, env eval.Env) (int64, bool) {
	m, ok := scalarPart(v, env, 0)
	if !ok {
		return 0, false
	}
	n, err := eval.Number(m, env)
	return n, err == nil
}

// maxWrap limits structures around a value.
const maxWrap = 12

func scalarPart(v eval.Value, env eval.Env, depth int) (eval.Value, bool) {
	if v.Type == nil || depth > maxWrap {
		return v, false
	}
	switch v.Type.Strip().Kind {
	case types.Struct, types.Union:
	case types.Int, types.Uint, types.Char, types.Bool, types.Pointer, types.Float, types.Reference, types.Enum:
		return v, true
	default:
		return v, false
	}
	fields := v.Type.Strip().Fields()
	for i := range fields {
		f := &fields[i]
		if f.Static || f.Type == nil || f.Type.Strip().Size <= 0 {
			continue
		}
		if m, ok := scalarPart(eval.FieldOf(v, f, env), env, depth+1); ok {
			return m, true
		}
	}
	return v, false
}

// wrappers are the structures that say how a value may be used, and have nothing but the value.
var wrappers = []string{"UnsafeCell", "SyncUnsafeCell", "ManuallyDrop", "MaybeDangling", "MaybeUninit", "CachePadded", "UnsafePinned"}

// unwrap returns the value in UnsafeCell, ManuallyDrop and MaybeUninit.
func unwrap(v eval.Value, env eval.Env) eval.Value {
	for range maxWrap {
		if v.Type == nil {
			return v
		}
		if _, name := rustName(v.Type.Strip().Name); !slices.Contains(wrappers, name) {
			return v
		}
		m, ok := dig(v, env, "value|0")
		if !ok {
			return v
		}
		v = m
	}
	return v
}

// pointerPart returns the pointer in NonNull, Unique and Box, or the structure of a pointer to a
// slice, a str or a trait object.
func pointerPart(v eval.Value, env eval.Env) (eval.Value, bool) {
	for range maxWrap {
		if v.Type == nil {
			return v, false
		}
		t := v.Type.Strip()
		if t.Kind == types.Pointer || t.Kind == types.Reference {
			return v, true
		}
		if t.Kind != types.Struct {
			return v, false
		}
		if _, ok := dig(v, env, "data_ptr"); ok {
			return v, true
		}
		if _, ok := dig(v, env, "vtable"); ok {
			return v, true
		}
		m, ok := dig(v, env, "pointer|__pointer|ptr|0")
		if !ok {
			return v, false
		}
		v = m
	}
	return v, false
}

// typeArg returns a template argument that is a type, or nil.
func typeArg(t *types.Type, i int) *types.Type {
	args := t.Strip().TemplateArgs()
	if i >= len(args) || args[i].Const {
		return nil
	}
	return args[i].Type
}

// elementsOf returns an array of Rust: n elements at an address.
func elementsOf(elem *types.Type, n int64, a addr) (eval.Value, bool) {
	v, ok := eval.ArrayAt(elem, n, a)
	if ok {
		v.Type.Lang = lang.Rust
	}
	return v, ok
}

// strAt returns the text of n bytes at an address as a &str, or as words if the program has no
// &str.
func strAt(a addr, n int64, env *inner) eval.Value {
	t := env.Env.Type("&str")
	if p := env.Arch().PtrSize; t != nil && p == 8 && t.Size == 16 {
		b := make([]byte, 0, 16)
		for _, u := range []uint64{uint64(a), uint64(n)} {
			for i := range 8 {
				b = append(b, byte(u>>(8*i)))
			}
		}
		return eval.Value{Type: t, Bytes: b}
	}
	text, err := eval.FormatText(types.New(types.Char, "char", 1, false, nil), a, n, env.Env, eval.Options{}, false)
	if err != nil {
		return unreadable(err)
	}
	return eval.Words("", text)
}

// word reads a word of memory.
func word(a addr, env eval.Env) (uint64, error) {
	b := make([]byte, env.Arch().PtrSize)
	if n, err := env.ReadMemory(a, b); n < len(b) {
		if err == nil {
			err = errors.New("unreadable memory")
		}
		return 0, err
	}
	return wordIn(b), nil
}

func wordIn(b []byte) (u uint64) {
	for i := range b {
		u |= uint64(b[i]) << (8 * i)
	}
	return u
}

// calls the name of an item.
func called(v eval.Value, name string) eval.Value {
	v.Name = name
	return v
}
