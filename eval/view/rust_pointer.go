package view

import (
	"errors"
	"fmt"
	"strings"

	"dbg/eval"
	"dbg/symbols/types"
)

// rustCounted shows Rc, Arc and their Weak pointers: RcInner (RcBox before 1.87) and ArcInner have
// the counts and the value. The strong pointers together hold one weak count.
func rustCounted(r *rust) bool {
	ptr, ok := dig(r.v, r.env, "ptr")
	if !ok {
		return false
	}
	pointer, ok := pointerPart(ptr, r.env)
	if !ok {
		return false
	}
	isWeak := r.name == "Weak"
	var strong, weak int64
	var value eval.Value
	r.show(eval.Inside)
	r.check = func() error {
		at, err := fatAddress(pointer, r.env)
		if err != nil {
			return err
		}
		p := int64(r.env.Arch().PtrSize)
		if isWeak && int64(at) >= -4096 && int64(at) < 0 || at == 0 { // Weak::new
			if !isWeak {
				return errors.New("a null pointer")
			}
			strong = -1
			return nil
		}
		s, err := word(at, r.env)
		if err != nil {
			return err
		}
		w, err := word(at+addr(p), r.env)
		if err != nil {
			return err
		}
		strong, weak = int64(s), int64(w)
		if weak == -1 {
			weak = 1 // Arc::get_mut is looking at it
		}
		switch {
		case strong < 0 || weak < 1 || !isWeak && strong == 0:
			return fmt.Errorf("its counts are %d and %d", s, w)
		case strong > 0:
			weak--
		}
		list := []eval.Value{called(eval.FromInt(strong), "strong"), called(eval.FromInt(weak), "weak")}
		if strong > 0 {
			if value, err = countedValue(pointer, at, r.env); err != nil {
				return err
			}
			list = append([]eval.Value{called(value, "value")}, list...)
			r.show(eval.Inside, list...)
			return nil
		}
		r.show(eval.SummaryOnly, list...)
		return nil
	}
	r.says(func() string {
		if strong < 0 {
			return "Weak(dangling)"
		}
		return fmt.Sprintf("%s(strong=%d, weak=%d)", r.name, strong, weak)
	})
	count := func(n *int64) func() (eval.Value, error) {
		return func() (eval.Value, error) { return eval.FromInt(max(*n, 0)), nil }
	}
	r.method("strong_count", count(&strong))
	r.method("weak_count", count(&weak))
	target := func() (eval.Value, error) {
		if strong <= 0 {
			return eval.Value{}, errors.New("its value was dropped")
		}
		return value, nil
	}
	if r.deref = target; isWeak {
		r.deref = nil
		r.method("upgrade", target)
	}
	return true
}

// fatAddress returns the address in a pointer: a plain one, or one with a length or a vtable.
func fatAddress(p eval.Value, env eval.Env) (addr, error) {
	if m, ok := dig(p, env, "data_ptr|pointer"); ok {
		p = m
	}
	n, err := eval.Number(p, env)
	return addr(n), err
}

// countedValue returns the value of an RcInner at an address.
func countedValue(pointer eval.Value, at addr, env *inner) (eval.Value, error) {
	unknown := errors.New("the layout of its value is not known")
	p := int64(env.Arch().PtrSize)
	plain := pointer
	length, isSlice := dig(pointer, env, "length")
	if isSlice {
		plain, _ = dig(pointer, env, "data_ptr")
	}
	vtable, isDyn := dig(pointer, env, "vtable")
	if isDyn {
		held, align, err := dynamicType(vtable, env)
		if err != nil {
			return eval.Value{}, err
		}
		at += addr((2*p + align - 1) / align * align)
		return eval.Value{Type: held, Addr: at, HasAddr: true}, nil
	}
	box := plain.Type.Strip().Elem()
	if box == nil {
		return eval.Value{}, unknown
	}
	value, ok := dig(eval.Value{Type: box, Addr: at, HasAddr: true}, env, "value|data")
	if !ok {
		return eval.Value{}, unknown
	}
	if !isSlice {
		return value, nil
	}
	n, err := eval.Number(length, env)
	if err != nil {
		return eval.Value{}, err
	}
	_, name := rustName(box.Strip().Name)
	_, arg, _ := strings.Cut(box.Strip().Name, "<")
	switch {
	case name == "":
	case arg == "str>":
		if n < 0 || n > 1<<47 {
			return eval.Value{}, fmt.Errorf("a text of %d bytes", uint64(n))
		}
		return strAt(value.Addr, n, env), nil
	case strings.HasPrefix(arg, "["):
		if n == 0 {
			return eval.Words("", "[]"), nil
		}
		if v, ok := elementsOf(value.Type, n, value.Addr); ok {
			return v, nil
		}
	}
	return eval.Value{}, unknown
}

