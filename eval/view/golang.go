package view

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"dbg/eval"
	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// goViews are the views of Go's standard library, by the type's name without type arguments.
var goViews map[string]func(g *rust) bool

func init() { // they refer to functions that refer to views
	goViews = map[string]func(g *rust) bool{
		"time.Time": goTime, "math/big.Int": goBig,
		"sync.Mutex": goMutex, "internal/sync.Mutex": goMutex,
		"sync.RWMutex": goRWMutex, "sync.WaitGroup": goWaitGroup, "sync.Once": goOnce,
		"sync/atomic.Bool": goAtomic, "sync/atomic.Int32": goAtomic, "sync/atomic.Int64": goAtomic,
		"sync/atomic.Uint32": goAtomic,
		"sync/atomic.Uint64": goAtomic, "sync/atomic.Uintptr": goAtomic, "sync/atomic.Pointer": goAtomic, "sync/atomic.Value": goAtomic,
		"errors.errorString": goError, "fmt.wrapError": goError, "fmt.wrapErrors": goError, "errors.joinError": goError,
		"io/fs.PathError": goError, "os.LinkError": goError, "os.SyscallError": goError,
		"strconv.NumError": goError, "net.OpError": goError,
	}
}

// goView returns the maker of the views of a type of Go, or nil.
func goView(t *types.Type) func(v eval.Value, env *inner) eval.View {
	if t.Lang != lang.Go {
		return nil
	}
	name, _, _ := strings.Cut(t.Name, "[")
	fill := goViews[name]
	if fill == nil {
		return nil
	}
	return func(v eval.Value, env *inner) eval.View {
		if g := (&rust{v: v, env: env, name: name}); fill(g) {
			return g
		}
		return nil
	}
}

// goMutex shows whether a sync.Mutex is locked. The state has a bit for that, two more, and the
// number of goroutines that wait. Since Go 1.24 it is in internal/sync.Mutex.
func goMutex(g *rust) bool {
	v := g.v
	if m, ok := dig(v, g.env, "mu"); ok {
		v = m
	}
	state, ok := dig(v, g.env, "state")
	if !ok {
		return false
	}
	text := ""
	g.show(eval.SummaryOnly)
	g.check = func() error {
		n, err := eval.Number(state, g.env)
		text = mutexText(uint32(n))
		g.show(eval.SummaryOnly, called(eval.Bool(n&1 != 0), "locked"), called(eval.FromInt(int64(uint32(n)>>3)), "waiting"))
		return err
	}
	g.says(func() string { return "sync.Mutex " + text })
	return true
}

func mutexText(state uint32) string {
	text := "unlocked"
	if state&1 != 0 {
		text = "locked"
	}
	if state>>3 > 0 {
		text += fmt.Sprintf(", %d waiting", state>>3)
	}
	return text
}

// goRWMutex shows who holds a sync.RWMutex. A writer that waits or writes subtracts 1<<30 from the
// number of readers.
func goRWMutex(g *rust) bool {
	count, ok := dig(g.v, g.env, "readerCount")
	wait, ok2 := dig(g.v, g.env, "readerWait")
	if !ok || !ok2 {
		return false
	}
	text := ""
	g.show(eval.SummaryOnly)
	g.check = func() error {
		n, ok1 := scalarIn(count, g.env)
		w, ok2 := scalarIn(wait, g.env)
		if !ok1 || !ok2 {
			return errors.New("it can't be read")
		}
		const most = 1 << 30
		n, w = int64(int32(n)), int64(int32(w))
		writer := n < 0
		if writer {
			n += most
		}
		if n < 0 || n >= most || w < 0 || w > most {
			return fmt.Errorf("%d readers, of which a writer awaits %d", n, w)
		}
		switch {
		case writer && w > 0:
			text = fmt.Sprintf("read locked by %d, a writer waiting", w)
		case writer:
			text = "write locked"
			if n > 0 {
				text += fmt.Sprintf(", %d readers waiting", n)
			}
		case n > 0:
			text = fmt.Sprintf("read locked by %d", n)
		default:
			text = "unlocked"
		}
		g.show(eval.SummaryOnly, called(eval.FromInt(n), "readers"), called(eval.Bool(writer), "writer"))
		return nil
	}
	g.says(func() string { return "sync.RWMutex " + text })
	return true
}

