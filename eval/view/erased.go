package view

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"dbg/eval"
	"dbg/symbols/types"
)

// The views of classes that hide the type of what they hold: the name of a function of theirs, or of a
// table of virtual functions, tells it.

// symbolAt returns the name of the function or the object at an address, or "".
func symbolAt(a int64, env eval.Env) string {
	name, off, ok := env.Symbolize(addr(a))
	if a == 0 || !ok || off != 0 {
		return ""
	}
	return name
}

// argumentAfter returns the first template argument that follows a prefix in a symbol: "int" after
// "_Manager_internal<" in "std::any::_Manager_internal<int>::_S_manage(…)". The prefix ends in "<".
func argumentAfter(symbol, prefix string) (string, bool) {
	_, rest, ok := strings.Cut(symbol, prefix)
	if !ok {
		return "", false
	}
	return argument(rest)
}

// argument returns the text up to the comma or the bracket that ends a template argument.
func argument(text string) (string, bool) {
	depth := 0
	for i, c := range text {
		switch c {
		case '<', '(', '{', '[':
			depth++
		case '>', ')', '}', ']':
			if depth == 0 || c == '>' && i > 0 && text[i-1] == '-' {
				return strings.TrimSpace(text[:i]), depth == 0
			}
			depth--
		case ',':
			if depth == 0 {
				return strings.TrimSpace(text[:i]), true
			}
		}
	}
	return "", false
}

// path returns a member of a member.
func path(v eval.Value, env eval.Env, names ...string) (eval.Value, bool) {
	ok := true
	for _, name := range names {
		if v, ok = eval.Member(v, name, env); !ok {
			return v, false
		}
	}
	return v, true
}

// firstPath returns the first path that the class has: each version of a library has its own.
func firstPath(v eval.Value, env eval.Env, paths ...string) (eval.Value, bool) {
	for _, p := range paths {
		if m, ok := path(v, env, strings.Split(p, ".")...); ok {
			return m, true
		}
	}
	return v, false
}

// at returns an object in memory.
func at(t *types.Type, a addr, name string) eval.Value {
	return eval.Value{Type: t, Addr: a, HasAddr: true, Name: name}
}

// newAny shows a std::any. Its manager is a function of a class template whose argument is the type of
// the value: _Manager_internal<T> or _Manager_external<T> in libstdc++, _SmallHandler<T> or
// _LargeHandler<T> in libc++.
func newAny(v eval.Value, env *inner) eval.View {
	manager, ok := firstPath(v, env, "_M_manager", "__h_", "__h")
	storage, ok2 := firstPath(v, env, "_M_storage", "__s_", "__s")
	if !ok || !ok2 {
		return nil
	}
	f := &fixed{name: "std::any"}
	n, err := eval.Number(manager, env)
	if err != nil {
		f.err = err
		return f
	}
	if n == 0 {
		f.summary = "std::any [no contained value]"
		return f
	}
	symbol := symbolAt(n, env)
	for _, prefix := range []string{"_Manager_internal<", "_Manager_external<", "_SmallHandler<", "_LargeHandler<"} {
		text, ok := argumentAfter(symbol, prefix)
		if !ok {
			continue
		}
		f.summary = "std::any containing " + ShortName(text)
		t := env.Type(text)
		if t == nil {
			f.items = []eval.Value{eval.Words("[contained value]", "<its type is not known>")}
			return f
		}
		external := prefix == "_Manager_external<" || prefix == "_LargeHandler<"
		if f.items = make([]eval.Value, 1); external {
			f.items[0], f.err = pointed(t, storage, env)
		} else {
			f.items[0], f.err = stored(t, storage, env)
		}
		f.items[0].Name = "[contained value]"
		return f
	}
	f.err = errors.New("its manager is not a function that is known")
	return f
}

// stored returns the object that begins where a buffer does. Optimised code may have the buffer in
// registers.
func stored(t *types.Type, buffer eval.Value, env eval.Env) (eval.Value, error) {
	if buffer.HasAddr {
		return at(t, buffer.Addr, ""), nil
	}
	buffer = eval.Fetch(buffer, env)
	size := t.Strip().Size
	if size <= 0 || int64(len(buffer.Bytes)) < size {
		return eval.Value{}, errScattered
	}
	return eval.Value{Type: t, Bytes: buffer.Bytes[:size]}, nil
}

