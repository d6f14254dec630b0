package vmcore_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
	"dbg/target/corefile"
	"dbg/target/vmcore"
)

func open(t testing.TB, data []byte) (*vmcore.Core, error) {
	t.Helper()
	return vmcore.OpenBytes(corefile.New("vmcore", data))
}

// stacks describes all tasks: "id name: functions; end".
func stacks(t testing.TB, c *vmcore.Core) string {
	t.Helper()
	space, err := frames.NewAddressSpace(c, frames.AddressSpaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close()
	var out strings.Builder
	for _, th := range c.Threads() {
		fmt.Fprintf(&out, "%d %s:", th.ID, th.Name)
		regs, err := c.Registers(th.ID)
		if err != nil {
			fmt.Fprintf(&out, " %v\n", err)
			continue
		}
		w := frames.New(arch.AMD64, space).Walk(&regs)
		for f, err := range w.Frames(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Index > 1000 {
				break
			}
			fmt.Fprintf(&out, " %s", functionAt(space, f))
		}
		end := w.End()
		fmt.Fprintf(&out, "; %s\n", end.Message())
	}
	return out.String()
}

func functionAt(space *frames.AddressSpace, f *frames.Frame) string {
	im := space.Image(f.LookupPC())
	if im == nil {
		return "?"
	}
	name := "?"
	for _, s := range im.File.Symbols() { // the last one: _stext comes before the first function
		if uint64(f.LookupPC())-uint64(s.Addr)-im.Bias < s.Size {
			name = s.Name
		}
	}
	return name
}

const wantStacks = `9 busy (running): work entry; entry point
-8194 swapper/0 (runnable): schedule thread_start; undefined return address
1 init (sleeping): schedule thread_start; undefined return address
7 worker (uninterruptible): schedule in_module thread_start; undefined return address
`

func TestSynthetic(t *testing.T) {
	c, err := open(t, vmcore.Synthetic(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := stacks(t, c); got != wantStacks {
		t.Errorf("got\n%sexpected\n%s", got, wantStacks)
	}
	if w := c.Warnings(); len(w) > 0 {
		t.Errorf("warnings: %q", w)
	}
	r, err := c.Registers(1)
	if err != nil {
		t.Fatal(err)
	}
	for reg, want := range map[arch.Reg]uint64{arch.R15: 15, arch.R12: 12, arch.RBX: 3, arch.RBP: 5} {
		if v, known := r.Get(reg); !known || v != want {
			t.Errorf("%v is %d, %v", reg, v, known)
		}
	}
	if _, known := r.Get(arch.RAX); known {
		t.Error("rax of a waiting task is known")
	}
	if _, err := c.ReadMemory(0x401000, make([]byte, 8)); err == nil || !strings.Contains(err.Error(), "not mapped by the kernel") {
		t.Errorf("user memory: %v", err)
	}
}

// TestSymbolForms: the forms of the table of symbols, of Linux before 6.15 and of Linux 7.
func TestSymbolForms(t *testing.T) {
	each := func(mem []byte, f func(i int, offset uint32) uint32) {
		for i := range int(binary.LittleEndian.Uint32(mem[0x8000:])) {
			b := mem[0x8010+4*i:]
			binary.LittleEndian.PutUint32(b, f(i, binary.LittleEndian.Uint32(b)))
		}
	}
	for name, change := range map[string]func(mem []byte, info []string){
		"negative": func(mem []byte, _ []string) {
			each(mem, func(_ int, off uint32) uint32 { return ^off })
		},
		"relative to their places": func(mem []byte, info []string) {
			each(mem, func(i int, off uint32) uint32 { return off - 0x8010 - uint32(4*i) })
			for i := range info {
				if strings.Contains(info[i], "relative_base") {
					info[i] = ""
				}
			}
		},
	} {
		c, err := open(t, vmcore.Synthetic(change))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := stacks(t, c); got != wantStacks {
			t.Errorf("%s: got\n%s", name, got)
		}
		c.Close()
	}
}

// TestLevels: page tables of five levels, and of 4 KB pages.
func TestLevels(t *testing.T) {
	for name, change := range map[string]func(mem []byte, info []string){
		"five levels": func(mem []byte, info []string) {
			const at = 0x1e000
			binary.LittleEndian.PutUint64(mem[at+8*511:], 0x1000|3)
			for i := range info {
				info[i] = strings.Replace(info[i], "ffffffff81001000", "ffffffff8101e000", 1)
				info[i] = strings.Replace(info[i], "l5_enabled)=0", "l5_enabled)=1", 1)
			}
		},
		"small pages": func(mem []byte, info []string) {
			const at = 0x1e000
			binary.LittleEndian.PutUint64(mem[0x3000+8*8:], at|3)
			for i := range uint64(0x20) {
				binary.LittleEndian.PutUint64(mem[at+8*i:], i*0x1000|3|1<<63)
			}
		},
	} {
		c, err := open(t, vmcore.Synthetic(change))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := stacks(t, c); got != wantStacks {
			t.Errorf("%s: got\n%s", name, got)
		}
		c.Close()
	}
}

// TestStackOfTask: a stack that was freed belongs to somebody else.
func TestStackOfTask(t *testing.T) {
	for want, value := range map[string]uint64{"7 worker (uninterruptible): worker (pid 7) has ended, and its stack was freed\n": 0,
		"worker (pid 7) is not in its stack at 0xffffffff8101f000": 0xffffffff8101f000} {
		c, err := open(t, vmcore.Synthetic(func(mem []byte, _ []string) { binary.LittleEndian.PutUint64(mem[0xd400+160:], value) }))
		if err != nil {
			t.Fatal(err)
		}
		if got := stacks(t, c); !strings.Contains(got, want) {
			t.Errorf("got\n%s\nexpected %q", got, want)
		}
		c.Close()
	}
}

func TestCorrupt(t *testing.T) {
	put := func(mem []byte, at int, v uint64) { binary.LittleEndian.PutUint64(mem[at:], v) }
	for _, c := range []struct {
		name    string
		change  func(mem []byte, info []string)
		err     string // of Open
		warning string
	}{
		{"no page table", func(mem []byte, info []string) { put(mem, 0x1000+8*511, 0) }, "not mapped by the kernel", ""},
		{"page table outside", func(mem []byte, info []string) { put(mem, 0x1000+8*511, 1<<40|3) }, "its page table is not in the dump", ""},
		{"page outside", func(mem []byte, info []string) { put(mem, 0x3000+8*8, 1<<40|0x83) }, "its page is not in the dump", ""},
		{"no root", func(mem []byte, info []string) { info[2] = "" }, "where the kernel's page tables are", ""},
		{"no symbols", func(mem []byte, info []string) { info[7] = "" }, "Linux before 6.0", ""},
		{"too many symbols", func(mem []byte, info []string) { put(mem, 0x8000, 0xffffffff) }, "implausible number of symbols", ""},
		{"symbols elsewhere", func(mem []byte, info []string) { put(mem, 0x8008, 0xffffffff81000100) }, "VMCOREINFO has it at", ""},
		{"no BTF", func(mem []byte, info []string) { mem[0xb000] = 0 }, "it is not BTF", ""},
		{"BTF of an unknown kind", func(mem []byte, info []string) { mem[0xb000+24+7] = 31 }, "unknown kind", ""},
		{"tasks in a circle", func(mem []byte, info []string) { put(mem, 0xd200+16, 0xffffffff8100d210) }, "", "the list of tasks is damaged"},
		{"tasks cut off", func(mem []byte, info []string) { put(mem, 0xd200+16, 0x1234) }, "", "the list of tasks is cut off"},
		{"modules cut off", func(mem []byte, info []string) { put(mem, 0xf800, 8) }, "", "the list of modules is cut off"},
	} {
		core, err := open(t, vmcore.Synthetic(c.change))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, expected %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if w := strings.Join(core.Warnings(), "\n"); !strings.Contains(w, c.warning) {
			t.Errorf("%s: warnings %q, expected %q", c.name, w, c.warning)
		}
		stacks(t, core)
		core.Close()
	}
}

// TestOtherFormats: dumps that are not read are refused with a reason.
func TestOtherFormats(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"kdump-compressed": "KDUMP   ", "flattened": "makedumpfile\x00\x00\x00\x00"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data+strings.Repeat("\x00", 4096)), 0o644); err != nil {
			t.Fatal(err)
		}
		if !vmcore.Is(path) {
			t.Errorf("%s is not recognised", name)
		}
		if _, err := vmcore.Open(path, vmcore.Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(dir, "vmcore")
	if err := os.WriteFile(path, vmcore.Synthetic(nil), 0o644); err != nil {
		t.Fatal(err)
	}
	if !vmcore.Is(path) || vmcore.Is(os.Args[0]) {
		t.Error("Is")
	}
}

// TestDamaged changes bytes at random: dumps open with less in them or not at all, and walks end.
func TestDamaged(t *testing.T) {
	whole := vmcore.Synthetic(nil)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		data := append([]byte(nil), whole...)
		for range 1 + r.IntN(60) {
			data[r.IntN(len(data))] = byte(r.Uint32())
		}
		if r.IntN(4) == 0 {
			data = data[:r.IntN(len(data))]
		}
		tryOpen(t, data)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(vmcore.Synthetic(nil))
	f.Fuzz(func(t *testing.T, data []byte) { tryOpen(t, data) })
}

func tryOpen(t *testing.T, data []byte) {
	c, err := open(t, data)
	if err != nil {
		return
	}
	defer c.Close()
	stacks(t, c)
	for _, th := range c.Threads() {
		_, _ = c.Registers(th.ID)
	}
	_, _ = c.ReadMemory(target.Addr(0xffffffff81000000), make([]byte, 64))
}
