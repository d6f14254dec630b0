//go:build linux && amd64

package frames_test

import (
	"encoding/hex"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/internal/fixture"
	"dbg/target"
)

// TestTortureTrampolines: signal trampolines by their bytes, and where the registers are saved. A program is run by
// the kernel or by qemu, which make the frames; it says what is there and what is true (testdata/torture/sigframe.c).
// No table helps the walk.
func TestTortureTrampolines(t *testing.T) {
	for _, c := range []struct {
		name     string
		a        *arch.Arch
		compiler string
		run      string // "" is the kernel itself
		kept     [2]arch.Reg
		modes    int
		damaged  string // the kind whose handler qemu 7.2 lets return to padding in front of its trampoline
	}{
		{"amd64", arch.AMD64, "gcc", "", [2]arch.Reg{arch.RBX, arch.R12}, 2, ""},
		{"386 under the kernel", arch.I386, "i686-linux-gnu-gcc", "", [2]arch.Reg{6, 7}, 4, ""},
		{"386 under qemu", arch.I386, "i686-linux-gnu-gcc", "qemu-i386", [2]arch.Reg{6, 7}, 4, "kernel rt"},
		{"arm under qemu", arch.ARM, "arm-linux-gnueabihf-gcc", "qemu-arm", [2]arch.Reg{4, 8}, 8, ""},
		{"arm64 under qemu", arch.ARM64, "aarch64-linux-gnu-gcc", "qemu-aarch64", [2]arch.Reg{19, 28}, 4, ""},
		{"riscv64 under qemu", arch.RISCV64, "riscv64-linux-gnu-gcc", "qemu-riscv64", [2]arch.Reg{18, 27}, 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fixture.Need(t, c.compiler)
			exe := fixture.Build(t, "torture/sigframe.c", "cc="+c.compiler, "-O1", "-static")
			args := []string{exe}
			if c.run != "" {
				fixture.Need(t, c.run)
				args = []string{c.run, exe}
			}
			out, err := exec.Command(args[0], args[1:]...).Output()
			if err != nil {
				fixture.Missing(t, fmt.Sprintf("%q: %v", args, err))
			}
			all := strings.Split(string(out), "frame ")[1:]
			if len(all) != c.modes {
				t.Errorf("%d kinds of frames, want %d", len(all), c.modes)
			}
			for _, text := range all {
				mode, rest, _ := strings.Cut(text, "\n")
				t.Run(mode, func(t *testing.T) { Trampoline(t, c.a, rest, c.kept, mode == c.damaged) })
			}
		})
	}
}

// trampoline walks from a handler's call to nowhere, and from each instruction of the trampoline.
func Trampoline(t *testing.T, a *arch.Arch, text string, kept [2]arch.Reg, mayBeDamaged bool) {
	var pc, sp, ra, cfa, codeBase, stackBase uint64
	var codeHex, stackHex string
	if _, err := fmt.Sscanf(text, "truth %x %x\nreturn %x %x\ncode %x %s\nstack %x %s\n", &pc, &sp, &ra, &cfa, &codeBase, &codeHex, &stackBase, &stackHex); err != nil {
		t.Fatalf("%v in %.200q", err, text)
	}
	if mayBeDamaged && strings.HasPrefix(codeHex, "0000000000000000") {
		t.Log("this qemu lets the handler return to padding in front of its trampoline")
		return
	}
	code, err1 := hex.DecodeString(codeHex)
	stack, err2 := hex.DecodeString(stackHex)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	page := append(make([]byte, codeBase&4095), code...) // the mapping may begin with the trampoline
	space := &fake{pieces: []piece{{target.Addr(codeBase &^ 4095), page, true}, {target.Addr(stackBase), stack, false}}}
	check := func(what string, regs *arch.Registers, want string) {
		t.Helper()
		got, _ := show(t, frames.New(a, space).Walk(regs))
		if !strings.HasPrefix(got+"\n", want) {
			t.Errorf("%s\ngot\n%s\nwant\n%s\ncode % x", what, got, want, code)
			return
		}
		u := frames.New(a, space)
		for f := range u.Walk(regs).Frames(t.Context()) {
			if f.Strategy != frames.Sigreturn {
				continue
			}
			for i, r := range kept {
				if v, known := f.Regs.Get(r); !known || v != 0x5e71+uint64(i) {
					t.Errorf("%s: %s of what was interrupted is %x, %v", what, a.RegName(r), v, known)
				}
				if p, at := f.Where(r); p != frames.InMemory || uint64(at) < cfa || uint64(at) > cfa+1200 {
					t.Errorf("%s: %s is in %v at %v", what, a.RegName(r), p, at)
				}
			}
			if v, _ := f.Regs.SP(); v != sp {
				t.Errorf("%s: the stack pointer of what was interrupted is %x, in truth %x", what, v, sp)
			}
		}
	}
	var regs arch.Registers
	regs.Arch = a
	back := ra
	if a == arch.ARM {
		back &^= 1
	}
	regs.Set(a.PC, 0)
	regs.Set(a.SP, cfa)
	if a.LR != arch.NoReg {
		regs.Set(a.LR, ra)
	} else {
		regs.Set(a.SP, cfa-uint64(a.PtrSize))
	}
	check("returning", &regs, fmt.Sprintf("0 context exact\n%x prologue heuristic signal\n%x sigreturn heuristic precise\n", back, pc))
	if a == arch.ARM64 { // SP is not known, as after a handler that was found by the frame pointer, which leads to the kernel's record
		regs := arch.Registers{Arch: a}
		regs.Set(a.PC, back)
		regs.Set(a.FP, cfa+4688)
		check("by the record", &regs, fmt.Sprintf("%x context exact signal\n%x sigreturn table precise\n", back, pc))
	}
	// The thread stopped in it: at its first instruction, and at the system call.
	starts := []struct{ at, popped uint64 }{{0, 0}}
	switch {
	case a == arch.AMD64 && code[0] == 0x48:
		starts = append(starts, struct{ at, popped uint64 }{7, 0})
	case a == arch.I386 && code[0] == 0x58:
		starts = append(starts, struct{ at, popped uint64 }{1, 4}, struct{ at, popped uint64 }{6, 4})
	case a == arch.I386:
		starts = append(starts, struct{ at, popped uint64 }{5, 0})
	case a == arch.ARM && ra&1 != 0 && code[1] == 0x27:
		starts = append(starts, struct{ at, popped uint64 }{2, 0})
	default:
		starts = append(starts, struct{ at, popped uint64 }{4, 0})
	}
	for _, s := range starts {
		var regs arch.Registers
		regs.Arch = a
		regs.Set(a.PC, back+s.at)
		regs.Set(a.SP, cfa+s.popped)
		check(fmt.Sprintf("at %x", s.at), &regs, fmt.Sprintf("%x context exact signal\n%x sigreturn table precise\n", back+s.at, pc))
	}
}
