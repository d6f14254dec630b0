package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
)

// Go's runtime records for each goroutine why it waits, for a channel also which one, and for a
// semaphore, on which all locks of package sync are built, its address. All this is in memory, so it
// is the same in a process and in a core.
//
// A mutex of Go does not record its holder. But a holder mostly has a pending defer of Unlock. It may
// have released the lock for a while, so a holder that is found this way is probable and not certain.
//
// That all goroutines wait is certain without a holder: see goStuck.

// GoWait describes what a goroutine waits for.
type GoWait struct {
	ID     uint64 // of the goroutine
	Reason string // in the words of Go's runtime: "chan receive", "sync.Mutex.Lock", …; "" if it does not wait
	// Object is the lock or the channel; 0: none, or unknown. Of a select it is the first channel.
	Object   target.Addr
	Symbol   string // of Object
	Channels []GoChannel
	// Holder is the goroutine that probably holds Object, or 0.
	Holder uint64
	// Function and the place are those of the innermost frame outside Go's runtime and package sync.
	Function, File string
	Line           int

	g, sema uint64
}

// GoChannel is a channel for which a goroutine waits.
type GoChannel struct {
	Addr     target.Addr
	Symbol   string
	Elem     string // the type of its elements, or ""
	Send     bool   // the goroutine wants to send
	Len, Cap uint64
	Closed   bool
	// Senders and Receivers are the goroutines that are parked at the channel.
	Senders, Receivers []uint64
}

// The limits of a walk through the runtime's structures, which may be damaged.
const (
	mostGoroutines = 100_000
	mostSudogs     = 100_000
)

// goWorld reads the structures of Go's runtime.
type goWorld struct {
	s *Session
	m *Module
	// The offsets of the fields of runtime.g, sudog, …, by name.
	g, gobuf, sudog, hchan, p, timers, record, moduledata, fn map[string]int64
	fnSize                                                    uint64 // of runtime._func
	left                                                      int    // sudogs that may still be read
	wraps                                                     map[uint64]*goUnlock
}

// goUnlock is what a function that the compiler has made for a defer unlocks.
type goUnlock struct {
	captured bool                 // the lock's address is in the closure
	static   map[target.Addr]bool // the addresses to which the code refers
}

// goWorld returns nil if the program is not of Go, or has no debug information of its runtime.
func (s *Session) goWorld() *goWorld {
	m := s.exeModule()
	if m == nil || m.Symbols == nil || s.tgt.Arch().PtrSize != 8 {
		return nil
	}
	w := &goWorld{s: s, m: m, left: mostSudogs, wraps: map[uint64]*goUnlock{}}
	if _, ok := w.global("runtime.allgs"); !ok {
		return nil
	}
	for name, to := range map[string]*map[string]int64{
		"runtime.g": &w.g, "runtime.gobuf": &w.gobuf, "runtime.sudog": &w.sudog, "runtime.hchan": &w.hchan, "runtime.p": &w.p,
		"runtime.timers": &w.timers, "runtime._defer": &w.record, "runtime.moduledata": &w.moduledata, "runtime._func": &w.fn,
	} {
		t := m.Symbols.Type(name)
		if t == nil {
			if name == "runtime.timers" {
				continue // before Go 1.23; then a deadlock of all goroutines is not named
			}
			return nil
		}
		if name == "runtime._func" {
			w.fnSize = uint64(t.Strip().Size)
		}
		*to = map[string]int64{}
		for _, f := range t.Strip().Fields() {
			(*to)[f.Name] = f.Offset
		}
	}
	for _, f := range []string{"goid", "atomicstatus", "waitreason", "startpc", "waiting", "sched"} {
		if _, ok := w.g[f]; !ok {
			return nil
		}
	}
	return w
}

func (w *goWorld) global(name string) (uint64, bool) {
	gs := w.m.Symbols.Global(name)
	if len(gs) == 0 {
		return 0, false
	}
	v := w.s.readGlobal(gs[0], searched{w.m.Symbols, w.m}, 0)
	return uint64(v.Addr), v.HasAddr
}

func (w *goWorld) word(a uint64) uint64 {
	v, _ := w.s.word64(target.Addr(a))
	return v
}

// text reads a string at an address.
func (w *goWorld) text(a uint64) string {
	b := make([]byte, min(w.word(a+8), 200))
	n, _ := w.s.readMemory(target.Addr(w.word(a)), b)
	return string(b[:n])
}

