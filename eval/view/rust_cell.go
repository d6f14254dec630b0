package view

import (
	"errors"
	"fmt"
	"strings"

	"dbg/eval"
	"dbg/symbols/types"
)

// rustCell shows the value of a Cell.
func rustCell(r *rust) bool {
	v, ok := dig(r.v, r.env, "value")
	if !ok {
		return false
	}
	v = unwrap(v, r.env)
	r.show(eval.Fields, called(v, "value"))
	r.method("get", func() (eval.Value, error) { return v, nil })
	return true
}

// rustRefCell shows the value of a RefCell and who borrows it: borrow is the number of readers, or
// a negative number of writers.
func rustRefCell(r *rust) bool {
	v, ok := dig(r.v, r.env, "value")
	_, ok2 := dig(r.v, r.env, "borrow")
	if !ok || !ok2 {
		return false
	}
	v = unwrap(v, r.env)
	r.show(eval.Fields)
	r.check = func() error {
		n, ok := digNumber(r.v, r.env, "borrow")
		if !ok {
			return errors.New("its state can't be read")
		}
		list := []eval.Value{called(v, "value")}
		switch {
		case n > 0:
			list = append(list, called(eval.FromInt(n), "borrowed"))
		case n < 0:
			list = append(list, called(eval.FromInt(-n), "mutably borrowed"))
		}
		r.show(eval.Fields, list...)
		return nil
	}
	r.deref = func() (eval.Value, error) { return v, nil }
	return true
}

// rustLock shows a Mutex or a RwLock as Rust does, and who holds it. The lock's own word is a
// futex, or before Rust 1.62 in a pthread_mutex_t elsewhere.
func rustLock(r *rust) bool {
	data, ok := dig(r.v, r.env, "data")
	inside, ok2 := dig(r.v, r.env, "inner")
	if !ok || !ok2 {
		return false
	}
	data = unwrap(data, r.env)
	r.show(eval.Fields)
	r.check = func() error {
		list := []eval.Value{called(data, "data")}
		if poison, ok := digNumber(r.v, r.env, "poison"); ok {
			list = append(list, called(eval.Bool(poison != 0), "poisoned"))
		}
		state, ok := scalarPart(inside, r.env, 0)
		if !ok {
			r.show(eval.Fields, list...)
			return nil
		}
		n, err := eval.Number(state, r.env)
		if err != nil {
			return err
		}
		futex := state.Type.Strip().Kind == types.Uint && state.Type.Strip().Size == 4
		const mask = 1<<30 - 1 // of the readers; all bits: a writer
		switch {
		case r.name == "Mutex" && futex && (n < 0 || n > 2):
			return fmt.Errorf("the state of its lock is %d", n)
		case r.name == "Mutex" && futex:
			list = append(list, called(eval.Bool(n != 0), "locked"))
		case r.name == "Mutex" && state.Type.Strip().Kind == types.Pointer && n != 0:
			b := make([]byte, 4) // pthread_mutex_t.__data.__lock
			if got, _ := r.env.ReadMemory(addr(n), b); got < 4 || wordIn(b) > 2 {
				return errors.New("its lock can't be read")
			}
			list = append(list, called(eval.Bool(wordIn(b) != 0), "locked"))
		case r.name == "RwLock" && futex && n&mask == mask:
			list = append(list, called(eval.Bool(true), "writing"))
		case r.name == "RwLock" && futex && n&mask > 0:
			list = append(list, called(eval.FromInt(n&mask), "readers"))
		}
		r.show(eval.Fields, list...)
		return nil
	}
	field := func(name string) func() (eval.Value, error) {
		return func() (eval.Value, error) {
			for i := range r.list.n {
				if v := r.list.at(i); v.Name == name {
					return v, nil
				}
			}
			return eval.Value{}, errors.New("its state is not known")
		}
	}
	r.method("is_poisoned", field("poisoned"))
	r.deref = func() (eval.Value, error) { return data, nil }
	return true
}