// pointed returns the object that the pointer in a buffer points to.
func pointed(t *types.Type, buffer eval.Value, env eval.Env) (eval.Value, error) {
	v, err := stored(types.New(types.Uint, "unsigned long", int64(env.Arch().PtrSize), false, nil), buffer, env)
	if err != nil {
		return v, err
	}
	n, err := eval.Number(v, env)
	return at(t, addr(n), ""), err
}

// readPointer reads a pointer in memory.
func readPointer(a addr, env eval.Env) (addr, error) {
	n, err := eval.Number(at(types.New(types.Uint, "unsigned long", int64(env.Arch().PtrSize), false, nil), a, ""), env)
	return addr(n), err
}

// newFunction shows the target of a std::function.
func newFunction(v eval.Value, env *inner) eval.View {
	f := &fixed{name: "std::function"}
	f.summary = ShortName(strings.Replace(v.Type.Strip().Name, "std::__1::", "std::", 1))
	if manager, ok := path(v, env, "_M_manager"); ok { // libstdc++
		return f.stdFunction(v, manager, env)
	}
	// libc++: __f_.__f_ points to a __func<F, …>, which has virtual functions.
	target, ok := path(v, env, "__f_", "__f_")
	if !ok {
		return nil
	}
	n, err := eval.Number(target, env)
	if err != nil {
		f.err = err
		return f
	}
	if n == 0 {
		f.summary += " (empty)"
		return f
	}
	name, err := dynamicName(addr(n), env)
	text, ok := argumentAfter(name, "__func<")
	if err != nil || !ok {
		f.err = errors.Join(err, errNoTarget)
		return f
	}
	f.target(text, addr(n)+addr(env.Arch().PtrSize), env)
	return f
}

var errNoTarget = errors.New("its target is not an object of a class that is known")

// stdFunction shows a std::function of libstdc++. Its invoker is _Function_handler<R(A…), F>::_M_invoke.
func (f *fixed) stdFunction(v, manager eval.Value, env *inner) eval.View {
	invoker, ok := path(v, env, "_M_invoker")
	storage, ok2 := path(v, env, "_M_functor")
	if !ok || !ok2 {
		return nil
	}
	n, err := eval.Number(manager, env)
	if n == 0 && err == nil {
		f.summary += " (empty)"
		return f
	}
	code, err2 := eval.Number(invoker, env)
	if err = errors.Join(err, err2); err != nil {
		f.err = err
		return f
	}
	symbol := symbolAt(code, env)
	_, rest, ok := strings.Cut(symbol, "_Function_handler<")
	first, ok2 := argument(rest)
	if !ok || !ok2 || !storage.HasAddr {
		f.err = errNoTarget
		return f
	}
	text, _ := argument(strings.TrimPrefix(strings.TrimPrefix(rest, first), ","))
	f.target(text, storage.Addr, env)
	return f
}

// target adds the target of a function: a pointer to a function is stored itself. Of another object, only
// the name of its class is shown.
func (f *fixed) target(text string, a addr, env eval.Env) {
	if !strings.Contains(text, "(*)(") {
		text = ShortName(text)
	} else {
		p, err := readPointer(a, env)
		if err != nil {
			f.err = err
			return
		}
		text = fmt.Sprintf("%#x", uint64(p))
		if name := symbolAt(int64(p), env); name != "" {
			text += " <" + name + ">"
		}
	}
	f.items = []eval.Value{eval.Words("target", text)}
}

// dynamicName returns the name of the class of an object with virtual functions.
func dynamicName(a addr, env eval.Env) (string, error) {
	table, err := readPointer(a, env)
	if err != nil {
		return "", err
	}
	name, _, _ := env.Symbolize(table)
	name, ok := strings.CutPrefix(name, "vtable for ")
	if !ok {
		return "", errors.New("it has no table of virtual functions")
	}
	return name, nil
}

// exceptionHeader is what the C++ ABI has before a thrown object; the pointer to its type_info is first
// (Itanium C++ ABI: Exception Handling, 2.2.1). With it, libstdc++ and libc++abi have 112 bytes on 64-bit
// machines: libc++abi puts its reference count before the pointer.
const exceptionHeader = 112