// list calls f with each word of a slice.
func (w *goWorld) list(name string, f func(uint64)) {
	at, ok := w.global(name)
	if !ok {
		return
	}
	data, n := w.word(at), min(w.word(at+8), mostGoroutines)
	b := make([]byte, 8*n)
	got, _ := w.s.readMemory(target.Addr(data), b)
	for i := 0; i+8 <= got; i += 8 {
		f(binary.LittleEndian.Uint64(b[i:]))
	}
}

// goWaits returns the goroutines of the program that wait, by number. stuck means that none of them
// can ever run again.
func (s *Session) goWaits() (waits []GoWait, stuck bool) {
	w := s.goWorld()
	if w == nil {
		return nil, false
	}
	byG := map[uint64]uint64{} // numbers
	locks := false
	stuck = true
	w.list("runtime.allgs", func(g uint64) {
		if s.cutShort() {
			return
		}
		status, _ := s.word32(target.Addr(g + uint64(w.g["atomicstatus"])))
		const idle, waiting, dead, deadExtra, leaked, scanned = 0, 4, 6, 11, 10, 0x1000
		one := GoWait{ID: w.word(g + uint64(w.g["goid"])), g: g}
		byG[g] = one.ID
		switch status &^ scanned {
		case idle, dead, deadExtra:
			return
		case waiting, leaked:
		default:
			stuck = false
			return
		}
		reason := w.word(g+uint64(w.g["waitreason"])) & 0xff
		if at, ok := w.global("runtime.waitReasonStrings"); ok && reason < 64 {
			one.Reason = w.text(at + 16*reason)
		}
		if w.isSystem(g) {
			return
		}
		switch {
		case goLockReason(one.Reason):
			locks = true
		case one.Reason == "":
			stuck = false
		default: // sleep, IO wait, …: something else can wake it
			stuck = false
		}
		waits = append(waits, one)
	})
	slices.SortFunc(waits, func(a, b GoWait) int { return int(int64(a.ID - b.ID)) })
	semas := w.semaphores()
	mutexes := false
	for i := range waits {
		x := &waits[i]
		w.place(x)
		x.sema = semas[x.g]
		switch off, ok := goLockOffsets[x.Reason]; {
		case ok && x.sema > off:
			x.Object = target.Addr(x.sema - off)
			mutexes = mutexes || x.Reason != "sync.WaitGroup.Wait" && x.Reason != "semacquire"
		case strings.HasPrefix(x.Reason, "chan ") || strings.HasPrefix(x.Reason, "select"):
			w.channels(x, byG)
		}
		if x.Object != 0 {
			x.Symbol = s.objectName(x.Object)
		}
	}
	stuck = stuck && locks && !w.wakes()
	if mutexes {
		w.holders(waits, stuck)
	}
	return waits, stuck
}

// goLockOffsets are the distances from a lock of package sync to its semaphore, by the reason of the
// wait.
var goLockOffsets = map[string]uint64{
	"sync.Mutex.Lock": 4, "sync.RWMutex.RLock": 12, "sync.RWMutex.Lock": 8,
	"sync.WaitGroup.Wait": 8, "semacquire": 0,
}

// goLockReason reports whether only another goroutine can end a wait.
func goLockReason(reason string) bool {
	switch reason {
	case "sync.Cond.Wait", "chan receive", "chan send", "chan receive (nil chan)", "chan send (nil chan)", "select", "select (no cases)":
		return true
	}
	_, ok := goLockOffsets[reason]
	return ok
}

// wakes reports whether something other than a goroutine can wake one: a timer, or code of C, which
// may call into Go.
func (w *goWorld) wakes() bool {
	at, ok := w.global("runtime.iscgo")
	var b [1]byte
	if n, err := w.s.readMemory(target.Addr(at), b[:]); !ok || err != nil || n < 1 || b[0] != 0 {
		return true
	}
	timers, ok1 := w.p["timers"]
	heap, ok2 := w.timers["heap"]
	if !ok1 || !ok2 {
		return true
	}
	status, ok3 := w.p["status"]
	found := !ok3
	w.list("runtime.allp", func(p uint64) {
		if p == 0 {
			return
		}
		// A processor that is in use may be about to run a timer's function, or may look for work.
		const running, inCall = 1, 2
		state, known := w.s.word32(target.Addr(p + uint64(status)))
		if !known || state == running || state == inCall || w.word(p+uint64(timers+heap)+8) != 0 {
			found = true
		}
	})
	return found
}

