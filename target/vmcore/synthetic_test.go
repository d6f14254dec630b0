package vmcore

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// The synthetic kernel is mapped at kernelAt, from physical address 0 on, by one large page. All places are
// offsets from there.
const (
	kernelAt   = 0xffffffff81000000
	pgdAt      = 0x1000
	pdptAt     = 0x2000
	pdAt       = 0x3000
	textAt     = 0x4000
	orcIPAt    = 0x5000
	orcAt      = 0x6000
	orcHeadAt  = 0x7000
	symsAt     = 0x8000
	tokensAt   = 0xa000
	btfAt      = 0xb000
	tasksAt    = 0xd000 // 0x200 bytes each
	signalsAt  = 0xe000 // 0x100 bytes each
	queueAt    = 0xf000
	modulesAt  = 0xf800
	stacksAt   = 0x10000 // 0x1000 bytes each
	memorySize = 0x20000
)

// synthetic is a dump of a small kernel: two processes (init with two threads, and one that runs), an idle task.
type synthetic struct {
	mem  []byte
	info []string
	regs [27]uint64
}

func (s *synthetic) put(at int, words ...uint64) {
	for i, v := range words {
		binary.LittleEndian.PutUint64(s.mem[at+8*i:], v)
	}
}

func (s *synthetic) put32(at int, v uint32) { binary.LittleEndian.PutUint32(s.mem[at:], v) }

// va is the address of a place.
func va(at int) uint64 { return kernelAt + uint64(at) }

// members of the structures, by offset.
var syntheticTypes = []struct {
	name    string
	members []string
}{
	{"list_head", []string{"next 0", "prev 8"}},
	{"thread_struct", []string{"tls 0", "sp 24"}},
	{"task_struct", []string{"__state 0", "tasks 16", "pid 32", "comm 40", "thread 64 thread_struct", "signal 128", "thread_node 136", "exit_state 152", "stack 160"}},
	{"signal_struct", []string{"thread_head 16"}},
	{"rq", []string{"curr 8", "idle 16"}},
	{"module_memory", []string{"base 0", "size 8"}},
	{"mod_arch_specific", []string{"num_orcs 0", "orc_unwind_ip 8", "orc_unwind 16"}},
	{"mod_kallsyms", []string{"symtab 0", "num_symtab 8", "strtab 16"}},
	{"module", []string{"list 0", "name 16", "mem 72 module_memory", "arch 104 mod_arch_specific", "kallsyms 136"}},
}

func syntheticBTF() []byte {
	le := binary.LittleEndian
	text := []byte{0}
	name := func(s string) uint32 {
		text = append(append(text, s...), 0)
		return uint32(len(text) - len(s) - 1)
	}
	types := le.AppendUint32(nil, name("long"))
	types = le.AppendUint32(le.AppendUint32(le.AppendUint32(types, 1<<24), 8), 64)
	ids := map[string]uint32{}
	for i, t := range syntheticTypes {
		ids[t.name] = uint32(i + 2)
		types = le.AppendUint32(types, name(t.name))
		types = le.AppendUint32(le.AppendUint32(types, 4<<24|uint32(len(t.members))), 512)
		for _, m := range t.members {
			var field, typ string
			var off uint32
			_, _ = fmt.Sscan(m, &field, &off, &typ)
			id := uint32(1)
			if typ != "" {
				id = ids[typ]
			}
			types = le.AppendUint32(le.AppendUint32(le.AppendUint32(types, name(field)), id), 8*off)
		}
	}
	b := append(le.AppendUint16(nil, 0xeb9f), 1, 0)
	for _, v := range []int{24, 0, len(types), len(types), len(text)} {
		b = le.AppendUint32(b, uint32(v))
	}
	return append(append(b, types...), text...)
}

