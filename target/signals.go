package target

import "fmt"

// signalNames lists Linux's signal names for x86, ARM and RISC-V: signal(7).
var signalNames = [...]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
	9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
	16: "SIGSTKFLT", 17: "SIGCHLD", 18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU",
	23: "SIGURG", 24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO",
	30: "SIGPWR", 31: "SIGSYS",
}

// signalDescriptions lists the texts of strsignal(3) in the C locale.
var signalDescriptions = [...]string{
	1: "Hangup", 2: "Interrupt", 3: "Quit", 4: "Illegal instruction", 5: "Trace/breakpoint trap", 6: "Aborted",
	7: "Bus error", 8: "Arithmetic exception", 9: "Killed", 10: "User defined signal 1", 11: "Segmentation fault",
	12: "User defined signal 2", 13: "Broken pipe", 14: "Alarm clock", 15: "Terminated", 16: "Stack fault",
	17: "Child status changed", 18: "Continued", 19: "Stopped (signal)", 20: "Stopped (user)",
	21: "Stopped (tty input)", 22: "Stopped (tty output)", 23: "Urgent I/O condition", 24: "CPU time limit exceeded",
	25: "File size limit exceeded", 26: "Virtual timer expired", 27: "Profiling timer expired",
	28: "Window size changed", 29: "I/O possible", 30: "Power fail/restart", 31: "Bad system call",
}

// NumSignals is the highest signal number of Linux plus one.
const NumSignals = 65

// SignalName returns the name of a signal: "SIGSEGV", or "SIG34" for a real-time signal, as gdb
// and the shells write it.
func SignalName(sig int) string {
	if sig > 0 && sig < len(signalNames) {
		return signalNames[sig]
	}
	return fmt.Sprintf("SIG%d", sig)
}

// SignalDescription returns a short description of a signal: "Segmentation fault".
func SignalDescription(sig int) string {
	switch {
	case sig > 0 && sig < len(signalDescriptions):
		return signalDescriptions[sig]
	case sig >= 32 && sig < NumSignals:
		return fmt.Sprintf("Real-time event %d", sig)
	}
	return "Unknown signal"
}

// SignalByName returns the number of a signal given as SIGSEGV, SEGV or 11. It returns 0 for an
// unknown signal.
func SignalByName(name string) int {
	for n := 1; n < NumSignals; n++ {
		s := SignalName(n)
		if s == name || s[3:] == name || fmt.Sprint(n) == name {
			return n
		}
	}
	return 0
}

// DefaultSignalPolicy returns the policy for a signal that the user has not configured. Faults,
// aborts, traps and the terminal's interrupt stop the process. Signals that programs use
// routinely (timers, children, urgent data, profiling, window size, real time) are passed without
// a stop. SIGTRAP and SIGINT belong to the debugger and are not passed on.
func DefaultSignalPolicy(sig int) SignalPolicy {
	switch SignalName(sig) {
	case "SIGALRM", "SIGCHLD", "SIGURG", "SIGPROF", "SIGWINCH", "SIGVTALRM", "SIGIO", "SIGCONT":
		return SignalPolicy{Stop: false, Pass: true}
	case "SIGTRAP", "SIGINT":
		return SignalPolicy{Stop: true, Pass: false}
	}
	if sig >= 32 {
		return SignalPolicy{Stop: false, Pass: true}
	}
	return SignalPolicy{Stop: true, Pass: true}
}

// signalCodes lists the si_code values that apply to only one signal: sigaction(2).
var signalCodes = map[int]map[int]string{
	4:  {1: "ILL_ILLOPC", 2: "ILL_ILLOPN", 3: "ILL_ILLADR", 4: "ILL_ILLTRP", 5: "ILL_PRVOPC", 6: "ILL_PRVREG", 7: "ILL_COPROC", 8: "ILL_BADSTK"},
	8:  {1: "FPE_INTDIV", 2: "FPE_INTOVF", 3: "FPE_FLTDIV", 4: "FPE_FLTOVF", 5: "FPE_FLTUND", 6: "FPE_FLTRES", 7: "FPE_FLTINV", 8: "FPE_FLTSUB"},
	11: {1: "SEGV_MAPERR", 2: "SEGV_ACCERR", 3: "SEGV_BNDERR", 4: "SEGV_PKUERR", 8: "SEGV_MTEAERR", 9: "SEGV_MTESERR", 10: "SEGV_CPERR"},
	7:  {1: "BUS_ADRALN", 2: "BUS_ADRERR", 3: "BUS_OBJERR", 4: "BUS_MCEERR_AR", 5: "BUS_MCEERR_AO"},
	5:  {1: "TRAP_BRKPT", 2: "TRAP_TRACE", 3: "TRAP_BRANCH", 4: "TRAP_HWBKPT", 5: "TRAP_UNK"},
	17: {1: "CLD_EXITED", 2: "CLD_KILLED", 3: "CLD_DUMPED", 4: "CLD_TRAPPED", 5: "CLD_STOPPED", 6: "CLD_CONTINUED"},
	31: {1: "SYS_SECCOMP", 2: "SYS_USER_DISPATCH"},
}

var commonCodes = map[int]string{0: "SI_USER", 0x80: "SI_KERNEL", -1: "SI_QUEUE", -2: "SI_TIMER", -3: "SI_MESGQ", -4: "SI_ASYNCIO", -5: "SI_SIGIO", -6: "SI_TKILL"}

// SignalCodeName returns the symbolic name of si_code for a signal, or its number if it has no
// name.
func SignalCodeName(sig, code int) string {
	if s, ok := signalCodes[sig][code]; ok {
		return s
	}
	if s, ok := commonCodes[code]; ok {
		return s
	}
	return fmt.Sprint(code)
}