// isSystem reports whether a goroutine belongs to Go's runtime: it begins in a function of the
// runtime other than the one that calls main.main.
func (w *goWorld) isSystem(g uint64) bool {
	pc := target.Addr(w.word(g + uint64(w.g["startpc"])))
	m := w.s.modules.find(pc)
	if m == nil || m.Symbols == nil {
		return false
	}
	fn := m.Symbols.FunctionAt(m.fileAddr(pc))
	return fn != nil && strings.HasPrefix(fn.Name, "runtime.") && fn.Name != "runtime.main"
}

// place finds the innermost frame outside the runtime and package sync.
func (w *goWorld) place(x *GoWait) {
	w.frames(x, func(mf *frames.Frame) bool {
		for _, f := range w.s.expand(mf.Clone(), 0) {
			name := f.FunctionName
			library := slices.ContainsFunc([]string{"runtime.", "sync.", "internal/"}, func(p string) bool { return strings.HasPrefix(name, p) })
			if f.Function == nil || name == "" || library {
				continue
			}
			x.Function, x.File, x.Line = name, f.Position.File, f.Position.Line
			return false
		}
		return true
	})
}

// sudogs calls f with each waiter of a list that is linked by a field.
func (w *goWorld) sudogs(first uint64, link string, f func(sudog uint64)) {
	for at := first; at != 0 && w.left > 0; at = w.word(at + uint64(w.sudog[link])) {
		w.left--
		f(at)
	}
}

// semaphores returns for each goroutine the semaphore on which it waits: runtime.semtable has a tree
// of waiters for each of its 251 parts, with a list for each semaphore.
func (w *goWorld) semaphores() map[uint64]uint64 {
	out := map[uint64]uint64{}
	at, ok := w.global("runtime.semtable")
	if !ok {
		return out
	}
	gs := w.m.Symbols.Global("runtime.semtable")
	t := gs[0].Type.Strip()
	if t.Elem() == nil || t.Count <= 0 || t.Count > 10_000 {
		return out
	}
	treap := uint64(8)
	if r := w.m.Symbols.Type("runtime.semaRoot"); r != nil {
		for _, f := range r.Strip().Fields() {
			if f.Name == "treap" {
				treap = uint64(f.Offset)
			}
		}
	}
	size := uint64(t.Elem().Strip().Size)
	for i := range uint64(t.Count) {
		todo := []uint64{w.word(at + i*size + treap)}
		for len(todo) > 0 && w.left > 0 {
			root := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if root == 0 {
				continue
			}
			todo = append(todo, w.word(root+uint64(w.sudog["prev"])), w.word(root+uint64(w.sudog["next"])))
			sema := w.word(root + uint64(w.sudog["elem"]))
			w.sudogs(root, "waitlink", func(sd uint64) { out[w.word(sd+uint64(w.sudog["g"]))] = sema })
		}
	}
	return out
}

// channels reads the channels for which a goroutine waits.
func (w *goWorld) channels(x *GoWait, byG map[uint64]uint64) {
	w.sudogs(w.word(x.g+uint64(w.g["waiting"])), "waitlink", func(sd uint64) {
		at := w.word(sd + uint64(w.sudog["c"]))
		if at == 0 || len(x.Channels) == 100 {
			return
		}
		c := GoChannel{Addr: target.Addr(at)}
		c.Len, c.Cap = w.word(at+uint64(w.hchan["qcount"])), w.word(at+uint64(w.hchan["dataqsiz"]))
		c.Symbol = w.s.objectName(c.Addr)
		c.Closed = w.word(at+uint64(w.hchan["closed"]))&0xffffffff != 0
		if t, _ := w.s.env(0, 0).GoType(target.Addr(w.word(at + uint64(w.hchan["elemtype"])))); t != nil {
			c.Elem = t.GoName()
		}
		// A waitq has the first and the last waiter.
		w.sudogs(w.word(at+uint64(w.hchan["sendq"])), "next", func(other uint64) {
			c.Send = c.Send || other == sd
			c.Senders = append(c.Senders, byG[w.word(other+uint64(w.sudog["g"]))])
		})
		w.sudogs(w.word(at+uint64(w.hchan["recvq"])), "next", func(other uint64) {
			c.Receivers = append(c.Receivers, byG[w.word(other+uint64(w.sudog["g"]))])
		})
		x.Channels = append(x.Channels, c)
		if x.Object == 0 {
			x.Object = c.Addr
		}
	})
}

