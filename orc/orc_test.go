package orc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/expr"
	"dbg/row"
	"dbg/target"
)

const base = 0xffffffff81000000

// words is a memory in which each word's value follows from its address.
type words struct{}

func word(addr uint64) uint64 { return addr*0x9e3779b97f4a7c15 ^ addr>>7 }

func (words) Word(addr target.Addr, size int) (uint64, error) { return word(uint64(addr)), nil }

func (words) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], word(uint64(addr)))
	return copy(buf, b[:]), nil
}

// step is what the kernel's unwinder does with an entry: the caller's RIP, RSP, RBP.
func step(e *Entry, before bool, regs map[Reg]uint64) (ip, sp, bp uint64) {
	bp = regs[BP]
	switch e.SP {
	case SP, BP:
		sp = regs[e.SP] + uint64(int64(e.SPOffset))
	case BPIndirect:
		sp = word(regs[BP] + uint64(int64(e.SPOffset)))
	case SPIndirect:
		if sp = word(regs[SP]) + uint64(int64(e.SPOffset)); before {
			sp = word(regs[SP] + uint64(int64(e.SPOffset)))
		}
	default:
		sp = regs[e.SP]
	}
	at := sp
	switch e.Type {
	case Call:
		ip = word(sp - 8)
	case Regs:
		ip, sp = word(at+128), word(at+152)
	case RegsPartial:
		ip, sp = word(at), word(at+24)
	}
	switch {
	case e.BP == PrevSP:
		bp = word(at + uint64(int64(e.BPOffset)))
	case e.BP == BP:
		bp = word(regs[BP] + uint64(int64(e.BPOffset)))
	case e.Type == Regs:
		bp = word(at + 32)
	}
	return ip, sp, bp
}

// TestRoundTrip encodes random entries of each version, sorted and not, and holds the rows against a machine that
// does with an entry what the kernel does.
func TestRoundTrip(t *testing.T) {
	for v := V1; v <= V4; v++ {
		for _, shuffled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d shuffled=%v", v, shuffled), func(t *testing.T) { roundTrip(t, v, shuffled) })
		}
	}
}

func roundTrip(t *testing.T, v Version, shuffled bool) {
	const n = 5000
	r := rand.New(rand.NewPCG(uint64(v), 1))
	entries := make([]Entry, n)
	addr := uint64(base)
	for i := range entries {
		entries[i] = randomEntry(r, v)
		entries[i].Lo = addr
		addr += 1 + r.Uint64N(40)
		entries[i].Hi = addr
	}
	order := r.Perm(n)
	x := encoder{version: v, ipAddr: base + 1<<24}
	for i := range entries {
		if !shuffled {
			order[i] = i
		}
		entries[order[i]].Index = i
		x.add(entries[order[i]].Lo, entries[order[i]])
	}
	c := x.config()
	c.End = addr
	table, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := table.ChosenVersion(); got != v || table.Entries() != n {
		t.Fatalf("version %v, %d entries", got, table.Entries())
	}
	i := 0
	table.EachRow(0, n, func(lo, hi uint64, got *row.Row, hash uint64) bool {
		for entries[i].Type == Gap {
			i++
		}
		if lo != entries[i].Lo || hi != entries[i].Hi {
			t.Fatalf("row %d of %x to %x, expected %+v", i, lo, hi, entries[i])
		}
		i++
		return true
	})
	for i := range entries {
		e := &entries[i]
		var got Entry
		if err := table.Entry(i, &got); err != nil || got != *e {
			t.Fatalf("entry %d is %+v, %v; expected %+v", i, got, err, *e)
		}
		for _, pc := range []uint64{e.Lo, e.Hi - 1} {
			checkRow(t, table, e, pc, r)
		}
	}
	for _, pc := range []uint64{0, base - 1, addr, 1<<64 - 1} {
		if err := table.RowAt(pc, new(row.Row)); err != ErrNotCovered {
			t.Errorf("RowAt(%#x): %v", pc, err)
		}
	}
}