// newSynthetic makes the kernel. Its functions have 16 bytes: 0 work, 1 schedule, 2 entry of system calls, 3 first
// function of a thread.
func newSynthetic() *synthetic {
	s := &synthetic{mem: make([]byte, memorySize)}
	s.put(pgdAt+8*511, pdptAt|3)
	s.put(pdptAt+8*510, pdAt|3)
	s.put(pdAt+8*8, 0|large|3)
	for i := range 4 {
		copy(s.mem[textAt+16*i:], "\x90\x90\x90\xe8\x00\x00\x00\x00\x90\x90\x90\x90\x90\x90\x90\x90")
	}
	for i, e := range [][6]byte{{8, 0, 0, 0, 5, 2}, {16, 0, 0, 0, 5, 2}, {0, 0, 0, 0, 5, 3 | 8}, {0, 0, 0, 0, 0, 1}, {}} {
		s.put32(orcIPAt+4*i, uint32(textAt+16*i-orcIPAt-4*i))
		copy(s.mem[orcAt+6*i:], e[:])
	}
	copy(s.mem[orcHeadAt:], "\xfe\x5d\x32\xbf\x58\x1b\xd6\x3b\x2c\xa9\xa5\xc6\x5b\xa5\xa6\x25\xea\xb3\xfe\x24")
	blob := syntheticBTF()
	copy(s.mem[btfAt:], blob)
	s.symbols(len(blob))
	s.tasks()
	s.info = []string{"OSRELEASE=6.9.0-test", "BUILD-ID=00", fmt.Sprintf("SYMBOL(swapper_pg_dir)=%x", va(pgdAt)), "NUMBER(phys_base)=-16777216",
		"NUMBER(pgtable_l5_enabled)=0", "KERNELOFFSET=0", fmt.Sprintf("SYMBOL(_stext)=%x", va(textAt))}
	for i, name := range []string{"num_syms", "relative_base", "offsets", "names", "token_table", "token_index"} {
		s.info = append(s.info, fmt.Sprintf("SYMBOL(kallsyms_%s)=%x", name, va([]int{symsAt, symsAt + 8, symsAt + 0x10, symsAt + 0x400, tokensAt, tokensAt + 0x800}[i])))
	}
	return s
}

func (s *synthetic) symbols(blob int) {
	list := []struct {
		name string
		at   int
	}{{"T_stext", textAt}, {"Twork", textAt}, {"Tschedule", textAt + 16}, {"Tentry", textAt + 32}, {"Tthread_start", textAt + 48}, {"T_etext", textAt + 64},
		{"D__start_orc_unwind_ip", orcIPAt}, {"D__stop_orc_unwind_ip", orcIPAt + 20}, {"D__start_orc_unwind", orcAt}, {"D__stop_orc_unwind", orcAt + 30},
		{"D__start_orc_header", orcHeadAt}, {"D__stop_orc_header", orcHeadAt + 20}, {"D__start_BTF", btfAt}, {"D__stop_BTF", btfAt + blob},
		{"Dinit_task", tasksAt}, {"D__per_cpu_offset", queueAt}, {"Drunqueues", queueAt + 0x100}, {"Dmodules", modulesAt}}
	s.put32(symsAt, uint32(len(list)))
	s.put(symsAt+8, kernelAt)
	names := symsAt + 0x400
	for i, x := range list {
		s.put32(symsAt+0x10+4*i, uint32(x.at))
		s.mem[names] = byte(len(x.name))
		copy(s.mem[names+1:], x.name)
		names += 1 + len(x.name)
	}
	at := tokensAt
	for i := range 256 {
		binary.LittleEndian.PutUint16(s.mem[tokensAt+0x800+2*i:], uint16(at-tokensAt))
		if i > 0 {
			s.mem[at] = byte(i)
			at++
		}
		at++
	}
	s.module()
}

// module makes a loaded module with one function.
func (s *synthetic) module() {
	const mod, code, ip, unwind, kallsyms, symtab, strtab = modulesAt + 0x100, textAt + 0x800, modulesAt + 0x200, modulesAt + 0x210, modulesAt + 0x220,
		modulesAt + 0x240, modulesAt + 0x280
	s.put(modulesAt, va(mod))
	s.put(mod, va(modulesAt))
	copy(s.mem[mod+16:], "mod")
	s.put(mod+72, va(code), 16)
	s.put(mod+104, 2, va(ip), va(unwind))
	s.put(mod+136, va(kallsyms))
	s.put(kallsyms, va(symtab), 1, va(strtab))
	s.put32(symtab, 1)
	s.mem[symtab+4] = 0x12
	s.put(symtab+8, va(code), 16)
	copy(s.mem[strtab+1:], "in_module")
	copy(s.mem[code:], "\x90\x90\x90\xe8\x00\x00\x00\x00\x90\x90\x90\x90\x90\x90\x90\x90")
	for i, at := range []int{code, code + 16} {
		s.put32(ip+4*i, uint32(at-ip-4*i))
	}
	copy(s.mem[unwind:], "\x08\x00\x00\x00\x05\x02")
}

