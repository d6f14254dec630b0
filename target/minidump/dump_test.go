package minidump_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/target"
	"dbg/target/minidump"
	"dbg/target/minidump/dumptest"
)

const (
	stackAt = 0x7000_0000
	codeAt  = 0x40_0000
)

// amd64 returns registers with PC and SP.
func amd64(pc, sp uint64) *arch.Registers {
	r := arch.Registers{Arch: arch.AMD64}
	r.Set(arch.RIP, pc)
	r.Set(arch.RSP, sp)
	return &r
}

// windows returns a dump of a process of Windows with an access violation in its second thread, which
// a third thread has written.
func windows() dumptest.Dump {
	stack := dumptest.Memory{Addr: stackAt, Data: bytes.Repeat([]byte{0xaa}, 0x1000)}
	return dumptest.Dump{
		System: &dumptest.System{Processor: 9, Platform: 2, Major: 10, Minor: 0, Build: 19041, Version: "Service Pack 1"},
		Misc:   &dumptest.Misc{PID: 4711, Created: 1_600_000_000, User: 12, Kernel: 3},
		Threads: []dumptest.Thread{
			{ID: 10, Context: dumptest.AMD64(15, amd64(codeAt+1, 0), nil), Name: "main"},
			{ID: 11, TEB: 0x7ff0_0000, Context: dumptest.AMD64(15, amd64(codeAt+2, 0), nil), Name: "wörker", Stack: stack},
			{ID: 12, Context: dumptest.AMD64(15, amd64(codeAt+3, 0), nil)},
		},
		Exception: &dumptest.Exception{Thread: 11, Code: 0xc0000005, Address: codeAt + 16, Params: []uint64{1, 0x18},
			Context: dumptest.AMD64(15, amd64(codeAt+16, stackAt+0x800), nil)},
		Modules: []dumptest.Module{
			{Base: codeAt, Size: 0x3000, Stamp: 1, Name: `C:\app\app.exe`, CodeView: dumptest.PDB70(id16(0), 0x2a,
				`c:\app.pdb`)},
			{Base: 0x1000_0000, Size: 0x1000, Stamp: 0x5f00_0000, Name: `C:\Windows\System32\x.dll`},
		},
		Breakpad: &dumptest.Breakpad{Writer: 12, Requester: 11},
	}
}

func id16(first byte) (id [16]byte) {
	for i := range id {
		id[i] = first + byte(i)
	}
	return id
}

func TestWindows(t *testing.T) {
	dump := windows()
	d := open(t, dump.Bytes(), minidump.Options{FindFile: func(string, string) []string { return nil }})
	expectWarnings(t, d)
	if d.PID() != 4711 || d.Exe() != `C:\app\app.exe` || d.Platform() != "Windows 10.0.19041 Service Pack 1" ||
		d.Kind() != target.Core {
		t.Errorf("process %d, program %s on %q", d.PID(), d.Exe(), d.Platform())
	}
	signal := &target.SignalInfo{Number: 11, Code: 0x80, Addr: 0x18, HasAddr: true,
		Exception: "access violation writing 0x18 (0xc0000005)"}
	want := []target.Thread{{ID: 11, Name: "wörker", Signal: signal}, {ID: 10, Name: "main"}, {ID: 12,
		Name: "[wrote the dump]"}}
	got := d.Threads()
	if fmt.Sprint(ids(got)) != "[11 10 12]" || got[0].Name != want[0].Name || got[1].Name != want[1].Name ||
		got[2].Name != want[2].Name ||
		*got[0].Signal != *signal || got[1].Signal != nil {
		t.Errorf("threads %+v, signal %+v", got, got[0].Signal)
	}
	r, err := d.Registers(11)
	if pc, _ := r.PC(); err != nil || pc != codeAt+16 {
		t.Errorf("the thread of the exception is at 0x%x (%v), want the exception's context", pc, err)
	}
	if gs, known := r.Get(arch.GSBase); !known || gs != 0x7ff0_0000 {
		t.Errorf("gs_base is 0x%x, known: %v, want the thread environment block", gs, known)
	}
	if _, err := d.Registers(99); err != target.ErrNoThread {
		t.Errorf("registers of no thread: %v", err)
	}
	images := d.ListImages()
	if len(images) != 2 || images[0].UUID != "0302010005040706"+"08090a0b0c0d0e0f"+"2a" || images[0].Lo != codeAt ||
		images[0].Hi != codeAt+0x3000 || images[1].UUID != "" {
		t.Errorf("images %+v", images)
	}
	if m := d.Modules(); m[0].Debug != `c:\app.pdb` || m[1].Stamp != 0x5f00_0000 {
		t.Errorf("module %+v", m[0])
	}
	if _, _, err := d.OpenListed(images[1]); err == nil || !strings.Contains(err.Error(),
		"no file with id 5F0000001000 was found") {
		t.Errorf("a missing module: %v", err)
	}
	if _, err := d.WriteMemory(stackAt, []byte{1}); err != target.ErrReadOnly {
		t.Errorf("writing: %v", err)
	}
}