// goWaitGroup shows the counter of a sync.WaitGroup, the upper half of its state, and how many
// goroutines wait, the lower half. The highest bit of the lower half is testing/synctest's (Go
// 1.25).
func goWaitGroup(g *rust) bool {
	state, ok := dig(g.v, g.env, "state")
	if !ok {
		return false
	}
	var counter, waiting int64
	g.show(eval.SummaryOnly)
	g.check = func() error {
		n, ok := scalarIn(state, g.env)
		if !ok {
			return errors.New("it can't be read")
		}
		counter, waiting = n>>32, n&(1<<31-1)
		if counter < 0 {
			return fmt.Errorf("its counter is %d", counter)
		}
		g.show(eval.SummaryOnly, called(eval.FromInt(counter), "counter"), called(eval.FromInt(waiting), "waiting"))
		return nil
	}
	g.says(func() string { return fmt.Sprintf("sync.WaitGroup counter: %d, waiting: %d", counter, waiting) })
	return true
}

// goOnce shows whether the function of a sync.Once has run.
func goOnce(g *rust) bool {
	done, ok := dig(g.v, g.env, "done")
	if !ok {
		return false
	}
	ran := false
	g.show(eval.SummaryOnly)
	g.check = func() error {
		n, ok := goScalar(done, g.env)
		if !ok || n < 0 || n > 1 {
			return errors.New("it can't be read")
		}
		ran = n == 1
		g.show(eval.SummaryOnly, called(eval.Bool(ran), "done"))
		return nil
	}
	g.says(func() string {
		if ran {
			return "sync.Once done"
		}
		return "sync.Once not done"
	})
	return true
}

func goScalar(v eval.Value, env eval.Env) (int64, bool) {
	if m, ok := dig(v, env, "v"); ok {
		v = m
	}
	return scalarIn(v, env)
}

// goAtomic shows the value of an atomic.
func goAtomic(g *rust) bool {
	v, ok := dig(g.v, g.env, "v")
	if !ok {
		return false
	}
	switch g.name {
	case "sync/atomic.Bool":
		if n, err := eval.Number(v, g.env); err == nil && n >= 0 && n <= 1 {
			v = eval.Bool(n == 1)
		}
	case "sync/atomic.Pointer":
		_, arg, _ := strings.Cut(g.v.Type.Strip().Name, "[")
		if t := g.env.Env.Type(strings.TrimSuffix(arg, "]")); t != nil {
			p := types.New(types.Pointer, "*"+t.GoName(), v.Type.Strip().Size, false, t)
			p.Lang = lang.Go
			v.Type = p
		}
	}
	g.says(func() string { return "" })
	g.show(eval.Inside, called(v, "v"))
	g.method("Load", func() (eval.Value, error) { return v, nil })
	return true
}

// goBig shows a big.Int: a sign and words, the lowest first.
func goBig(g *rust) bool {
	neg, ok := dig(g.v, g.env, "neg")
	abs, ok2 := dig(g.v, g.env, "abs")
	if !ok || !ok2 {
		return false
	}
	text := ""
	g.show(eval.SummaryOnly, called(neg, "neg"), called(abs, "abs"))
	g.check = func() error {
		minus, err := eval.IsTrue(neg, g.env)
		elem, at, n, ok := eval.Sequence(abs, g.env)
		if err != nil || !ok || elem.Strip().Size != 8 || n > 1<<12 {
			return errors.New("its words can't be read")
		}
		b := make([]byte, n*8)
		if got, err := g.env.ReadMemory(at, b); got < len(b) {
			return errors.Join(errors.New("its words can't be read"), err)
		}
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
		x := new(big.Int).SetBytes(b)
		if minus {
			x.Neg(x)
		}
		text = x.String()
		return nil
	}
	g.says(func() string { return text })
	return true
}

// goTime shows a time.Time as its method String does. wall has the nanoseconds in its lower 30
// bits. If its highest bit is set, the 33 bits between are seconds since 1885 and ext is the
// monotonic clock; else ext is seconds since the year 1.
func goTime(g *rust) bool {
	wall, ok1 := dig(g.v, g.env, "wall")
	ext, ok2 := dig(g.v, g.env, "ext")
	loc, ok3 := dig(g.v, g.env, "loc")
	if !ok1 || !ok2 || !ok3 {
		return false
	}
	text := ""
	g.show(eval.SummaryOnly, called(wall, "wall"), called(ext, "ext"), called(loc, "loc"))
	g.check = func() error {
		n, err := eval.Number(wall, g.env)
		if err != nil {
			return err
		}
		secs, err := eval.Number(ext, g.env)
		if err != nil {
			return err
		}
		const (
			year1    = -62135596800 // in seconds since 1970
			year1885 = -2682288000
		)
		w, monotonic := uint64(n), ""
		nanos := int64(w & (1<<30 - 1))
		if nanos >= nanosPerSecond {
			return fmt.Errorf("%d nanoseconds", nanos)
		}
		if w>>63 != 0 {
			sign, clock := '+', secs
			if clock < 0 {
				sign, clock = '-', -clock
			}
			monotonic = fmt.Sprintf(" m=%c%d.%09d", sign, clock/nanosPerSecond, clock%nanosPerSecond)
			secs = int64(w<<1>>31) + year1885
		} else {
			secs += year1
		}
		t := time.Unix(secs, nanos).UTC()
		if name, offset, ok := goZone(loc, secs, g.env); ok {
			t = t.In(time.FixedZone(name, offset))
		}
		text = t.Format("2006-01-02 15:04:05.999999999 -0700 MST") + monotonic
		return nil
	}
	g.says(func() string { return text })
	return true
}