// tasks makes the tasks 0 (idle), 1 and 2 (init and its thread), 3 (running).
func (s *synthetic) tasks() {
	for i, t := range []struct {
		pid, state uint32
		name       string
		leader     bool
		signal     int
	}{{0, 0, "swapper/0", true, 0}, {1, 1, "init", true, 1}, {7, 2, "worker", false, 1}, {9, 0, "busy", true, 2}} {
		at := tasksAt + 0x200*i
		s.put32(at, t.state)
		s.put32(at+32, t.pid)
		copy(s.mem[at+40:], t.name)
		stack := stacksAt + 0x1000*i + 0x800
		s.put(at+64+24, va(stack))
		s.put(at+160, va(stack-0x800))
		s.put(at+128, va(signalsAt+0x100*t.signal))
		// inactive_task_frame, and the frame of schedule, which the thread's first function has called.
		s.put(stack, 15, 14, 13, 12, 3, 5, va(textAt+16+8))
		s.put(stack+56, 0, va(textAt+48+8))
		if t.name == "worker" { // by way of the module
			s.put(stack+64, va(textAt+0x800+8), va(textAt+48+8))
		}
	}
	task := func(i, member int) uint64 { return va(tasksAt + 0x200*i + member) }
	for i, next := range map[int]int{0: 1, 1: 3, 3: 0} {
		s.put(tasksAt+0x200*i+16, task(next, 16))
	}
	for signal, threads := range map[int][]int{0: {0}, 1: {1, 2}, 2: {3}} {
		head := signalsAt + 0x100*signal + 16
		at := head
		for _, i := range threads {
			s.put(at, task(i, 136))
			at = tasksAt + 0x200*i + 136
		}
		s.put(at, va(head))
	}
	s.put(queueAt, 0)
	s.put(queueAt+0x100+8, task(3, 0), task(0, 0))
	// The running task is in work, which the entry of system calls has called.
	stack := stacksAt + 0x3000 + 0x800
	s.put(stack, va(textAt+32+8))
	for i := range 21 {
		s.put(stack+8+8*i, uint64(i))
	}
	s.put(stack+8+128, 0x401000, 0x33, 0x246, 0x7ffd0000, 0x2b)
	s.regs[16], s.regs[19] = va(textAt+4), va(stack)
}

// file is the dump.
func (s *synthetic) file() []byte {
	le := binary.LittleEndian
	note := func(name string, typ uint32, desc []byte) []byte {
		b := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, uint32(len(name)+1)), uint32(len(desc))), typ)
		b = append(append(b, name...), 0)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		b = append(b, desc...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		return b
	}
	status := make([]byte, 336)
	for i, v := range s.regs {
		le.PutUint64(status[112+8*i:], v)
	}
	notes := append(note("CORE", 1, status), note("VMCOREINFO", 0, []byte(strings.Join(s.info, "\n")+"\n"))...)
	const head = 64 + 2*56
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, head-7)...)
	le.PutUint16(b[16:], 4)
	le.PutUint16(b[18:], 62)
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[32:], 64)
	for at, v := range map[int]uint16{52: 64, 54: 56, 56: 2} {
		le.PutUint16(b[at:], v)
	}
	for i, p := range [][4]uint64{{4, head, 0, uint64(len(notes))}, {1, head + uint64(len(notes)), 0, memorySize}} {
		at := 64 + 56*i
		le.PutUint32(b[at:], uint32(p[0]))
		le.PutUint64(b[at+8:], p[1])
		le.PutUint64(b[at+24:], p[2])
		le.PutUint64(b[at+32:], p[3])
		le.PutUint64(b[at+40:], p[3])
	}
	return append(append(b, notes...), s.mem...)
}