// newExceptionPtr shows what a std::exception_ptr points to.
func newExceptionPtr(v eval.Value, env *inner) eval.View {
	p, ok := firstPath(v, env, "_M_exception_object", "__ptr_")
	if !ok {
		return nil
	}
	f := &fixed{name: "std::exception_ptr", summary: "std::exception_ptr"}
	n, err := eval.Number(p, env)
	if err != nil || n == 0 {
		f.err = err
		f.summary += " (empty)"
		return f
	}
	if env.Arch().PtrSize != 8 {
		return nil
	}
	info, err := readPointer(addr(n-exceptionHeader), env)
	if err != nil {
		f.err = err
		return f
	}
	name, ok := strings.CutPrefix(symbolAt(int64(info), env), "typeinfo for ")
	if !ok {
		f.err = errors.New("it has no type")
		return f
	}
	f.summary += " to " + ShortName(name)
	f.items = []eval.Value{eval.Words("[exception]", fmt.Sprintf("%#x", uint64(n)))}
	t := env.Type(name)
	if t == nil && builtins[name] != nil {
		t = types.New(types.Opaque, name, 0, false, nil)
	}
	if t != nil {
		f.items[0] = at(t, addr(n), "[exception]")
	}
	return f
}

// exceptions are the classes of the standard library that have a message, which what() returns.
var exceptions = []string{
	"std::logic_error", "std::domain_error", "std::invalid_argument", "std::length_error", "std::out_of_range",
	"std::runtime_error", "std::range_error", "std::overflow_error", "std::underflow_error", "std::system_error",
}

// newException shows an exception with its message. The program often has only the declarations of these
// classes, but what follows the pointer to the virtual functions is part of the ABI of both libraries: the
// characters of the message.
func newException(v eval.Value, env *inner) eval.View {
	if !v.HasAddr {
		return nil
	}
	f := &fixed{name: ShortName(v.Type.Strip().Name)}
	p, err := readPointer(v.Addr+addr(env.Arch().PtrSize), env)
	if err != nil {
		f.err = err
		return f
	}
	char := types.New(types.Char, "char", 1, true, nil)
	text, err := eval.FormatText(char, p, textLength(p, env), env, eval.DefaultOptions(), false)
	if err != nil {
		f.err = err
		return f
	}
	f.summary = f.name + ": " + text
	return f
}

// textLength returns the number of characters before the zero that ends a text; at most 4096.
func textLength(a addr, env eval.Env) int64 {
	b := make([]byte, 4096)
	n, _ := env.ReadMemory(a, b)
	if i := bytes.IndexByte(b[:max(n, 0)], 0); i >= 0 {
		return int64(i)
	}
	return int64(max(n, 1)) // 1: show why it can't be read
}

// symbolic is a function of our own views: __symbol(p) is an address with its name.
func symbolic(s *scope, args []eval.Value) (eval.Value, error) {
	if len(args) != 1 {
		return eval.Value{}, errors.New("__symbol takes an address")
	}
	n, err := eval.Number(args[0], s)
	if err != nil {
		return eval.Value{}, err
	}
	text := fmt.Sprintf("%#x", uint64(n))
	if name := symbolAt(n, s); name != "" {
		text += " <" + name + ">"
	}
	return eval.Words("", text), nil
}

// isChild is a function of our own views: __is_child(p) tells whether the parent of a node of libc++'s trees
// has it as a child. A node has the pointers left, right and parent; what ends a tree has only the left.
func isChild(s *scope, args []eval.Value) (eval.Value, error) {
	if len(args) != 1 {
		return eval.Value{}, errors.New("__is_child takes an address")
	}
	n, err := eval.Number(args[0], s)
	if err != nil {
		return eval.Value{}, err
	}
	size := addr(s.Arch().PtrSize)
	parent, err := readPointer(addr(n)+2*size, s)
	if err != nil {
		return eval.Bool(false), nil
	}
	for _, side := range []addr{parent, parent + size} {
		if child, err := readPointer(side, s); err == nil && child == addr(n) {
			return eval.Bool(true), nil
		}
	}
	return eval.Bool(false), nil
}

// typeName is a function of our own views: __type_name(p) is the name of the type that a std::type_info
// at p describes.
func typeName(s *scope, args []eval.Value) (eval.Value, error) {
	if len(args) != 1 {
		return eval.Value{}, errors.New("__type_name takes the address of a type_info")
	}
	n, err := eval.Number(args[0], s)
	if err != nil {
		return eval.Value{}, err
	}
	name, ok := strings.CutPrefix(symbolAt(n, s), "typeinfo for ")
	if !ok {
		return eval.Value{}, errors.New("it has no type")
	}
	return eval.Words("", ShortName(name)), nil
}
