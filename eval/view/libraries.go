package view

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"dbg/eval"
	"dbg/symbols/types"
)

// Functions that the views of other libraries than the standard one call, since Natvis can't express them.
func init() {
	for name, f := range map[string]viewFunction{
		"__arg":        argObject,
		"__class_name": className,
		"__type_of":    className,
		"__dynamic":    dynamicObject,
		"__intrusive":  hookOwner,
		"__uuid":       uuidText,
		"__date":       dateText,
		"__clock":      clockText,
		"__is_signed":  isSigned,
		"__row":        matrixRow,
		"__like":       likeObject,
		"__require":    require,
		"__has":        hasMember,
	} {
		functions[name] = f
	}
}

// viewFunction is a function that expressions of our own views may call.
type viewFunction = func(s *scope, args []eval.Value) (eval.Value, error)

// numbers evaluates the arguments of a function that takes n integers.
func numbers(s *scope, name string, args []eval.Value, n int) ([]int64, error) {
	if len(args) != n {
		return nil, fmt.Errorf("%s takes %d arguments", name, n)
	}
	out := make([]int64, n)
	for i, a := range args {
		var err error
		if out[i], err = eval.Number(a, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// argObject is __arg(p, n): the object at p whose type is template argument n of the class, from 0 on.
func argObject(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__arg", args, 2)
	if err != nil {
		return eval.Value{}, err
	}
	list := s.o.typ.TemplateArgs()
	if n[1] < 0 || n[1] >= int64(len(list)) || list[n[1]].Type == nil {
		return eval.Value{}, fmt.Errorf("alternative %d of %d", n[1], len(list))
	}
	return at(list[n[1]].Type, addr(n[0]), ""), nil
}

// require is __require(x): 1 if x is true. Else it has no meaning: the view is not for this layout of the class.
// x must not need memory.
func require(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__require", args, 1)
	if err == nil && n[0] == 0 {
		err = errors.New("the view is for another version of the class")
	}
	return eval.FromInt(1), err
}

// hasMember is __has(x, "name"): whether the class of x, or the class that x points to, has a member. It reads no
// memory.
func hasMember(_ *scope, args []eval.Value) (eval.Value, error) {
	if len(args) != 2 || args[0].Type == nil {
		return eval.Value{}, errors.New("__has takes a value and a name")
	}
	name, _, ok := eval.TextOf(args[1])
	t := args[0].Type.Strip()
	if t.Kind == types.Pointer && t.Elem() != nil {
		t = t.Elem().Strip()
	}
	return eval.Bool(ok && memberOf(t, string(name), 0)), nil
}

func memberOf(t *types.Type, name string, depth int) bool {
	for _, f := range t.Fields() {
		switch {
		case f.Name == name && !f.Base:
			return true
		case f.Type == nil || depth > maxHookDepth:
		case (f.Base || f.Name == "") && memberOf(f.Type.Strip(), name, depth+1):
			return true
		}
	}
	return false
}

// likeObject is __like(x, p): the object at p as one of the type of x.
func likeObject(s *scope, args []eval.Value) (eval.Value, error) {
	if len(args) != 2 || args[0].Type == nil {
		return eval.Value{}, errors.New("__like takes a value and an address")
	}
	n, err := eval.Number(args[1], s)
	return at(args[0].Type, addr(n), ""), err
}

// className is __class_name(x) and __type_of(x): the type of a value, as people write it.
func className(_ *scope, args []eval.Value) (eval.Value, error) {
	if len(args) != 1 || args[0].Type == nil {
		return eval.Value{}, errors.New("__type_of takes a value")
	}
	return eval.Words("", ShortName(withoutVersion(args[0].Type.String()))), nil
}

// isSigned is __is_signed(x): 1 if x is a signed integer. Else it has no value: so an optional intrinsic tells
// versions of a class apart whose members differ in that only.
func isSigned(_ *scope, args []eval.Value) (eval.Value, error) {
	if len(args) != 1 || args[0].Type == nil || args[0].Type.Strip().Kind != types.Int {
		return eval.Value{}, errors.New("it is not signed")
	}
	return eval.FromInt(1), nil
}

// dynamicObject is __dynamic(p): the object at p as what its table of virtual functions tells.
func dynamicObject(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__dynamic", args, 1)
	if err != nil {
		return eval.Value{}, err
	}
	name, err := dynamicName(addr(n[0]), s)
	if err != nil {
		return eval.Value{}, err
	}
	t := s.Env.Type(name)
	if t == nil {
		return eval.Value{}, fmt.Errorf("the type %s is not known", ShortName(name))
	}
	return at(t, addr(n[0]), ""), nil
}

// hookOwner is __intrusive(p): the element of a container of Boost.Intrusive whose hook is at p. The class
// has the traits as first argument or derives from a class that has: bhtraits<T, …> for a hook that is a
// base class, mhtraits<T, Hook, &T::member> for one that is a member.
func hookOwner(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__intrusive", args, 1)
	if err != nil {
		return eval.Value{}, err
	}
	traits := hookTraits(s.o.typ, 0)
	if traits == nil {
		return eval.Value{}, errors.New("its hook is not known")
	}
	list := traits.TemplateArgs()
	elem, offset, ok := list[0].Type, int64(0), false
	if strings.HasPrefix(traits.Name, "boost::intrusive::bhtraits<") {
		tag := ""
		if len(list) > 3 && list[3].Type != nil {
			tag = list[3].Type.Strip().Name
		}
		offset, ok = baseOffset(elem, "boost::intrusive::generic_hook<", tag, 0)
	} else if len(list) > 2 && list[2].Const {
		offset, ok = list[2].Value, true
	}
	if !ok {
		return eval.Value{}, errors.New("the place of its hook is not known")
	}
	return at(elem, addr(n[0]-offset), ""), nil
}

// maxHookDepth limits the base classes that are searched for the traits of a hook.
const maxHookDepth = 12

func hookTraits(t *types.Type, depth int) *types.Type {
	if t = t.Strip(); depth > maxHookDepth {
		return nil
	}
	if list := t.TemplateArgs(); len(list) > 0 && list[0].Type != nil {
		first := list[0].Type.Strip()
		for _, prefix := range []string{"boost::intrusive::bhtraits<", "boost::intrusive::mhtraits<"} {
			if a := first.TemplateArgs(); strings.HasPrefix(first.Name, prefix) && len(a) > 0 && a[0].Type != nil {
				return first
			}
		}
	}
	for _, f := range t.Fields() {
		if f.Base && f.Type != nil {
			if found := hookTraits(f.Type, depth+1); found != nil {
				return found
			}
		}
	}
	return nil
}

// baseOffset returns the offset of a base class whose name begins with a prefix and contains another text.
func baseOffset(t *types.Type, prefix, contains string, depth int) (int64, bool) {
	fields := t.Strip().Fields()
	for i := range fields {
		f := &fields[i]
		if !f.Base || f.Type == nil || f.Virtual || depth > maxHookDepth {
			continue
		}
		if name := f.Type.Strip().Name; strings.HasPrefix(name, prefix) && strings.Contains(name, contains) {
			return f.Offset, true
		}
		if more, ok := baseOffset(f.Type, prefix, contains, depth+1); ok {
			return f.Offset + more, true
		}
	}
	return 0, false
}

// uuidText is __uuid(p): the 16 bytes at p as RFC 9562 writes them.
func uuidText(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__uuid", args, 1)
	if err != nil {
		return eval.Value{}, err
	}
	var b [16]byte
	if err := readAll(addr(n[0]), b[:], s); err != nil {
		return eval.Value{}, err
	}
	return eval.Words("", fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])), nil
}

// dateText is __date(days, ticks, hz): a date, days after 1970-01-01, and if hz is not 0 the time of that
// day in ticks, of which a second has hz. Outside the years 1 to 9999 it is the number of days.
func dateText(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__date", args, 3)
	if err != nil {
		return eval.Value{}, err
	}
	text := fmt.Sprintf("day %d after 1970-01-01", n[0])
	if n[0] >= -719162 && n[0] <= 2932896 {
		text = time.Unix(n[0]*86400, 0).UTC().Format(time.DateOnly)
	}
	if n[2] > 0 {
		text += " " + clock(n[1], n[2])
	}
	return eval.Words("", text), nil
}

// clockText is __clock(ticks, hz): hours, minutes, seconds and the part of a second, if there is one.
func clockText(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__clock", args, 2)
	if err != nil {
		return eval.Value{}, err
	}
	if n[1] <= 0 {
		return eval.Value{}, errors.New("__clock: a second without ticks")
	}
	return eval.Words("", clock(n[0], n[1])), nil
}

func clock(ticks, hz int64) string {
	sign, left := "", uint64(ticks)
	if ticks < 0 {
		sign, left = "-", -left
	}
	part, seconds := left%uint64(hz), left/uint64(hz)
	text := fmt.Sprintf("%s%02d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)
	if digits := len(fmt.Sprint(hz)) - 1; part != 0 {
		text += fmt.Sprintf(".%0*d", digits, part)
	}
	return text
}

// readAll fills b with the memory at a. The error is one of eval that tells the address.
func readAll(a addr, b []byte, env eval.Env) error {
	n, err := env.ReadMemory(a, b)
	if n >= len(b) {
		return nil
	}
	_, access := eval.Number(at(types.New(types.Uint, "unsigned char", 1, false, nil), a+addr(max(n, 0)), ""), env)
	return errors.Join(access, err)
}

// maxRow limits the elements of a row of a matrix.
const maxRow = 1 << 16

// matrixRow is __row(start, i, n, down, right): row i of a matrix as an array of n elements. The steps to the
// next row and to the next element of a row are in elements.
func matrixRow(s *scope, args []eval.Value) (eval.Value, error) {
	if len(args) != 5 {
		return eval.Value{}, errors.New("__row takes 5 arguments")
	}
	elem, start, err := elements(args[0], s)
	if err != nil {
		return eval.Value{}, err
	}
	n, err := numbers(s, "__row", args[1:], 4)
	if err != nil {
		return eval.Value{}, err
	}
	i, length, down, right := n[0], n[1], n[2], n[3]
	size := elem.Strip().Size
	if size <= 0 || length < 0 || length > maxRow {
		return eval.Value{}, fmt.Errorf("a row of %d elements", length)
	}
	row := types.NewArray(elem, length)
	if start += addr(i * down * size); right == 1 {
		return at(row, start, ""), nil
	}
	b := make([]byte, length*size)
	for k := range length {
		if err := readAll(start+addr(k*right*size), b[k*size:(k+1)*size], s); err != nil {
			return eval.Value{}, err
		}
	}
	return eval.Value{Type: row, Bytes: b}, nil
}
