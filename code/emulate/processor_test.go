//go:build linux && amd64

package emulate

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// Addresses in the process that executes the instructions.
const (
	stubBase  = 0x10000000 // a system call instruction
	arenaBase = 0x20000000 // where memory operands are
	arenaSize = 0x4000
	codeBase  = 0x40000000 // the instruction
	codeSize  = 0x2000
	awayBase  = codeBase + 0x1000 // the displaced instruction
)

// processor is a traced process that executes single instructions. The test shares its memory.
type processor struct {
	t      testing.TB
	pid    int
	arena  []byte
	code   []byte
	idle   unix.PtraceRegs // the registers at the start
	xstate []byte          // of the last transfer
}

// newProcessor starts the process. The test keeps its goroutine on one thread, as ptrace demands.
func newProcessor(t testing.TB) *processor {
	runtime.LockOSThread() // It stays locked: the thread ends with the test.
	fd, err := unix.MemfdCreate("emulate-test", unix.MFD_CLOEXEC)
	check(t, err)
	memory := os.NewFile(uintptr(fd), "memory")
	defer memory.Close()
	check(t, memory.Truncate(arenaSize+codeSize))
	shared, err := unix.Mmap(fd, 0, arenaSize+codeSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	check(t, err)

	stub := filepath.Join(t.TempDir(), "stub")
	check(t, os.WriteFile(stub, stubELF(), 0o755))
	process, err := os.StartProcess(stub, []string{stub}, &os.ProcAttr{
		Files: []*os.File{nil, nil, nil, memory},
		Sys:   &syscall.SysProcAttr{Ptrace: true, Pdeathsig: unix.SIGKILL},
	})
	check(t, err)
	p := &processor{t: t, pid: process.Pid, arena: shared[:arenaSize], code: shared[arenaSize:], xstate: make([]byte, 16<<10)}
	t.Cleanup(func() {
		_ = process.Kill()
		_, _ = process.Wait()
		_ = unix.Munmap(shared)
	})
	p.wait()
	check(t, unix.PtraceSetOptions(p.pid, unix.PTRACE_O_EXITKILL))
	check(t, unix.PtraceGetRegs(p.pid, &p.idle))
	p.idle.Orig_rax = ^uint64(0)
	p.mapShared(arenaBase, arenaSize, 0)
	p.mapShared(codeBase, codeSize, arenaSize)
	return p
}

// stubELF returns a static program of one instruction, SYSCALL.
func stubELF() []byte {
	const header, program = 64, 56
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v)
		}
	}
	b.WriteString("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	put(uint16(2), uint16(62), uint32(1), uint64(stubBase+header+program), uint64(header), uint64(0), uint32(0))
	put(uint16(header), uint16(program), uint16(1), uint16(0), uint16(0), uint16(0))
	put(uint32(1), uint32(5), uint64(0), uint64(stubBase), uint64(stubBase), uint64(header+program+2), uint64(header+program+2), uint64(4096))
	b.WriteString("\x0f\x05")
	return b.Bytes()
}

// mapShared makes the process map the memory that it has as file 3.
func (p *processor) mapShared(addr, size, offset uint64) {
	r := p.idle
	r.Rax, r.Rdi, r.Rsi, r.Rdx = unix.SYS_MMAP, addr, size, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC
	r.R10, r.R8, r.R9 = unix.MAP_SHARED|unix.MAP_FIXED, 3, offset
	if p.step(&r); r.Rax != addr {
		p.t.Fatalf("mmap(%#x) returned %#x", addr, r.Rax)
	}
}

func (p *processor) wait() unix.Signal {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(p.pid, &status, 0, nil)
		if err == unix.EINTR {
			continue
		}
		check(p.t, err)
		if !status.Stopped() {
			p.t.Fatalf("the process has ended: %#x", status)
		}
		return status.StopSignal()
	}
}

// step executes one instruction with the registers r and sets r to those after it. It returns
// SIGTRAP, or the signal of a fault.
func (p *processor) step(r *unix.PtraceRegs) unix.Signal {
	check(p.t, unix.PtraceSetRegs(p.pid, r))
	check(p.t, unix.PtraceSingleStep(p.pid))
	signal := p.wait()
	check(p.t, unix.PtraceGetRegs(p.pid, r))
	return signal
}

// faultAddress returns the address in the information of the last signal.
func (p *processor) faultAddress() uint64 {
	var info [128]byte
	p.ptrace(unix.PTRACE_GETSIGINFO, 0, unsafe.Pointer(&info))
	return binary.LittleEndian.Uint64(info[16:])
}

func (p *processor) ptrace(request, addr uintptr, data unsafe.Pointer) {
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, request, uintptr(p.pid), addr, uintptr(data), 0, 0); e != 0 {
		p.t.Helper()
		p.t.Fatalf("ptrace request %#x: %v", request, e)
	}
}

const ntX86XState = 0x202

// vectors returns the XSAVE area. It is valid until the next call.
func (p *processor) vectors() []byte {
	iov := unix.Iovec{Base: &p.xstate[0], Len: uint64(len(p.xstate))}
	p.ptrace(unix.PTRACE_GETREGSET, ntX86XState, unsafe.Pointer(&iov))
	return p.xstate[:iov.Len]
}

func (p *processor) setVectors(state []byte) {
	iov := unix.Iovec{Base: &state[0], Len: uint64(len(state))}
	p.ptrace(unix.PTRACE_SETREGSET, ntX86XState, unsafe.Pointer(&iov))
}

// vectorStates returns XSAVE areas with random vector registers. In every other one the elements
// are small, so that gathers find memory.
func (p *processor) vectorStates(rng *rand.Rand, count int) [][]byte {
	var states [][]byte
	for i := range count {
		for j := 0; j < arenaSize; j += 4 {
			element := rng.Uint32()
			if i%2 == 1 && j/64%3 != 0 {
				element = element & 0xff * uint32(^j>>2&1)
			}
			binary.LittleEndian.PutUint32(p.arena[j:], element)
		}
		at := 0
		load := func(code ...byte) { // of 64 bytes at rax+disp32
			copy(p.code, binary.LittleEndian.AppendUint32(code, uint32(64*at)))
			r := p.idle
			r.Rip, r.Rax = codeBase, arenaBase
			if signal := p.step(&r); signal != unix.SIGTRAP {
				p.t.Fatalf("% x: %v", code, signal)
			}
			at++
		}
		switch {
		case cpu.X86.HasAVX512BW:
			for n := range byte(32) { // VMOVDQU64 ZMMn, [RAX+disp32]
				load(0x62, 0x61|^n<<4&0x80|^n&0x10, 0xfe, 0x48, 0x6f, 0x80|n&7<<3)
			}
			for n := range byte(8) { // KMOVQ Kn, [RAX+disp32]
				load(0xc4, 0xe1, 0xf8, 0x90, 0x80|n<<3)
			}
		case cpu.X86.HasAVX:
			for n := range byte(16) { // VMOVDQU YMMn, [RAX+disp32]
				load(0xc5, 0x7e|^n<<4&0x80, 0x6f, 0x80|n&7<<3)
			}
		default:
			for n := range byte(16) { // MOVUPS XMMn, [RAX+disp32]
				load(0x40|n>>1&4, 0x0f, 0x10, 0x80|n&7<<3)
			}
		}
		states = append(states, bytes.Clone(p.vectors()))
	}
	return states
}
