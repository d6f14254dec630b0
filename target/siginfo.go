package target

import "encoding/binary"

// SigInfoSize is the size of the kernel's siginfo_t on every architecture.
const SigInfoSize = 128

// si_code values that belong to every signal: sigaction(2).
const (
	siUser  = 0
	siQueue = -1
	siTkill = -6
)

// DecodeSigInfo reads a siginfo_t as ptrace(2)'s PTRACE_GETSIGINFO and a core's
// NT_SIGINFO note give it. wordSize is the size of a pointer of the program:
// the union after the three first fields is aligned to it. Bytes that b does
// not have are taken as absent, not as zero: the fields are left unset.
func DecodeSigInfo(b []byte, order binary.ByteOrder, wordSize int) (s SignalInfo, ok bool) {
	if len(b) < 12 {
		return s, false
	}
	s.Number = int(int32(order.Uint32(b)))
	s.Errno = int(int32(order.Uint32(b[4:])))
	s.Code = int(int32(order.Uint32(b[8:])))
	union := 12
	if wordSize == 8 {
		union = 16
	}
	if len(b) < union+8 {
		return s, true
	}
	u := b[union:]
	switch {
	case s.Code == siUser || s.Code == siQueue || s.Code == siTkill:
		s.SenderPID = int(int32(order.Uint32(u)))
		s.SenderUID = int(order.Uint32(u[4:]))
		s.HasSender = true
	case faultHasAddr(s.Number, s.Code):
		// SI_KERNEL (0x80) is above the signal's own codes: the processor gave
		// no address then, as for a non-canonical one on x86-64.
		if s.Number == 31 {
			break
		}
		s.HasAddr = true
		if wordSize == 8 {
			s.Addr = Addr(order.Uint64(u))
		} else {
			s.Addr = Addr(order.Uint32(u))
		}
	}
	return s, true
}

// IsFault reports whether a signal with that si_code was caused by the
// instruction at which the thread stands (with a code of the signal's own), so
// that going on without it would cause it again. The code is SI_KERNEL for what the
// processor reports without an address: a general protection fault.
func IsFault(sig, code int) bool {
	const kernel = 0x80
	if code == kernel {
		return sig == 4 || sig == 7 || sig == 8 || sig == 11
	}
	return faultHasAddr(sig, code)
}

// faultHasAddr reports whether a signal with that si_code has an address.
func faultHasAddr(sig, code int) bool {
	if code <= 0 || code >= 0x80 {
		return false
	}
	switch sig {
	case 4, 5, 7, 8, 11, 31:
		return true
	}
	return false
}
