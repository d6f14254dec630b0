// Package kinds opens a target of any kind. It is the only package that imports all kinds: a
// debugger imports package target and this one.
package kinds

import (
	"errors"

	"dbg/image"
	"dbg/target"
	"dbg/target/elfcore"
	"dbg/target/machocore"
	"dbg/target/minidump"
	"dbg/target/ptrace"
	"dbg/target/ptrace/guardian"
	"dbg/target/vmcore"
)

// Spec specifies the target to open. Exactly one of Launch, Attach and Core is not nil.
type Spec struct {
	Launch *Launch
	Attach *Attach
	Core   *Core
}

// Launch specifies a program to start. After Open it is stopped at its first instruction.
type Launch = ptrace.LaunchOptions

// Attach specifies a process that is already running. After Open it is stopped.
type Attach struct {
	PID int
	// Guardian is the path of a program that calls RunGuardian. It repairs the process's memory
	// if this program is killed. With "", the memory is not repaired.
	Guardian string
}

// Core specifies a core file.
type Core struct {
	Path string
	Exe  string // the program that dumped it, or "" if unknown

	// FindELF maps a path recorded in an ELF core to a local file; the build id is "" if the core
	// does not have it. FindMachO maps an image's path and UUID to candidate local files, the
	// likeliest first. If a function is nil, the path itself is used.
	FindELF   func(path, buildID string) string
	FindMachO func(path, uuid string) []string

	// FindModule is FindMachO for the modules of a minidump, whose paths are those of any system.
	FindModule func(path, id string) []string
}

// Open opens a target. For a live process it is a target.Process. The caller closes it. The error
// is one sentence for the user.
func Open(spec Spec) (target.Target, error) {
	switch {
	case spec.Launch != nil:
		return live(ptrace.Launch(*spec.Launch))
	case spec.Attach != nil:
		return live(ptrace.AttachWith(spec.Attach.PID, ptrace.AttachOptions{Guardian: spec.Attach.Guardian}))
	case spec.Core != nil:
		return openCore(spec.Core)
	}
	return nil, errors.New("no program, process or core file was given to debug")
}

// live returns a nil interface if there is no process.
func live(p *ptrace.Process, err error) (target.Target, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

func openCore(spec *Core) (target.Target, error) {
	if image.BeginsAsMachO(spec.Path) {
		c, err := machocore.Open(spec.Path, machocore.Options{Exe: spec.Exe, FindFile: spec.FindMachO})
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	if ok, _ := minidump.IsCore(spec.Path); ok {
		d, err := minidump.Open(spec.Path, minidump.Options{Exe: spec.Exe, FindFile: spec.FindModule})
		if err != nil {
			return nil, err
		}
		return d, nil
	}
	if vmcore.Is(spec.Path) {
		c, err := vmcore.Open(spec.Path, vmcore.Options{Exe: spec.Exe})
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	c, err := elfcore.Open(spec.Path, elfcore.Options{Exe: spec.Exe, FindFile: spec.FindELF})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// RunGuardian must be the first call in a program that is named as a guardian. It returns only if
// the program was not started as one.
func RunGuardian() { guardian.Main() }