// goZone finds the zone of a time.Location at a time: in its cache, or in its list of changes. ok
// is false if it is UTC, or is not known: rules for the far future are not looked at.
func goZone(loc eval.Value, secs int64, env *inner) (name string, offset int, ok bool) {
	if n, err := eval.Number(loc, env); err != nil || n == 0 {
		return "", 0, false
	}
	l, err := eval.Target(loc, env)
	if err != nil {
		return "", 0, false
	}
	zones, _ := dig(l, env, "zone")
	elem, at, count, ok := eval.Sequence(zones, env)
	if !ok || count <= 0 || count > 1<<10 {
		return "", 0, false
	}
	zone := func(z eval.Value) (string, int, bool) {
		text, ok1 := dig(z, env, "name")
		off, ok2 := digNumber(z, env, "offset")
		_, a, n, ok3 := eval.Sequence(text, env)
		if !ok1 || !ok2 || !ok3 || n > 64 || off < -100_000 || off > 100_000 {
			return "", 0, false
		}
		b := make([]byte, n)
		got, _ := env.ReadMemory(a, b)
		return string(b), int(off), got == len(b)
	}
	start, ok1 := digNumber(l, env, "cacheStart")
	end, ok2 := digNumber(l, env, "cacheEnd")
	if cached, ok := dig(l, env, "cacheZone"); ok && ok1 && ok2 && secs >= start && secs < end {
		if n, err := eval.Number(cached, env); err == nil && n != 0 {
			if z, err := eval.Target(cached, env); err == nil {
				return zone(z)
			}
		}
	}
	changes, _ := dig(l, env, "tx")
	kind, first, n, ok := eval.Sequence(changes, env)
	if !ok || n > 1<<12 {
		return "", 0, false
	}
	found := int64(-1)
	for i := range n {
		c := eval.Value{Type: kind, Addr: first + addr(i*kind.Strip().Size), HasAddr: true}
		when, ok := digNumber(c, env, "when")
		if !ok || when > secs {
			break
		}
		if i == n-1 && n > 1 { // the rules after the last change are in a text
			return "", 0, false
		}
		if found, ok = digNumber(c, env, "index"); !ok {
			return "", 0, false
		}
	}
	if n == 0 {
		found = 0
	}
	if found < 0 || found >= count {
		return "", 0, false
	}
	return zone(eval.Value{Type: elem, Addr: at + addr(found*elem.Strip().Size), HasAddr: true})
}

// goError shows an error of the standard library: its text, and the errors that it wraps.
func goError(g *rust) bool {
	switch g.name {
	case "errors.joinError":
		errs, ok := dig(g.v, g.env, "errs")
		if !ok {
			return false
		}
		g.array(func() (*types.Type, addr, int64, error) {
			elem, at, n, ok := eval.Sequence(errs, g.env)
			if !ok {
				return nil, 0, 0, errors.New("it can't be read")
			}
			return elem, at, n, nil
		})
		g.says(func() string { return fmt.Sprintf("%d errors", g.list.n) })
		return true
	case "errors.errorString", "fmt.wrapError", "fmt.wrapErrors":
		msg, ok := dig(g.v, g.env, "s|msg")
		if !ok {
			return false
		}
		if under, ok := dig(g.v, g.env, "err|errs"); ok {
			under.Name = "wraps"
			g.show(eval.Fields, under)
		} else {
			g.show(eval.SummaryOnly, called(msg, "s"))
		}
		g.text = func(opt eval.Options) (string, error) {
			opt.Inner = true
			return eval.Format(msg, g.env.Env, opt), nil
		}
		return true
	}
	fields := g.v.Type.Strip().Fields()
	var list []eval.Value
	for i := range fields {
		list = append(list, eval.FieldOf(g.v, &fields[i], g.env))
	}
	g.says(func() string { return "" })
	g.show(eval.Fields, list...)
	return true
}