// maybe completes the view of a cell that has a value or none.
func (r *rust) maybe(value func() (eval.Value, bool, error)) bool {
	var v eval.Value
	var has bool
	r.show(eval.Tuple)
	r.check = func() (err error) {
		if v, has, err = value(); err != nil {
			return err
		}
		if !has {
			v = eval.Words("", "<uninit>")
		}
		r.show(eval.Tuple, called(v, "value"))
		return nil
	}
	get := func() (eval.Value, error) {
		if !has {
			return eval.Value{}, fmt.Errorf("the %s has no value", r.name)
		}
		return v, nil
	}
	r.method("get", get)
	r.deref = get
	return true
}

// rustOnceCell shows a OnceCell, which holds an Option.
func rustOnceCell(r *rust) bool {
	v, ok := dig(r.v, r.env, "inner")
	if !ok {
		return false
	}
	v = unwrap(v, r.env)
	if v.Type.Strip().Variants() == nil {
		return false
	}
	return r.maybe(func() (eval.Value, bool, error) {
		form, ok := eval.Variant(v, r.env)
		if !ok || form.Avail == eval.Unreadable {
			return form, false, errors.New("its state can't be read")
		}
		value, some := dig(form, r.env, "0")
		return value, some, nil
	})
}

// rustLazyCell shows a LazyCell, which holds an enum: the function, the value, or nothing after a
// panic.
func rustLazyCell(r *rust) bool {
	v, ok := dig(r.v, r.env, "state")
	if !ok {
		return false
	}
	v = unwrap(v, r.env)
	if v.Type.Strip().Variants() == nil {
		return false
	}
	return r.maybe(func() (eval.Value, bool, error) {
		form, ok := eval.Variant(v, r.env)
		if !ok || form.Avail == eval.Unreadable {
			return form, false, errors.New("its state can't be read")
		}
		value, some := dig(form, r.env, "0")
		return value, some && strings.HasSuffix(form.Type.Strip().Name, "::Init"), nil
	})
}

// rustOnceLock shows a OnceLock or a LazyLock: a Once tells whether there is a value.
func rustOnceLock(r *rust) bool {
	once, ok := dig(r.v, r.env, "once")
	v, ok2 := dig(r.v, r.env, "value|data")
	if !ok || !ok2 {
		return false
	}
	v = unwrap(v, r.env)
	if m, ok := dig(v, r.env, "value"); ok && r.name == "LazyLock" { // a union of the value and the function
		v = unwrap(m, r.env)
	}
	complete, known := onceComplete(once, v, r.env)
	if !known {
		return false
	}
	return r.maybe(func() (eval.Value, bool, error) {
		n, ok := scalarIn(once, r.env)
		if !ok || n < 0 || n > 7 {
			return v, false, errors.New("its state can't be read")
		}
		return v, complete(n), nil
	})
}

// onceZero is the version of Rust since which the state of a complete Once is 0.
const onceZero = 90

// onceComplete returns how the state of a Once tells that it is complete. The numbers have changed:
// before Rust 1.80 the member "state" was 4 then (the futex) or 3 (a queue of waiting threads, in
// "state_and_queue"); then "state_and_queued" was 3, and it is 0 since Rust 1.90. A bit above the
// state tells that threads wait.
func onceComplete(once, v eval.Value, env *inner) (complete func(n int64) bool, known bool) {
	state, ok := dig(once, env, "inner")
	if !ok {
		return nil, false
	}
	if _, ok := dig(state, env, "state"); ok {
		return func(n int64) bool { return n == 4 }, true
	}
	if _, ok := dig(state, env, "state_and_queued"); !ok {
		return nil, false
	}
	knower, ok := env.Env.(RustKnower)
	if !ok {
		return nil, false
	}
	switch version := knower.RustVersion(); {
	case version >= onceZero:
		return func(n int64) bool { return n&3 == 0 }, true
	case version > 0:
		return func(n int64) bool { return n&3 == 3 }, true
	}
	return nil, false
}