// holders finds the goroutines that probably hold the locks for which others wait. stuck means that
// all goroutines wait.
//
// A goroutine with a pending Unlock may have released the lock for a while. It has, if it waits in
// sync.Cond.Wait, and mostly if it waits for the lock itself.
func (w *goWorld) holders(waits []GoWait, stuck bool) {
	wanted := map[target.Addr][]uint64{} // the goroutines with a pending Unlock
	for i := range waits {
		if _, ok := goLockOffsets[waits[i].Reason]; ok && waits[i].Object != 0 {
			wanted[waits[i].Object] = nil
		}
	}
	for i := range waits {
		x := &waits[i]
		if x.Reason == "sync.Cond.Wait" {
			continue
		}
		if w.s.cutShort() {
			return
		}
		for _, closure := range w.pending(x) {
			u := w.unlocks(w.word(closure))
			if u == nil {
				continue
			}
			captured := target.Addr(w.word(closure + 8))
			for a, list := range wanted {
				again := a == x.Object && !stuck
				if (u.captured && captured == a || u.static[a]) && !again && !slices.Contains(list, x.ID) {
					wanted[a] = append(list, x.ID)
				}
			}
		}
	}
	for i := range waits {
		x := &waits[i]
		list := wanted[x.Object]
		if _, ok := goLockOffsets[x.Reason]; ok && len(list) == 1 && w.locked(x) {
			x.Holder = list[0]
		}
	}
}

// pending returns the closures of a goroutine's pending defers. Most defers are in a list. Those of a
// function with few of them are in its frame ("open-coded"): a bit for each tells whether it is
// pending. The function's FUNCDATA_OpenCodedDeferInfo has the distances of the bits and of the first
// closure from the end of the frame's variables (runtime.(*_panic).initOpenCodedDefers).
func (w *goWorld) pending(x *GoWait) (closures []uint64) {
	at := w.word(x.g + uint64(w.g["_defer"]))
	for n := 0; at != 0 && n < 1000; n++ {
		if fn := w.word(at + uint64(w.record["fn"])); fn != 0 {
			closures = append(closures, fn)
		}
		at = w.word(at + uint64(w.record["link"]))
	}
	w.frames(x, func(mf *frames.Frame) bool {
		bits, slots, ok := w.openCoded(uint64(mf.LookupPC()))
		if !ok || !mf.HasCFA {
			return true
		}
		end := uint64(mf.CFA) - 16 // below the return address and the saved frame pointer
		for i, set := 0, w.word(end-bits)&0xff; set != 0; i, set = i+1, set>>1 {
			if set&1 != 0 {
				closures = append(closures, w.word(end-slots+uint64(8*i)))
			}
		}
		return true
	})
	return closures
}

// openCoded returns the distances for the function at an address: see pending.
func (w *goWorld) openCoded(pc uint64) (bits, slots uint64, ok bool) {
	m, text := w.firstModule()
	table, n := w.word(m+uint64(w.moduledata["ftab"])), w.word(m+uint64(w.moduledata["ftab"])+8)
	if n < 2 || n > 1<<24 || pc < text || pc-text > 1<<32-1 {
		return 0, 0, false
	}
	// Entries of two uint32: the function's distance from the text, and its place in pclntable.
	off := uint32(pc - text)
	lo, hi := uint64(0), n-1
	for lo+1 < hi {
		i := (lo + hi) / 2
		if entry, ok := w.s.word32(target.Addr(table + 8*i)); !ok {
			return 0, 0, false
		} else if entry <= off {
			lo = i
		} else {
			hi = i
		}
	}
	where, _ := w.s.word32(target.Addr(table + 8*lo + 4))
	fn := w.word(m+uint64(w.moduledata["pclntable"])) + uint64(where)
	pcdata, _ := w.s.word32(target.Addr(fn + uint64(w.fn["npcdata"])))
	const info = 4 // FUNCDATA_OpenCodedDeferInfo
	if count := w.word(fn+uint64(w.fn["nfuncdata"])) & 0xff; count <= info || pcdata > 1000 {
		return 0, 0, false
	}
	data, known := w.s.word32(target.Addr(fn + w.fnSize + uint64(4*pcdata) + 4*info))
	if !known || data == ^uint32(0) {
		return 0, 0, false
	}
	var b [20]byte
	got, _ := w.s.readMemory(target.Addr(w.word(m+uint64(w.moduledata["gofunc"]))+uint64(data)), b[:])
	bits, k := binary.Uvarint(b[:got])
	if k <= 0 {
		return 0, 0, false
	}
	slots, l := binary.Uvarint(b[k:got])
	return bits, slots, l > 0 && bits < 1<<20 && slots < 1<<20 && bits >= 1 && slots >= 8
}