func ids(list []target.Thread) (out []target.ThreadID) {
	for _, t := range list {
		out = append(out, t.ID)
	}
	return out
}

// TestMemory: memory of all three sources, which overlap as in real dumps, and the memory map.
func TestMemory(t *testing.T) {
	fill := func(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n) }
	code := make([]byte, 0x170)
	for i := range code {
		code[i] = byte(i*7 + i>>8)
	}
	dump := windows()
	dump.Padded = true
	dump.Memory = []dumptest.Memory{{Addr: stackAt, Data: fill(0xaa, 0x1000)}, {Addr: codeAt + 0x10, Data: code[:0x100]},
		{Addr: codeAt + 0x80, Data: code[0x70:0x170]},
		{Addr: stackAt + 0x1000, Data: fill(0xab, 0x10)}}
	dump.Memory64 = []dumptest.Memory{{Addr: 0x1_0000_0000, Data: fill(1, 0x2000)}, {Addr: 0x2_0000_0000, Data: fill(2,
		0x10)}}
	dump.Regions = []dumptest.Region{{Base: codeAt, Size: 0x1000, State: 0x1000, Protection: 0x20},
		{Base: codeAt + 0x1000, Size: 0x1000, State: 0x1000, Protection: 0x02},
		{Base: stackAt, Size: 0x1000, State: 0x1000, Protection: 0x04}, {Base: 0x1_0000_0000, Size: 0x1000, State: 0x1000,
			Protection: 0x40},
		{Base: 0x1_0000_1000, Size: 0x1000, State: 0x1000, Protection: 0x104}, {Base: 0x3_0000_0000, Size: 0x1000,
			State: 0x2000}}
	d := open(t, dump.Bytes(), minidump.Options{FindFile: func(string, string) []string { return nil }})
	expectWarnings(t, d)
	for _, c := range []struct {
		at   target.Addr
		n    int
		want []byte
	}{
		{stackAt, 0x1010, append(fill(0xaa, 0x1000), fill(0xab, 0x10)...)},
		{codeAt + 0x10, 0x170, code},
		{0x1_0000_0000, 0x2000, fill(1, 0x2000)},
		{0x2_0000_0008, 16, fill(2, 8)},
		{codeAt, 8, nil},
		{0, 1, nil},
		{^target.Addr(0), 1, nil},
	} {
		buf := make([]byte, c.n)
		n, err := d.ReadMemory(c.at, buf)
		if !bytes.Equal(buf[:n], c.want) || (err == nil) != (n == c.n) {
			t.Errorf("%d bytes at %v: %d bytes (%v) %x, want %x", c.n, c.at, n, err, buf[:n], c.want)
		}
	}
	maps, err := d.Mappings()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range maps {
		got = append(got, fmt.Sprintf("%v-%v %d%d%d %s+%x", m.Lo, m.Hi, m.Read, m.Write, m.Exec, m.Path, m.Offset))
	}
	want := []string{
		"0x400000-0x400010 212 C:\\app\\app.exe+0", "0x400010-0x400110 212 C:\\app\\app.exe+10",
		"0x400110-0x400180 212 C:\\app\\app.exe+110",
		"0x400180-0x401000 212 C:\\app\\app.exe+180", "0x401000-0x402000 211 C:\\app\\app.exe+1000",
		"0x402000-0x403000 000 C:\\app\\app.exe+2000",
		"0x10000000-0x10001000 000 C:\\Windows\\System32\\x.dll+0",
		"0x70000000-0x70001000 221 +0", "0x70001000-0x70001010 000 +0",
		"0x100000000-0x100001000 222 +0", "0x100001000-0x100002000 111 +0", "0x200000000-0x200000010 000 +0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the memory map:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestStackPermission: without a memory map, the memory that a thread lists as its stack is not code.
func TestStackPermission(t *testing.T) {
	dump := windows()
	d := open(t, dump.Bytes(), minidump.Options{})
	maps, _ := d.Mappings()
	i := slices.IndexFunc(maps, func(m target.Mapping) bool { return m.Lo == stackAt })
	if i < 0 || maps[i].Exec != target.Denied || maps[i].Write != target.Allowed {
		t.Errorf("the memory map is %+v", maps)
	}
}

// linux returns a dump of a process of Linux.
func linux() dumptest.Dump {
	auxv := binary.LittleEndian.AppendUint64(nil, 9)
	for _, v := range []uint64{0x401000, 33, 0x7fff_0000, 0, 0} {
		auxv = binary.LittleEndian.AppendUint64(auxv, v)
	}
	return dumptest.Dump{
		System:    &dumptest.System{Processor: 9, Platform: 0x8201, Version: "Linux 6.1.0"},
		Threads:   []dumptest.Thread{{ID: 100, Context: dumptest.AMD64(7, amd64(codeAt, stackAt), nil)}},
		Exception: &dumptest.Exception{Thread: 100, Code: 11, Flags: 1, Address: 0x10},
		Modules: []dumptest.Module{{Base: codeAt, Size: 0x2000, Name: "/bin/app", CodeView: dumptest.BuildID([]byte{1, 2,
			3, 4})}},
		Raw: map[uint32][]byte{
			0x47670004: []byte("Name:\tapp\nState:\tt (tracing stop)\nPid:\t100\nPPid:\t5\nUid:\t1000\t1\t1\t1\nGid:\t7\t7\t7\t7\n"),
			0x47670005: []byte("DISTRIB_ID=Debian\n"),
			0x47670006: []byte("/bin/app\x00--crash\x00"),
			0x47670007: []byte("HOME=/root\x00LANG=C\x00"),
			0x47670008: auxv,
			0x47670009: []byte("00400000-00401000 r-xp 00000000 08:01 77 /bin/app\n00401000-00402000 rw-p 00001000 08:01 77                 /bin/app\n7fff0000-7fff1000 r-xp 00000000 00:00 0 [vdso]\n"),
		},
	}
}

func TestLinux(t *testing.T) {
	dump := linux()
	d := open(t, dump.Bytes(), minidump.Options{FindFile: func(string, string) []string { return nil }})
	expectWarnings(t, d)
	if s := d.Threads()[0].Signal; s == nil || s.Number != 11 || s.Code != 1 || !s.HasAddr || s.Addr != 0x10 ||
		s.Exception != "" {
		t.Errorf("signal %+v", s)
	}
	p, ok := d.ProcessInfo()
	if !ok || p.PID != 100 || p.PPID != 5 || p.UID != 1000 || p.GID != 7 || p.State != 't' || p.Name != "app" ||
		p.Args != "/bin/app --crash" {
		t.Errorf("process %+v", p)
	}
	if v, ok := d.Auxv(9); !ok || v != 0x401000 {
		t.Errorf("AT_ENTRY is 0x%x", v)
	}
	if v, ok := d.Auxv(6); ok {
		t.Errorf("AT_PAGESZ is 0x%x, want none", v)
	}
	maps, _ := d.Mappings()
	if len(maps) != 3 || maps[0].Path != "/bin/app" || maps[0].Exec != target.Allowed || maps[1].Offset != 0x1000 ||
		maps[1].Exec != target.Denied || maps[2].Path != "[vdso]" {
		t.Errorf("the memory map is %+v", maps)
	}
	if !strings.HasPrefix(d.ProcStatus(), "Name:\tapp\n") || d.ListImages()[0].UUID != "01020304" {
		t.Errorf("status %q, images %+v", d.ProcStatus(), d.ListImages())
	}
	notes := fmt.Sprint(d.Notes())
	for _, want := range []string{"{system Linux Linux 6.1.0 false}", "{environment LANG=C true}",
		"{lsb-release DISTRIB_ID=Debian true}", "{exception SIGSEGV SEGV_MAPERR in thread 100 false}"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes %s have no %s", notes, want)
		}
	}
}

