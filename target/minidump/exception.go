package minidump

import (
	"fmt"

	"dbg/target"
)

// exception is MINIDUMP_EXCEPTION_STREAM.
type exception struct {
	thread  uint32
	code    uint32
	flags   uint32
	address uint64
	params  []uint64
	signal  *target.SignalInfo // nil if the process was healthy
}

// dumpRequested is the code with which Breakpad writes a dump without an exception, on Linux.
// simulated is Crashpad's, on the other systems.
const (
	dumpRequested    = 0xffffffff
	simulatedWindows = 0x0517a7ed
	simulatedApple   = 0x43507378
)

// readException reads the exception. Its context is that of the moment of the exception, and
// replaces the thread's own, which is inside the code that wrote the dump.
func (d *Dump) readException() {
	b := d.streams[streamException]
	if len(b) < 40 {
		if b != nil {
			d.warn("the minidump is damaged: its exception has %d bytes", len(b))
		}
		return
	}
	e := &exception{thread: le.Uint32(b), code: le.Uint32(b[8:]), flags: le.Uint32(b[12:]), address: le.Uint64(b[24:])}
	for i := range int(min(le.Uint32(b[32:]), 15)) {
		if 48+8*i <= len(b) {
			e.params = append(e.params, le.Uint64(b[40+8*i:]))
		}
	}
	d.fault = e
	t := d.thread(target.ThreadID(e.thread))
	if t == nil {
		d.threads = append(d.threads, thread{id: e.thread})
		t = &d.threads[len(d.threads)-1]
	}
	if len(b) >= 168 {
		if context, _ := d.at(b[160:]); len(context) > 0 {
			t.context = context
		}
	}
	e.signal = e.describe(&d.system)
}

// describe returns the signal for the exception, with the words of its system, or nil if the dump
// was written without one.
func (e *exception) describe(s *system) *target.SignalInfo {
	switch {
	case s.windows():
		return e.windows()
	case s.apple():
		return e.mach()
	}
	return e.linux()
}

// linux returns the signal: the code is its number, the flags are si_code.
func (e *exception) linux() *target.SignalInfo {
	if e.code == 0 || e.code == dumpRequested {
		return nil
	}
	if e.code >= target.NumSignals {
		return &target.SignalInfo{Exception: fmt.Sprintf("unknown exception 0x%x", e.code)}
	}
	s := &target.SignalInfo{Number: int(e.code), Code: int(int32(e.flags))}
	const kernel = 0x80
	if s.Code != kernel && target.IsFault(s.Number, s.Code) {
		s.Addr, s.HasAddr = target.Addr(e.address), true
	}
	return s
}

// Linux's signal numbers, which package target uses.
const (
	sigINT  = 2
	sigILL  = 4
	sigTRAP = 5
	sigABRT = 6
	sigBUS  = 7
	sigFPE  = 8
	sigSEGV = 11
	sigSYS  = 31
)

// windowsCodes lists exception codes (winnt.h, ntstatus.h) with the signal that Linux would send.
var windowsCodes = map[uint32]struct {
	words  string
	signal int
}{
	0x40010005: {"Ctrl-C", sigINT},
	0x40010006: {"debug string", 0},
	0x4000001f: {"WOW64 breakpoint", sigTRAP},
	0x80000001: {"access to a guard page", sigSEGV},
	0x80000002: {"misaligned access", sigBUS},
	0x80000003: {"breakpoint", sigTRAP},
	0x80000004: {"single step", sigTRAP},
	0xc0000005: {"access violation", sigSEGV},
	0xc0000006: {"in-page error", sigBUS},
	0xc0000008: {"invalid handle", 0},
	0xc000000d: {"invalid parameter", sigABRT},
	0xc0000017: {"out of memory", sigABRT},
	0xc000001d: {"illegal instruction", sigILL},
	0xc0000025: {"noncontinuable exception", sigABRT},
	0xc0000026: {"invalid disposition", sigABRT},
	0xc000008c: {"array bounds exceeded", sigSEGV},
	0xc000008d: {"denormal floating-point operand", sigFPE},
	0xc000008e: {"floating-point division by zero", sigFPE},
	0xc000008f: {"inexact floating-point result", sigFPE},
	0xc0000090: {"invalid floating-point operation", sigFPE},
	0xc0000091: {"floating-point overflow", sigFPE},
	0xc0000092: {"floating-point stack check", sigFPE},
	0xc0000093: {"floating-point underflow", sigFPE},
	0xc0000094: {"integer division by zero", sigFPE},
	0xc0000095: {"integer overflow", sigFPE},
	0xc0000096: {"privileged instruction", sigILL},
	0xc00000fd: {"stack overflow", sigSEGV},
	0xc00000ff: {"bad function table", sigABRT},
	0xc0000135: {"DLL not found", sigABRT},
	0xc0000138: {"ordinal not found", sigABRT},
	0xc0000139: {"entry point not found", sigABRT},
	0xc0000142: {"DLL initialization failed", sigABRT},
	0xc0000194: {"possible deadlock", sigABRT},
	0xc0000374: {"heap corruption", sigABRT},
	0xc0000409: {"fail fast (stack buffer overrun)", sigABRT},
	0xc0000417: {"invalid parameter of a C runtime function", sigABRT},
	0xc0000420: {"assertion failure", sigABRT},
	0xc0000602: {"fail fast", sigABRT},
	0xe0000008: {"out of memory (Chromium)", sigABRT},
	0xe06d7363: {"C++ exception", sigABRT},
	0xe0434352: {".NET exception", sigABRT},
	0x406d1388: {"thread name", 0},
}

