package start

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// CheckProgram returns an error of one sentence if a file can't be launched and that is known
// before the attempt. execve(2) has one error number for most reasons.
func CheckProgram(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Errorf(ErrNotFound, "%s: no such file", path)
	case errors.Is(err, os.ErrPermission):
		return Errorf(ErrPermission, "%s: permission denied", path)
	case err != nil:
		return err
	case info.IsDir():
		return Errorf(ErrDirectory, "%s is a directory", path)
	case !info.Mode().IsRegular():
		return Errorf(ErrNotELF, "%s is not an executable file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		if unix.Access(path, unix.X_OK) == nil {
			return nil // it may be executable but not readable
		}
		return Errorf(ErrPermission, "%s: permission denied", path)
	}
	defer f.Close()
	var head [20]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("%s can't be read: %w", path, err)
	}
	switch {
	case n >= 2 && string(head[:2]) == "#!":
		return Errorf(ErrScript, "%s is a script; debug its interpreter: dbg exec %s %s", path, interpreter(path), path)
	case n == 0:
		return Errorf(ErrNotELF, "%s is empty", path)
	case n < len(head) || string(head[:4]) != elf.ELFMAG:
		return Errorf(ErrNotELF, "%s is not an ELF program", path)
	}
	order := byte(elf.ELFDATA2LSB)
	machine := elf.Machine(uint16(head[18]) | uint16(head[19])<<8)
	if head[elf.EI_DATA] != order {
		machine = elf.Machine(uint16(head[19]) | uint16(head[18])<<8)
	}
	switch {
	case machine == elf.EM_386, machine == elf.EM_X86_64 && elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS32:
		return Errorf(Err32Bit, "%s is a 32-bit program; 32-bit programs can't be run yet", path)
	case machine != elf.EM_X86_64:
		return Errorf(ErrWrongArch, "%s is a program for %s, but this machine is x86-64", path, machineName(machine))
	}
	if unix.Access(path, unix.X_OK) != nil || info.Mode()&0111 == 0 {
		return Errorf(ErrPermission, "%s is not executable", path)
	}
	if interp := elfInterp(f); interp != "" {
		if _, err := os.Stat(interp); errors.Is(err, os.ErrNotExist) {
			return Errorf(ErrNoInterpreter, "%s needs the dynamic linker %s, which is missing", path, interp)
		}
	}
	return nil
}

func machineName(m elf.Machine) string {
	return strings.ToLower(strings.TrimPrefix(m.String(), "EM_"))
}

// elfInterp returns the path in PT_INTERP, or "".
func elfInterp(r io.ReaderAt) string {
	f, err := elf.NewFile(r)
	if err != nil {
		return ""
	}
	for _, prog := range f.Progs {
		if prog.Type == elf.PT_INTERP && prog.Filesz > 1 && prog.Filesz < 4096 {
			b := make([]byte, prog.Filesz)
			if _, err := prog.ReadAt(b, 0); err == nil {
				return strings.TrimRight(string(b), "\x00")
			}
		}
	}
	return ""
}

// interpreter returns the interpreter in a script's first line, without arguments.
func interpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "/bin/sh"
	}
	defer f.Close()
	b := make([]byte, 256)
	n, _ := f.Read(b)
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	fields := strings.Fields(strings.TrimPrefix(line, "#!"))
	if len(fields) == 0 {
		return "/bin/sh"
	}
	return fields[0]
}

// execError returns the error for a file that passed CheckProgram but that execve(2) refused.
func execError(path string, err error) error {
	kind, text := err, err.Error()
	var e syscall.Errno
	if errors.As(err, &e) {
		switch e {
		case unix.ENOENT:
			kind, text = ErrNoInterpreter, "it needs a file that is missing"
		case unix.EACCES, unix.EPERM:
			kind, text = ErrPermission, "permission denied"
		case unix.ENOEXEC:
			kind, text = ErrNotELF, "the kernel can't execute it"
		}
	}
	return Errorf(kind, "%s can't be started: %s", path, text)
}