// TestExceptions: the words and signals of exceptions of every system.
func TestExceptions(t *testing.T) {
	for _, c := range []struct {
		platform uint32
		e        dumptest.Exception
		number   int
		words    string
		addr     int64 // -1: none
	}{
		{2, dumptest.Exception{Code: 0xc0000005, Params: []uint64{0, 0x10}}, 11,
			"access violation reading 0x10 (0xc0000005)", 0x10},
		{2, dumptest.Exception{Code: 0xc0000005, Params: []uint64{8, 0x20}}, 11,
			"access violation executing 0x20 (0xc0000005)", 0x20},
		{2, dumptest.Exception{Code: 0xc0000005, Address: 0x99}, 11, "access violation at 0x99 (0xc0000005)", -1},
		{2, dumptest.Exception{Code: 0xc0000094, Address: 0x1234}, 8, "integer division by zero at 0x1234 (0xc0000094)", -1},
		{2, dumptest.Exception{Code: 0x80000003, Address: 0x1234}, 5, "breakpoint at 0x1234 (0x80000003)", -1},
		{2, dumptest.Exception{Code: 0x12345678, Address: 0x1234}, 0, "exception at 0x1234 (0x12345678)", -1},
		{0x8101, dumptest.Exception{Code: 1, Flags: 1, Address: 0x30}, 11,
			"EXC_BAD_ACCESS (KERN_INVALID_ADDRESS, address 0x30)", 0x30},
		{0x8101, dumptest.Exception{Code: 1, Flags: 2, Address: 0x30}, 7,
			"EXC_BAD_ACCESS (KERN_PROTECTION_FAILURE, address 0x30)", 0x30},
		{0x8102, dumptest.Exception{Code: 6, Flags: 1}, 5, "EXC_BREAKPOINT (code 0x1)", -1},
		{0x8101, dumptest.Exception{Code: 5, Flags: 0x10002}, 6, "EXC_SOFTWARE (code 0x10002)", -1},
		{0x8201, dumptest.Exception{Code: 6, Flags: 0xfffffffa}, 6, "", -1},
		{0x8203, dumptest.Exception{Code: 7, Flags: 2, Address: 0x40}, 7, "", 0x40},
		{0x8201, dumptest.Exception{Code: 11, Flags: 0x80, Address: 0x40}, 11, "", -1},
	} {
		c.e.Thread = 5
		dump := dumptest.Dump{System: &dumptest.System{Processor: 9, Platform: c.platform}, Exception: &c.e,
			Threads: []dumptest.Thread{{ID: 4}, {ID: 5}}}
		th := open(t, dump.Bytes(), minidump.Options{}).Threads()[0]
		if s := th.Signal; th.ID != 5 || s == nil || s.Number != c.number || s.Exception != c.words ||
			s.HasAddr != (c.addr >= 0) || s.HasAddr && s.Addr != target.Addr(c.addr) {
			t.Errorf("platform 0x%x, %+v: %+v", c.platform, c.e, s)
		}
	}
	for platform, code := range map[uint32]uint32{2: 0x0517a7ed, 0x8101: 0x43507378, 0x8201: 0xffffffff} {
		dump := dumptest.Dump{System: &dumptest.System{Processor: 9, Platform: platform},
			Exception: &dumptest.Exception{Thread: 5, Code: code}, Threads: []dumptest.Thread{{ID: 4}, {ID: 5}}}
		if th := open(t, dump.Bytes(), minidump.Options{}).Threads()[0]; th.ID != 5 || th.Signal != nil {
			t.Errorf("platform 0x%x: a dump on request has %+v", platform, th.Signal)
		}
	}
}

