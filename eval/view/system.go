package view

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"dbg/eval"
	"dbg/symbols/types"
)

// The views of error codes and string streams, and a function for iterators of trees.
func init() {
	for _, name := range []string{"error_code", "error_condition"} {
		builtins["std::"+name] = newErrorCode
	}
	for _, scope := range []string{"std::", "std::__cxx11::"} {
		for _, name := range []string{"basic_stringstream", "basic_ostringstream", "basic_istringstream"} {
			builtins[scope+name] = newStringStream
		}
	}
	functions["__tree_before"] = treeBefore
}

// newErrorCode shows a std::error_code as its library prints it, generic:22, with the message if the number is one
// of errno.
func newErrorCode(v eval.Value, env *inner) eval.View {
	value, ok := firstPath(v, env, "_M_value", "__val_")
	category, ok2 := firstPath(v, env, "_M_cat", "__cat_")
	if !ok || !ok2 {
		return nil
	}
	f := &fixed{name: templateName(v.Type.Strip().Name)}
	n, err := eval.Number(value, env)
	at, err2 := eval.Number(category, env)
	if f.err = errors.Join(err, err2); f.err != nil {
		return f
	}
	class, err := mangledClass(addr(at), env)
	if f.err = err; err != nil {
		return f
	}
	name := categoryName(class)
	f.summary = fmt.Sprintf("%s %s:%d", f.name, name, n)
	if (name == "generic" || name == "system") && n > 0 && n < 1<<12 {
		if text := syscall.Errno(n).Error(); !strings.HasPrefix(text, "errno ") {
			f.summary += fmt.Sprintf(" %q", strings.ToUpper(text[:1])+text[1:])
		}
	}
	f.method = func(name string, args []eval.Value) (eval.Value, bool, error) {
		return value, name == "value" && len(args) == 0, nil
	}
	return f
}

// categories are the words in the names of the libraries' classes, and what the categories are called.
var categories = map[string]string{
	"generic_error_category": "generic", "system_error_category": "system",
	"future_error_category": "future", "io_error_category": "iostream", "__iostream_category": "iostream",
}

// categoryName returns what name() of a category returns. Of another class than the library's, it is the mangled
// name of the class.
func categoryName(class string) string {
	if strings.HasPrefix(class, "N12_GLOBAL__N_1") || strings.HasPrefix(class, "NSt3__1") {
		for word, name := range categories {
			if strings.Contains(class, word) {
				return name
			}
		}
	}
	return strings.TrimLeft(class, "0123456789")
}

// mangledClass returns the mangled name of the class of an object with virtual functions. It is part of the
// program: a pointer to the std::type_info is before the virtual functions, and the name is its second word
// (Itanium C++ ABI, 2.5.2 and 2.9.2). So it is there for a library without symbols.
func mangledClass(a addr, env eval.Env) (string, error) {
	size := addr(env.Arch().PtrSize)
	table, err := readPointer(a, env)
	if err != nil {
		return "", err
	}
	info, err := readPointer(table-size, env)
	if err != nil {
		return "", err
	}
	name, err := readPointer(info+size, env)
	if err != nil {
		return "", err
	}
	b := make([]byte, min(textLength(name, env), 512))
	if err := readAll(name, b, env); err != nil {
		return "", err
	}
	for _, c := range b {
		if c < ' ' || c > '~' {
			return "", errors.New("its class has no name")
		}
	}
	return strings.TrimPrefix(string(b), "*"), nil // *: the name is compared by its address
}

// newStringStream shows the text of a string stream. Programs often have only the declarations of these classes, but
// where the parts are is part of the ABI of both libraries. The table of virtual functions of the std::stringbuf
// tells that it is there.
func newStringStream(v eval.Value, env *inner) eval.View {
	t := v.Type.Strip()
	if !v.HasAddr || env.Arch().PtrSize != 8 {
		return nil
	}
	name := strings.TrimPrefix(templateName(strings.Replace(t.Name, "std::__cxx11::", "std::", 1)), "std::basic_")
	f := &fixed{name: "std::" + name}
	offset, ok := map[string]addr{"stringstream": 24, "ostringstream": 8, "istringstream": 16}[name]
	if !ok {
		return nil
	}
	class, err := dynamicName(v.Addr+offset, env)
	if err != nil || !strings.Contains(class, "basic_stringbuf<") {
		f.err = errors.Join(err, errors.New("its buffer is not constructed"))
		return f
	}
	elem := types.New(types.Char, "char", 1, true, nil)
	if wide := env.Type("wchar_t"); strings.Contains(class, "basic_stringbuf<wchar_t") {
		if elem = wide; wide == nil {
			return nil
		}
	}
	from, to, err := streamText(v.Addr+offset, strings.HasPrefix(class, "std::__1::"), env)
	if err == nil && (to < from || to-from > 1<<40) {
		err = fmt.Errorf("a text of %d bytes", int64(to-from))
	}
	if err != nil {
		f.err = err
		return f
	}
	text, err := eval.FormatText(elem, from, int64(to-from)/elem.Strip().Size, env, eval.DefaultOptions(), false)
	f.err, f.summary = err, f.name+" "+text
	return f
}

// streamText returns where the text of a std::stringbuf is: what was written, and if the stream is only read, what
// is read. libstdc++ has its six pointers after the virtual functions, libc++ has a std::locale between them, and
// behind its std::string the end of what was written before.
func streamText(buf addr, libcxx bool, env eval.Env) (from, to addr, err error) {
	word := func(i addr) addr {
		p, e := readPointer(buf+8*i, env)
		err = errors.Join(err, e)
		return p
	}
	first, written := addr(1), word(3)
	if libcxx {
		first, written = 2, word(11)
	}
	if from = word(first + 3); from == 0 {
		return word(first), word(first + 2), err
	}
	return from, max(word(first+4), written), err
}

// treeBefore is __tree_before(node): the node that is before another one in a tree of libstdc++, or 0 if that is the
// first one. A node is the colour, the parent, the left one and the right one. The end is the parent of the root,
// whose parent it is.
func treeBefore(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__tree_before", args, 1)
	if err != nil {
		return eval.Value{}, err
	}
	link := func(node addr, i addr) (p addr) {
		if err == nil {
			p, err = readPointer(node+8*i, s)
		}
		return p
	}
	const parent, left, right = 1, 2, 3
	node := addr(n[0])
	end := func(node addr) bool { // the header: its parent is the root, whose parent it is
		color := link(node, 0) & 0xffffffff
		return color == 0 && link(link(node, parent), parent) == node
	}
	if end(node) {
		return eval.FromInt(int64(link(node, right))), err
	}
	if down := link(node, left); down != 0 && err == nil {
		for range maxTreeDepth {
			next := link(down, right)
			if next == 0 || err != nil {
				return eval.FromInt(int64(down)), err
			}
			down = next
		}
	}
	for range maxTreeDepth {
		up := link(node, parent)
		switch {
		case err != nil:
			return eval.Value{}, err
		case end(up) && link(up, parent) == node:
			return eval.FromInt(0), err
		case link(up, right) == node:
			return eval.FromInt(int64(up)), err
		}
		node = up
	}
	return eval.Value{}, errors.New("the tree is too deep")
}
