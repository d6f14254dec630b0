package view

import (
	"errors"
	"fmt"
	"strings"

	"dbg/eval"
	"dbg/symbols/types"
)

// rustOwnedText shows a PathBuf, an OsString or a CString as its text.
func rustOwnedText(r *rust) bool {
	v := r.v
	for range 5 {
		if _, name := rustName(v.Type.Strip().Name); name == "Vec" {
			break
		}
		if _, ok := dig(v, r.env, "data_ptr"); ok {
			break
		}
		m, ok := dig(v, r.env, "inner")
		if !ok {
			return false
		}
		v = m
	}
	return r.textOf(r.name == "CString", func() (addr, int64, error) {
		_, at, n, ok := eval.Sequence(v, r.env)
		if !ok {
			return 0, 0, errors.New("its buffer can't be read")
		}
		return at, n, nil
	})
}

// rustBorrowedText shows a reference or a Box of a Path, an OsStr or a CStr.
func rustBorrowedText(r *rust) bool {
	data, ok := dig(r.v, r.env, "data_ptr")
	length, ok2 := dig(r.v, r.env, "length")
	if !ok || !ok2 || data.Type.Strip().Elem() == nil {
		return false
	}
	crate, name := rustName(data.Type.Strip().Elem().Strip().Name)
	if name != "Path" && name != "OsStr" && name != "CStr" || crate != "std" && crate != "core" {
		return false
	}
	r.name = name
	return r.textOf(name == "CStr", func() (addr, int64, error) {
		at, err := eval.Number(data, r.env)
		if err != nil {
			return 0, 0, err
		}
		n, err := eval.Number(length, r.env)
		return addr(at), n, err
	})
}

// textOf completes the view of a text. zero: the last byte is a zero that is not shown.
func (r *rust) textOf(zero bool, place func() (at addr, n int64, err error)) bool {
	var at addr
	var n int64
	r.show(eval.Inside)
	r.check = func() (err error) {
		if at, n, err = place(); err != nil {
			return err
		}
		if n < 0 || n > 1<<47 || zero && n == 0 {
			return fmt.Errorf("a text of %d bytes", uint64(n))
		}
		if zero {
			n--
			b := make([]byte, 1)
			if got, err := r.env.ReadMemory(at+addr(n), b); got < 1 || b[0] != 0 {
				return errors.Join(errors.New("the text does not end with a zero"), err)
			}
		}
		r.show(eval.Inside, called(strAt(at, n, r.env), "text"))
		return nil
	}
	r.says(func() string { return "" })
	r.method("len", func() (eval.Value, error) { return eval.FromInt(n), nil })
	r.method("is_empty", func() (eval.Value, error) { return eval.Bool(n == 0), nil })
	str := func() (eval.Value, error) { return r.list.at(0), nil }
	for _, name := range []string{"as_str", "as_os_str", "as_path", "to_str", "display"} {
		r.method(name, str)
	}
	r.deref = str
	r.add("operator==", 1, func(args []eval.Value) (eval.Value, error) {
		same, err := eval.Equal(r.list.at(0), args[0], r.env)
		return eval.Bool(same), err
	})
	return true
}

// rustRange shows 1..5, 1..=5, 3.., ..4, ..=4 and .. as Rust writes them.
func rustRange(r *rust) bool {
	from, hasFrom := dig(r.v, r.env, "start")
	to, hasTo := dig(r.v, r.env, "end|last")
	operator := ".."
	if strings.HasSuffix(r.name, "Inclusive") {
		operator = "..="
	}
	wantFrom, wantTo := r.name == "Range" || r.name == "RangeInclusive" || r.name == "RangeFrom",
		!strings.HasSuffix(r.name, "From") && r.name != "RangeFull"
	if hasFrom != wantFrom || hasTo != wantTo {
		return false
	}
	var list []eval.Value
	if hasFrom {
		list = append(list, called(from, "start"))
		r.method("start", func() (eval.Value, error) { return from, nil })
	}
	if hasTo {
		list = append(list, called(to, "end"))
		r.method("end", func() (eval.Value, error) { return to, nil })
	}
	r.show(eval.SummaryOnly, list...)
	r.text = func(opt eval.Options) (string, error) {
		opt.Inner = true
		text := ""
		if hasFrom {
			text = eval.Format(from, r.env.Env, opt)
		}
		text += operator
		if hasTo {
			text += eval.Format(to, r.env.Env, opt)
		}
		if done, ok := digNumber(r.v, r.env, "exhausted"); ok && done != 0 {
			text += " (exhausted)"
		}
		return text, nil
	}
	return true
}

// rustTuple shows Wrapping(5) and Reverse(5).
func rustTuple(r *rust) bool {
	v, ok := dig(r.v, r.env, "0")
	if !ok {
		return false
	}
	r.show(eval.Tuple, called(v, "0"))
	return true
}

// rustNumber shows the number in a NonZero.
func rustNumber(r *rust) bool {
	v, ok := scalarPart(r.v, r.env, 0)
	if !ok {
		return false
	}
	r.says(func() string { return "" })
	r.show(eval.Inside, called(v, "value"))
	r.method("get", func() (eval.Value, error) { return v, nil })
	return true
}

// rustAtomic shows the number in an atomic. AtomicBool has a byte.
func rustAtomic(r *rust) bool {
	v, ok := scalarPart(r.v, r.env, 0)
	if !ok {
		return false
	}
	arg := typeArg(r.v.Type, 0) // since 1.96 AtomicBool is Atomic<bool>
	if r.name == "AtomicBool" || arg != nil && arg.Strip().Kind == types.Bool {
		if n, err := eval.Number(v, r.env); err == nil && n >= 0 && n <= 1 {
			v = eval.Bool(n == 1)
		}
	}
	r.says(func() string { return "" })
	r.show(eval.Inside, called(v, "value"))
	r.method("load", func() (eval.Value, error) { return v, nil })
	return true
}