// TestNotes: handles, unloaded modules, and the annotations of Crashpad.
func TestNotes(t *testing.T) {
	dump := windows()
	dump.Unloaded = []dumptest.Module{{Base: 0x2000_0000, Size: 0x1000, Name: `C:\old.dll`}}
	dump.Handles = []dumptest.Handle{{Value: 0x44, Type: "File", Name: `\Device\Null`}, {Value: 0x48, Type: "Event"}}
	dump.Annotations = map[string]string{"channel": "beta"}
	dump.Crashpad = &dumptest.Crashpad{Report: id16(1), Modules: map[uint32]map[string]string{0: {"plat": "Win64"},
		9: {"x": "y"}}}
	dump.Raw = map[uint32][]byte{10: []byte("a comment\x00")}
	d := open(t, dump.Bytes(), minidump.Options{})
	expectWarnings(t, d)
	notes := fmt.Sprint(d.Notes())
	for _, want := range []string{
		"{system Windows 10.0.19041 Service Pack 1 false}", "{processor x86-64, 4 processors false}",
		"{written 2023-11-14 22:13:20 UTC false}",
		"{started 2020-09-13 12:26:40 UTC false}", "{processor time 12 s user, 3 s system false}",
		"{exception access violation writing 0x18 (0xc0000005) in thread 11 false}",
		"{exception parameter 1 0x18 true}", "{comment a comment false}",
		"{Crashpad report 04030201060508070" + "90a0b0c0d0e0f10 false}",
		"{annotation channel beta false}", "{annotation app.exe: plat Win64 false}", "{annotation module 9: x y false}",
		`{unloaded module 0x20000000-0x20001000 C:\old.dll true}`, `{handle 0x44 File \Device\Null true}`,
		"{handle 0x48 Event true}",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes %s have no %s", notes, want)
		}
	}
}

