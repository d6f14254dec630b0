// Package kinds opens what is to be debugged, of whatever kind it is. It is the only package that knows all kinds: a
// debugger imports package target and this one.
package kinds

import (
	"errors"

	"dbg/image"
	"dbg/target"
	"dbg/target/elfcore"
	"dbg/target/machocore"
	"dbg/target/ptrace"
)

// Spec says what to open. Exactly one of Launch, Attach and Core is not nil.
type Spec struct {
	Launch *Launch
	Attach *Attach
	Core   *Core
}

// Launch is a program that is to be started. It is opened stopped at its first instruction.
type Launch = ptrace.LaunchOptions

// Attach is a process that runs already. It is opened stopped.
type Attach struct {
	PID int
	// Guardian is the path of a program that calls RunGuardian: it repairs the process's memory if this program is
	// killed. "": nobody does.
	Guardian string
}

// Core is a core file.
type Core struct {
	Path string
	Exe  string // the program that dumped it, if the user knows it, else ""

	// FindELF maps a path that an ELF core has recorded, with the build id that the core knows or "", to a local file.
	// FindMachO maps an image's path and UUID to local files that may be it, the likeliest first. nil: the path itself.
	FindELF   func(path, buildID string) string
	FindMachO func(path, uuid string) []string
}

// Open opens a target: a target.Process for a live one. The caller closes it. An error is one sentence for the user.
func Open(spec Spec) (target.Target, error) {
	switch {
	case spec.Launch != nil:
		return live(ptrace.Launch(*spec.Launch))
	case spec.Attach != nil:
		return live(ptrace.AttachWith(spec.Attach.PID, ptrace.AttachOptions{Guardian: spec.Attach.Guardian}))
	case spec.Core != nil:
		return openCore(spec.Core)
	}
	return nil, errors.New("nothing was named that could be debugged")
}

// live makes sure that the interface is nil if there is no process.
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
	c, err := elfcore.Open(spec.Path, elfcore.Options{Exe: spec.Exe, FindFile: spec.FindELF})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// RunGuardian is what a program that is named as a guardian calls first. It returns in a program that was not started
// as one.
func RunGuardian() { ptrace.GuardianMain() }
