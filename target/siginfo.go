package target

import "encoding/binary"

// SigInfoSize is the size of the kernel's siginfo_t on every architecture.
const SigInfoSize = 128

// si_code values that apply to every signal: sigaction(2).
const (
	siUser  = 0
	siQueue = -1
	siTkill = -6
)

// DecodeSigInfo decodes a siginfo_t from ptrace(2)'s PTRACE_GETSIGINFO or a core's NT_SIGINFO
// note. wordSize is the pointer size of the program in bytes: the union after the first three
// fields is aligned to it. Bytes missing from b are treated as absent, not as zero: the fields
// stay unset.
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
		// SI_KERNEL (0x80) is above the codes of individual signals. With it, the processor gave
		// no address, as for a non-canonical one on x86-64.
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

// IsFault reports whether the current instruction of the thread caused a signal with that
// si_code, so that resuming without the signal would cause it again. For faults that the
// processor reports without an address, such as a general protection fault, the code is
// SI_KERNEL.
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
