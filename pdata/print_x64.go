package pdata

import (
	"fmt"
	"io"
	"strings"
)

// amd64Names are the names of the registers in machine order.
var amd64Names = [16]string{"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"}

func (t *Table) printAMD64(w io.Writer, e *Entry) error {
	at := func(rva uint32) uint64 { return t.config.Base + uint64(rva) }
	d := t.config.Data[e.Offset:]
	fmt.Fprintf(w, "    StartAddress: (0x%X)\n    EndAddress: (0x%X)\n    UnwindInfoAddress: (0x%X)\n", at(u32(d, 0)), at(u32(d, 4)), at(u32(d, 8)))
	h := t.record(e.Unwind, 4)
	if h == nil {
		return fmt.Errorf("the unwind information is not in the image")
	}
	b := t.record(e.Unwind+4, 2*int(h[2]))
	if b == nil && h[2] > 0 {
		return fmt.Errorf("the unwind codes are not in the image")
	}
	u := unwindInfo{version: h[0] & 7, flags: h[0] >> 3}
	fmt.Fprintf(w, "    UnwindInfo {\n      Version: %d\n      Flags [ (0x%X)\n", u.version, u.flags)
	for _, f := range []struct {
		bit  uint8
		name string
	}{{flagChained, "ChainInfo"}, {flagExceptionHandler, "ExceptionHandler"}, {flagTerminationHandler, "TerminateHandler"}} {
		if u.flags&f.bit != 0 {
			fmt.Fprintf(w, "        %s (0x%X)\n", f.name, f.bit)
		}
	}
	fmt.Fprintf(w, "      ]\n      PrologSize: %d\n", h[1])
	if reg := h[3] & 15; reg != 0 {
		fmt.Fprintf(w, "      FrameRegister: %s (0x%X)\n      FrameOffset: 0x%X\n", amd64Names[reg], reg, h[3]>>4)
	} else {
		fmt.Fprint(w, "      FrameRegister: -\n      FrameOffset: -\n")
	}
	fmt.Fprintf(w, "      UnwindCodeCount: %d\n      UnwindCodes [\n", h[2])
	u.printCodes(w, h, b)
	fmt.Fprintln(w, "      ]")
	after := e.Unwind + 4 + uint32(2*int(h[2])+3)&^3
	switch {
	case u.flags&(flagExceptionHandler|flagTerminationHandler) != 0:
		if b := t.record(after, 4); b != nil {
			fmt.Fprintf(w, "      Handler: (0x%X)\n", at(u32(b, 0)))
		}
	case u.chained():
		if b := t.record(after, 12); b != nil {
			fmt.Fprintf(w, "      Chained {\n        StartAddress: (0x%X)\n        EndAddress: (0x%X)\n        UnwindInfoAddress: (0x%X)\n      }\n",
				at(u32(b, 0)), at(u32(b, 4)), at(u32(b, 8)))
		}
	}
	fmt.Fprintln(w, "    }")
	return nil
}

// printCodes writes the codes of versions 1 and 2.
func (u *unwindInfo) printCodes(w io.Writer, h, b []byte) {
	if u.version > 2 {
		fmt.Fprintf(w, "        payload of version %d: % x\n", u.version, b) // the tool does not know it
		return
	}
	for len(b) > 0 {
		code, info := b[1]&15, b[1]>>4
		slots := u.slots(code, info)
		if slots == 0 || len(b) < 2*slots {
			fmt.Fprintf(w, "        0x%02X: unknown code %d\n", b[0], code)
			return
		}
		o := operation{code: code, reg: info}
		switch slots {
		case 2:
			o.n = int64(u16(b, 2))
		case 3:
			o.n = int64(u32(b, 2))
		}
		o.normalize(slots)
		fmt.Fprintf(w, "        0x%02X: %s\n", b[0], u.describe(&o, code, h, b))
		b = b[2*slots:]
	}
}

// describe returns a code as text.
func (u *unwindInfo) describe(o *operation, code uint8, h, b []byte) string {
	name := map[uint8]string{uwopPushNonvol: "PUSH_NONVOL", uwopAllocLarge: "ALLOC_LARGE", uwopAllocSmall: "ALLOC_SMALL", uwopSetFPReg: "SET_FPREG",
		uwopSaveNonvol: "SAVE_NONVOL", uwopSaveNonvolFar: "SAVE_NONVOL_FAR", uwopEpilog: "EPILOG", uwopSaveXMM: "SAVE_XMM128",
		uwopSaveXMMFar: "SAVE_XMM128_FAR", uwopPushMachFrame: "PUSH_MACHFRAME"}[code]
	switch code {
	case uwopPushNonvol:
		return fmt.Sprintf("%s reg=%s", name, amd64Names[o.reg])
	case uwopAllocLarge, uwopAllocSmall:
		return fmt.Sprintf("%s size=%d", name, o.n)
	case uwopSetFPReg:
		reg := "-"
		if h[3]&15 != 0 {
			reg = amd64Names[h[3]&15]
		}
		return fmt.Sprintf("%s reg=%s, offset=0x%X", name, reg, int(h[3]>>4)*16)
	case uwopSaveNonvol, uwopSaveNonvolFar:
		return fmt.Sprintf("%s reg=%s, offset=0x%X", name, amd64Names[o.reg], o.n)
	case uwopSaveXMM, uwopSaveXMMFar:
		return fmt.Sprintf("%s reg=XMM%d, offset=0x%X", name, o.reg, o.n)
	case uwopPushMachFrame:
		return name + " errcode=" + map[bool]string{true: "yes", false: "no"}[o.n != 0]
	}
	return strings.TrimSpace(name)
}