func checkRow(t *testing.T, table *Table, e *Entry, pc uint64, rnd *rand.Rand) {
	t.Helper()
	var r row.Row
	err := table.RowAt(pc, &r)
	if e.Type == Gap {
		if err != ErrNotCovered {
			t.Fatalf("%+v at %#x: %v", *e, pc, err)
		}
		return
	}
	if err != nil || r.Lo != e.Lo || r.Hi != e.Hi {
		t.Fatalf("%+v at %#x: %v %+v", *e, pc, err, r)
	}
	regs := arch.Registers{Arch: arch.AMD64}
	base := map[Reg]uint64{}
	for reg, a := range map[Reg]arch.Reg{AX: arch.RAX, DX: arch.RDX, DI: arch.RDI, BP: arch.RBP, SP: arch.RSP, R10: arch.R10, R13: arch.R13} {
		base[reg] = rnd.Uint64()
		regs.Set(a, base[reg])
	}
	var caller row.Caller
	env := row.Env{Arch: arch.AMD64, Regs: &regs, Mem: words{}, Preserved: &arch.RegSet{}, Expr: &expr.Context{Mem: words{}}}
	if err := row.Apply(&r, &env, &caller); err != nil {
		t.Fatalf("%+v: %v", *e, err)
	}
	if e.Type == EndOfStack {
		if !caller.End {
			t.Fatalf("%+v has a caller", *e)
		}
		return
	}
	var places row.Places
	caller.Commit(&regs, &places)
	ip, sp, bp := step(e, false, base)
	gotIP, _ := regs.PC()
	gotSP, _ := regs.SP()
	gotBP, known := regs.Get(arch.RBP)
	if gotIP != ip || gotSP != sp || gotBP != bp || !known || r.Signal != e.Signal {
		t.Fatalf("%+v: rip %x rsp %x rbp %x signal %v, expected %x %x %x", *e, gotIP, gotSP, gotBP, r.Signal, ip, sp, bp)
	}
	if _, known := regs.Get(arch.RBX); known != (e.Type == Regs) {
		t.Fatalf("%+v: rbx known: %v", *e, known)
	}
}

func TestRegistersOfInterruptedCode(t *testing.T) {
	x := encoder{version: V3, ipAddr: base}
	x.add(base, Entry{Type: Regs, SP: SP, SPOffset: 16, Signal: true})
	c := x.config()
	c.End = base + 1
	table, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	var r row.Row
	if err := table.RowAt(base, &r); err != nil {
		t.Fatal(err)
	}
	// struct pt_regs: r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig_ax ip cs flags sp ss.
	for reg, at := range map[arch.Reg]int64{arch.R15: 0, arch.R14: 8, arch.R13: 16, arch.R12: 24, arch.RBP: 32, arch.RBX: 40, arch.R11: 48,
		arch.R10: 56, arch.R9: 64, arch.R8: 72, arch.RAX: 80, arch.RCX: 88, arch.RDX: 96, arch.RSI: 104, arch.RDI: 112, arch.RIP: 128, arch.RSP: 152} {
		if rule := r.Rule(reg); rule.Kind != row.At || rule.N != at {
			t.Errorf("%v: %+v, expected offset %d", reg, rule, at)
		}
	}
	if r.CFA.Kind != row.InReg || r.CFA.Reg != arch.RSP || r.CFA.N != 16 || !r.Signal {
		t.Errorf("%+v", r)
	}
}

// TestIndirect: before Linux 5.12 the offset is added to SP, later to the word.
func TestIndirect(t *testing.T) {
	for release, want := range map[string]string{"5.10.0-32-cloud-amd64": "77 10 06", "5.12.0": "77 00 06 11 10 22", "": ""} {
		x := encoder{version: V1, ipAddr: base}
		for i := range uint64(20) {
			x.add(base+i, Entry{Type: Call, SP: SP, SPOffset: 8})
		}
		x.add(base+20, Entry{Type: Regs, SP: SP})
		x.add(base+21, Entry{Type: Call, SP: SPIndirect, SPOffset: 16})
		x.add(base+22, Entry{Type: EndOfStack})
		table, err := New(Config{IP: x.ip, IPAddr: base, Unwind: x.unwind, Release: release})
		if err != nil {
			t.Fatal(err)
		}
		var r row.Row
		err = table.RowAt(base+21, &r)
		if got := fmt.Sprintf("% x", r.CFA.Expr); got != want || (want == "") != errors.Is(err, errSum) {
			t.Errorf("%q: %s, %v; expected %s", release, got, err, want)
		}
	}
}