// TestCodeBits: Crashpad's mask of addresses, in both senses, and Apple's processes without one.
func TestCodeBits(t *testing.T) {
	for _, c := range []struct {
		platform uint32
		mask     uint64
		want     uint8
	}{{0x8101, 0, 47}, {0x8101, 1<<47 - 1, 47}, {0x8203, 1<<39 - 1, 39}, {0x8203, ^uint64(1<<48 - 1), 48}, {0x8203, 0,
		0}, {0x8203, 0xff, 0}} {
		dump := dumptest.Dump{System: &dumptest.System{Processor: 12, Platform: c.platform},
			Crashpad: &dumptest.Crashpad{AddressMask: c.mask}, Threads: []dumptest.Thread{{ID: 1}}}
		if got := open(t, dump.Bytes(), minidump.Options{}).CodeBits(); got != c.want {
			t.Errorf("platform 0x%x, mask 0x%x: %d bits, want %d", c.platform, c.mask, got, c.want)
		}
	}
}

// TestThreadOrder: the thread of the exception, or the one that asked for the dump, is first. The one
// that wrote it is last.
func TestThreadOrder(t *testing.T) {
	for _, c := range []struct {
		fault *dumptest.Exception
		want  string
	}{{&dumptest.Exception{Thread: 4, Code: 0xc0000005}, "[4 2 3 1]"}, {nil, "[3 2 4 1]"},
		{&dumptest.Exception{Thread: 9, Code: 0xc0000005}, "[9 2 3 4 1]"}} {
		dump := dumptest.Dump{System: &dumptest.System{Processor: 9, Platform: 2}, Exception: c.fault,
			Threads: []dumptest.Thread{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4}}, Breakpad: &dumptest.Breakpad{Writer: 1,
				Requester: 3}}
		if got := fmt.Sprint(ids(open(t, dump.Bytes(), minidump.Options{}).Threads())); got != c.want {
			t.Errorf("with %+v the threads are %s, want %s", c.fault, got, c.want)
		}
	}
}