// firstModule returns runtime.firstmoduledata, and the address of the program's text.
func (w *goWorld) firstModule() (m, text uint64) {
	m, _ = w.global("runtime.firstmoduledata")
	return m, w.word(m + uint64(w.moduledata["text"]))
}

// frames calls f with the frames of a parked goroutine.
func (w *goWorld) frames(x *GoWait, f func(*frames.Frame) bool) {
	regs := arch.Registers{Arch: w.s.tgt.Arch()}
	sched := x.g + uint64(w.g["sched"])
	regs.Set(arch.RSP, w.word(sched+uint64(w.gobuf["sp"])))
	regs.Set(arch.RIP, w.word(sched+uint64(w.gobuf["pc"])))
	if bp, ok := w.gobuf["bp"]; ok {
		regs.Set(arch.RBP, w.word(sched+uint64(bp)))
	}
	n := 0
	const most = 100
	for mf, err := range w.s.unwinder().Walk(&regs).Frames(context.Background()) {
		if n++; err != nil || n > most || !f(mf) {
			return
		}
	}
}

// locked reports whether a lock is really taken: its waiter may have been woken.
func (w *goWorld) locked(x *GoWait) bool {
	state, ok := w.s.word32(x.Object)
	switch x.Reason {
	case "sync.Mutex.Lock":
		return ok && state&1 != 0
	case "sync.RWMutex.RLock", "sync.RWMutex.Lock":
		return true
	}
	return false
}

// unlocks returns what a function unlocks whose entry is at an address, or nil: one of those that the
// compiler makes for a defer.
func (w *goWorld) unlocks(a uint64) *goUnlock {
	if u, ok := w.wraps[a]; ok {
		return u
	}
	if a < 1<<12 || a >= 1<<47 || !w.inside(target.Addr(a)) {
		return nil
	}
	u := w.readUnlock(target.Addr(a))
	w.wraps[a] = u
	return u
}

func (w *goWorld) inside(a target.Addr) bool { return w.s.modules.find(a) == w.m }

func (w *goWorld) readUnlock(a target.Addr) *goUnlock {
	fn := w.m.Symbols.FunctionAt(w.m.fileAddr(a))
	if fn == nil || w.m.processAddr(fn.Lo) != a || !strings.Contains(fn.Name, "deferwrap") || fn.Hi-fn.Lo > 1<<12 {
		return nil
	}
	code := make([]byte, fn.Hi-fn.Lo)
	if n, err := w.s.readMemory(a, code); err != nil || n < len(code) {
		return nil
	}
	u := &goUnlock{static: map[target.Addr]bool{}}
	unlock, context := false, false
	for i := 0; i+7 <= len(code); i++ {
		rel := func(at int) target.Addr {
			return a + target.Addr(at+4) + target.Addr(int64(int32(binary.LittleEndian.Uint32(code[at:]))))
		}
		if code[i] == 0xe8 { // call
			if to := rel(i + 1); w.inside(to) {
				callee := w.m.Symbols.FunctionAt(w.m.fileAddr(to))
				unlock = unlock || callee != nil && w.m.processAddr(callee.Lo) == to && strings.Contains(strings.ToLower(callee.Name), "unlock")
			}
		}
		// lea or mov x(%rip),%reg
		if code[i]&0xfb == 0x48 && (code[i+1] == 0x8d || code[i+1] == 0x8b) && code[i+2]&0xc7 == 0x05 {
			u.static[rel(i+3)] = true
		}
		if bytes.HasPrefix(code[i:], []byte{0x48, 0x8b}) && code[i+2]&0xc7 == 0x42 && code[i+3] == 8 { // mov 8(%rdx),%reg
			context = true
		}
	}
	if !unlock {
		return nil
	}
	u.captured = context
	return u
}

// goCycles finds the cycles of goroutines that wait for each other's locks.
func goCycles(waits []GoWait) (out [][]GoWait) {
	nodes := make([]Wait, len(waits))
	byID := map[uint64]*GoWait{}
	for i := range waits {
		x := &waits[i]
		nodes[i].Thread.ID, nodes[i].Thread.Number = target.ThreadID(x.ID), int(x.ID)
		nodes[i].Kind, nodes[i].Holder = WaitMutex, target.ThreadID(x.Holder)
		byID[x.ID] = x
	}
	for _, c := range cycles(nodes) {
		var list []GoWait
		for _, n := range c {
			list = append(list, *byID[uint64(n.Thread.ID)])
		}
		out = append(out, list)
	}
	return out
}