func TestVersionOfEntries(t *testing.T) {
	for v := V1; v <= V4; v++ {
		x := encoder{version: v, ipAddr: base}
		for i := range uint64(50) {
			x.add(base+i, Entry{Type: Call, SP: SP, SPOffset: 8, BP: PrevSP, BPOffset: -16})
		}
		if got, possible := VersionOfEntries(x.unwind); v <= V2 && (got != V1 || fmt.Sprint(possible) != fmt.Sprint([]Version{V1, V2})) || v > V2 && got != v {
			t.Errorf("calls of version %v: %v %v", v, got, possible)
		}
		x.add(base+50, Entry{Type: Regs, SP: SP, Signal: true})
		x.add(base+51, Entry{Type: EndOfStack})
		if got, possible := VersionOfEntries(x.unwind); got != v {
			t.Errorf("version %v: %v %v", v, got, possible)
		}
	}
}

func TestVersionOfRelease(t *testing.T) {
	for release, want := range map[string]Version{"4.13.0": Unknown, "4.14.1": V1, "5.10.0-32-amd64": V1, "6.1.0-56-amd64": V1, "6.2-rc1": V1, "6.3.0": V2,
		"6.4.11+": V3, "6.5.0": Unknown, "7.2.13+deb14-amd64": Unknown, "": Unknown, "6": Unknown, "x.y": Unknown, "6.": Unknown, "999999.1": Unknown} {
		if got := VersionOfRelease(release); got != want {
			t.Errorf("%s: %v, expected %v", release, got, want)
		}
	}
}

func TestTerminator(t *testing.T) {
	for _, first := range []bool{false, true} {
		x := encoder{version: V3, ipAddr: base}
		gap, entry := Entry{Type: Gap}, Entry{Type: Call, SP: SP, SPOffset: 24}
		x.add(base, Entry{Type: Call, SP: SP, SPOffset: 8})
		if first {
			x.add(base+16, gap)
			x.add(base+16, entry)
		} else {
			x.add(base+16, entry)
			x.add(base+16, gap)
		}
		x.add(base+32, gap)
		table, err := New(x.config())
		if err != nil {
			t.Fatal(err)
		}
		var r row.Row
		if err := table.RowAt(base+16, &r); err != nil || r.CFA.N != 24 {
			t.Errorf("the gap is first: %v: %+v, %v", first, r, err)
		}
		if err := table.RowAt(base+32, &r); err != ErrNotCovered {
			t.Errorf("the last gap: %v", err)
		}
	}
}