// Codes whose first two parameters are the kind of access and its address.
const (
	accessViolation = 0xc0000005
	inPageError     = 0xc0000006
)

// windows returns the signal for an exception of Windows.
func (e *exception) windows() *target.SignalInfo {
	if e.code == 0 || e.code == simulatedWindows {
		return nil
	}
	known := windowsCodes[e.code]
	s := &target.SignalInfo{Number: known.signal, Code: codeUnknown}
	words := known.words
	if words == "" {
		words = "exception"
	}
	if (e.code == accessViolation || e.code == inPageError) && len(e.params) >= 2 {
		// On x64, an access to a non-canonical address is reported as one to the highest address.
		s.Addr, s.HasAddr = target.Addr(e.params[1]), true
		words += " " + accessWord(e.params[0]) + " " + s.Addr.String()
	} else if e.address != 0 {
		words += fmt.Sprintf(" at 0x%x", e.address)
	}
	s.Exception = fmt.Sprintf("%s (0x%08x)", words, e.code)
	return s
}

// codeUnknown is SI_KERNEL: no si_code of Linux is known.
const codeUnknown = 0x80

// accessWord names the first parameter of an access violation (EXCEPTION_RECORD, winnt.h).
func accessWord(kind uint64) string {
	switch kind {
	case 0:
		return "reading"
	case 1:
		return "writing"
	case 8:
		return "executing"
	}
	return fmt.Sprintf("(kind %d) of", kind)
}

// machNames lists the exception types of <mach/exception_types.h> with the signal that xnu sends
// (bsd/uxkern/ux_exception.c).
var machNames = map[uint32]struct {
	name   string
	signal int
}{
	1: {"EXC_BAD_ACCESS", sigSEGV}, 2: {"EXC_BAD_INSTRUCTION", sigILL}, 3: {"EXC_ARITHMETIC", sigFPE},
	4: {"EXC_EMULATION", sigFPE},
	5: {"EXC_SOFTWARE", 0}, 6: {"EXC_BREAKPOINT", sigTRAP}, 7: {"EXC_SYSCALL", sigSYS}, 8: {"EXC_MACH_SYSCALL", sigSYS},
	9: {"EXC_RPC_ALERT", 0}, 10: {"EXC_CRASH", sigABRT}, 11: {"EXC_RESOURCE", 0}, 12: {"EXC_GUARD", 0},
	13: {"EXC_CORPSE_NOTIFY", 0},
}

// accessCodes lists the kern_return_t codes of EXC_BAD_ACCESS (<mach/kern_return.h>).
var accessCodes = map[uint32]string{1: "KERN_INVALID_ADDRESS", 2: "KERN_PROTECTION_FAILURE", 8: "KERN_NO_ACCESS",
	9:  "KERN_MEMORY_FAILURE",
	10: "KERN_MEMORY_ERROR", 50: "KERN_CODESIGN_ERROR", 0x101: "EXC_ARM_DA_ALIGN", 0x102: "EXC_ARM_DA_DEBUG",
	13: "EXC_I386_GPFLT"}

// Signals by the code of EXC_SOFTWARE (<sys/ux_exception.h>).
const (
	machBadSyscall = 0x10000
	machBadPipe    = 0x10001
	machAbort      = 0x10002
)

// mach returns the signal for an exception of macOS or iOS: the flags are its code, and the address is
// its subcode.
func (e *exception) mach() *target.SignalInfo {
	if e.code == 0 || e.code == simulatedApple {
		return nil
	}
	known, ok := machNames[e.code]
	if !ok {
		return &target.SignalInfo{Code: codeUnknown, Exception: fmt.Sprintf("exception 0x%x, code 0x%x", e.code, e.flags)}
	}
	s := &target.SignalInfo{Number: known.signal, Code: codeUnknown}
	code := fmt.Sprintf("code 0x%x", e.flags)
	switch e.code {
	case 1:
		if name := accessCodes[e.flags]; name != "" {
			code = name
		}
		if e.flags == 2 {
			s.Number = sigBUS
		}
		s.Addr, s.HasAddr = target.Addr(e.address), true
		code += ", address " + s.Addr.String()
	case 5:
		switch e.flags {
		case machBadSyscall:
			s.Number = sigSYS
		case machBadPipe:
			s.Number = 13
		case machAbort:
			s.Number = sigABRT
		}
	case 3:
		if e.flags == 1 {
			code = "integer division by zero"
		}
	}
	s.Exception = known.name + " (" + code + ")"
	return s
}