// RustKnower is an eval.Env that knows what debug information tells about Rust besides types.
type RustKnower interface {
	// RustType returns the type of the trait objects with a vtable at an address, or nil.
	RustType(vtable addr) *types.Type
	// RustVersion returns x of the compiler rustc 1.x that has made the program; 0: not known.
	RustVersion() int
}

// dynamicType returns the type of a trait object, and its alignment. A vtable begins with the
// address of the destructor, the size and the alignment.
func dynamicType(vtable eval.Value, env *inner) (*types.Type, int64, error) {
	n, err := eval.Number(vtable, env)
	if err != nil {
		return nil, 0, err
	}
	p := addr(env.Arch().PtrSize)
	size, err := word(addr(n)+p, env)
	if err != nil {
		return nil, 0, err
	}
	align, err := word(addr(n)+2*p, env)
	if err != nil {
		return nil, 0, err
	}
	if align == 0 || align&(align-1) != 0 || align > 1<<29 || size%align != 0 {
		return nil, 0, errors.New("the vtable is not valid")
	}
	known, ok := env.Env.(RustKnower)
	if !ok {
		return nil, 0, errUnknownType
	}
	t := known.RustType(addr(n))
	if t == nil {
		return nil, 0, errUnknownType
	}
	if t.Strip().Kind == types.Void || uint64(max(t.Strip().Size, 0)) != size {
		return nil, 0, errors.New("the type of the vtable has another size")
	}
	return t, int64(align), nil
}

var errUnknownType = errors.New("the type of the value is not known")

// rustFat shows what a pointer with a vtable or a length leads to: Box<dyn Trait>, &dyn Trait,
// &Path, &OsStr and &CStr. Slices and str are shown by package eval.
func rustFat(r *rust) bool {
	full := r.v.Type.Strip().Name
	if _, ok := dig(r.v, r.env, "data_ptr"); ok {
		return rustBorrowedText(r)
	}
	vtable, ok := dig(r.v, r.env, "vtable")
	data, ok2 := dig(r.v, r.env, "pointer")
	if !ok || !ok2 || full[0] == '*' {
		return false
	}
	if r.name == "Box" {
		_, arg, _ := strings.Cut(full, "<")
		arg = strings.TrimSuffix(strings.TrimSuffix(arg, ">"), ", alloc::alloc::Global")
		full = "Box<" + arg + ">"
	}
	if k := vtable.Type.Strip().Kind; k != types.Pointer && k != types.Reference {
		// rustc 1.60 gives it the type of the Box's allocator.
		vtable = called(eval.PartAt(r.v, int64(r.env.Arch().PtrSize), eval.FromInt(0).Type), "vtable")
	}
	var value eval.Value
	held := error(nil)
	r.name = full
	r.show(eval.Inside)
	r.check = func() error {
		at, err := eval.Number(data, r.env)
		if err != nil {
			return err
		}
		t, _, err := dynamicType(vtable, r.env)
		if errors.Is(err, errUnknownType) {
			held = err
			r.show(eval.SummaryOnly, called(data, "pointer"), called(vtable, "vtable"))
			return nil
		}
		if err != nil {
			return err
		}
		value = eval.Value{Type: t, Addr: addr(at), HasAddr: true}
		if t.Strip().Size == 0 {
			value.Bytes = []byte{}
		}
		r.show(eval.Inside, called(value, "value"))
		return nil
	}
	r.says(func() string {
		if held != nil {
			a, _ := eval.Number(data, r.env)
			return fmt.Sprintf("%s %#x", full, uint64(a))
		}
		if k := value.Type.Strip().Kind; k == types.Struct && r.env.View(value) == nil {
			return full
		}
		return full + "(" + value.Type.String() + ")"
	})
	r.deref = func() (eval.Value, error) { return value, held }
	return true
}

// rustPin shows the pointer in a Pin.
func rustPin(r *rust) bool {
	p, ok := dig(r.v, r.env, "pointer|__pointer")
	if !ok {
		return false
	}
	r.show(eval.Tuple, called(p, "pointer"))
	r.deref = func() (eval.Value, error) { return eval.Target(p, r.env) }
	return true
}

// rustGuard shows what a guard of a lock or of a RefCell refers to.
func rustGuard(r *rust) bool {
	var value eval.Value
	if lock, ok := dig(r.v, r.env, "lock"); ok && lock.Type.Strip().Kind == types.Pointer {
		m, err := eval.Target(lock, r.env)
		data, ok := dig(m, r.env, "data")
		if err != nil || !ok {
			return false
		}
		value = unwrap(data, r.env)
	} else {
		p, ok := dig(r.v, r.env, "value|data")
		if ok {
			p, ok = pointerPart(p, r.env)
		}
		if !ok || p.Type.Strip().Kind != types.Pointer {
			return false
		}
		to, err := eval.Target(p, r.env)
		if err != nil {
			return false
		}
		value = to
	}
	r.says(func() string { return "" })
	r.show(eval.Inside, called(value, "value"))
	r.deref = func() (eval.Value, error) { return value, nil }
	return true
}