func TestCorrupt(t *testing.T) {
	good := func() (x encoder) {
		x = encoder{version: V3, ipAddr: base}
		for i := range uint64(8) {
			x.add(base+0x100+i*16, Entry{Type: Call, SP: SP, SPOffset: 8})
		}
		return x
	}
	for _, c := range []struct {
		name   string
		change func(c *Config)
		atNew  string
		atRow  string
	}{
		{"half an address", func(c *Config) { c.IP = c.IP[:len(c.IP)-1] }, "expected 4 and 6", ""},
		{"half an entry", func(c *Config) { c.Unwind = c.Unwind[:len(c.Unwind)-1] }, "expected 4 and 6", ""},
		{"an entry less", func(c *Config) { c.Unwind = c.Unwind[6:] }, "expected 4 and 6", ""},
		{"no addresses", func(c *Config) { c.IP = nil }, "expected 4 and 6", ""},
		{"unknown header", func(c *Config) { c.Header = make([]byte, 20) }, "version of the ORC format is unknown: .orc_header is 00", ""},
		{"short header", func(c *Config) { c.Header = c.Header[:5] }, "version of the ORC format is unknown", ""},
		{"wrong release", func(c *Config) { c.Header, c.Release = nil, "5.10.0" }, "not those of Linux 5.10.0", ""},
		{"no hint at all", func(c *Config) { c.Header = nil; clear(c.Unwind) }, "the entries may have versions", ""},
		{"wraps around", func(c *Config) { c.IPAddr = 1<<64 - 0x110 }, "wrap around", ""},
		{"type 5", func(c *Config) { c.Unwind[5] = 5 }, "", "entry 0: its type is unknown"},
		{"spare bits", func(c *Config) { c.Unwind[5] |= 0x40 }, "", "entry 0: its type is unknown"},
		{"register 12 for SP", func(c *Config) { c.Unwind[4] = 12 }, "", "entry 0: its register for SP is unknown"},
		{"no register for SP", func(c *Config) { c.Unwind[4] = 0 }, "", "entry 0: its register for SP is unknown"},
		{"PrevSP for SP", func(c *Config) { c.Unwind[4] = 1 }, "", "entry 0: its register for SP is unknown"},
		{"SP for RBP", func(c *Config) { c.Unwind[4] = 0x55 }, "", "entry 0: its register for RBP is unknown"},
		{"two rows", func(c *Config) {
			binary.LittleEndian.PutUint32(c.IP, binary.LittleEndian.Uint32(c.IP[4:])+4)
			c.Unwind[0] = 16
		}, "", "another entry for the same address differs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := good()
			config := x.config()
			config.Unwind = bytes.Clone(config.Unwind)
			c.change(&config)
			table, err := New(config)
			if c.atNew != "" {
				if err == nil || !strings.Contains(err.Error(), c.atNew) {
					t.Fatalf("New: %v, expected %q", err, c.atNew)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			at := uint64(base + 0x100)
			if c.name == "two rows" {
				at += 16
			}
			if err := table.RowAt(at, new(row.Row)); err == nil || !strings.Contains(err.Error(), c.atRow) {
				t.Errorf("RowAt: %v, expected %q", err, c.atRow)
			}
			if err := table.RowAt(base+0x140, new(row.Row)); err != nil {
				t.Errorf("the other entries: %v", err)
			}
		})
	}
}

func FuzzTable(f *testing.F) {
	for v := V1; v <= V4; v++ {
		x := encoder{version: v, ipAddr: base}
		r := rand.New(rand.NewPCG(1, 1))
		for i := range uint64(30) {
			x.add(base+i*8, randomEntry(r, v))
		}
		c := x.config()
		f.Add(x.ip, x.unwind, c.Header, c.Release, uint64(base), uint64(base+100))
	}
	f.Fuzz(func(t *testing.T, ip, unwind, header []byte, release string, addr, pc uint64) {
		table, err := New(Config{IP: ip, IPAddr: addr, Unwind: unwind, Header: header, Release: release, End: pc})
		if err != nil {
			return
		}
		var r, again row.Row
		last := uint64(0)
		table.EachRow(0, table.Entries(), func(lo, hi uint64, row *row.Row, _ uint64) bool {
			if lo < last || hi <= lo {
				t.Fatalf("rows out of order: %#x to %#x after %#x", lo, hi, last)
			}
			last = hi
			for _, at := range []uint64{lo, hi - 1} {
				err := table.RowAt(at, &again)
				if (err == nil) != (row != nil) || row != nil && (again.CFA.N != row.CFA.N || again.Lo != row.Lo) {
					t.Fatalf("at %#x: %v %+v, expected %+v", at, err, again, row)
				}
			}
			return true
		})
		_ = table.RowAt(pc, &r)
		var e Entry
		for i := range table.Entries() {
			_ = table.Entry(i, &e)
			_ = table.Print(discard{}, &e, "x")
		}
	})
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
