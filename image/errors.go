package image

import (
	"errors"
	"fmt"
	"io/fs"
)

// Reason is the reason why a file can't be used.
type Reason uint8

const (
	Unreadable         Reason = iota // a system error; see Err
	NotFound                         // the file does not exist
	NotPermitted                     // no permission to read it
	IsDirectory                      // it is a directory
	IsScript                         // it begins with #!
	IsEmpty                          // it has no bytes
	UnknownFormat                    // neither ELF, Mach-O nor PE
	UnsupportedFormat                // a known format that is not supported yet
	Truncated                        // shorter than its headers claim
	Malformed                        // its headers contradict themselves
	UnsupportedMachine               // for a processor that dbg does not support
)

// OpenError is the error of Open, FromMemory and CheckArch. Its text is one sentence that can be
// shown to a user. Err is the system's error, if there is one, so that errors.Is(err,
// fs.ErrNotExist) works.
type OpenError struct {
	Path   string
	Reason Reason
	Detail string // what was found, or which part is wrong
	Format Format // of a file that is Truncated or Malformed
	Err    error
}

func (e *OpenError) Error() string {
	switch e.Reason {
	case NotFound:
		return fmt.Sprintf("%s: there is no such file", e.Path)
	case NotPermitted:
		return fmt.Sprintf("%s: no permission to read this file", e.Path)
	case IsDirectory:
		return fmt.Sprintf("%s: this is a directory, not a program", e.Path)
	case IsScript:
		return fmt.Sprintf("%s: this is a script, not a program; debug its interpreter %s instead", e.Path, e.Detail)
	case IsEmpty:
		return fmt.Sprintf("%s: the file is empty", e.Path)
	case UnknownFormat:
		return fmt.Sprintf("%s: neither an ELF, a Mach-O nor a PE file (%s)", e.Path, e.Detail)
	case UnsupportedFormat:
		return fmt.Sprintf("%s: this is %s, which is not supported yet", e.Path, e.Detail)
	case Truncated:
		return fmt.Sprintf("%s: the file is truncated: %s", e.Path, e.Detail)
	case Malformed:
		return fmt.Sprintf("%s: malformed %v file: %s", e.Path, e.Format, e.Detail)
	case UnsupportedMachine:
		return fmt.Sprintf("%s: this file is for %s, which dbg does not support", e.Path, e.Detail)
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

// Unwrap returns the system's error, or nil.
func (e *OpenError) Unwrap() error { return e.Err }

// openError makes the OpenError for a system error.
func openError(path string, err error) error {
	e := &OpenError{Path: path, Reason: Unreadable, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Reason = NotFound
	case errors.Is(err, fs.ErrPermission):
		e.Reason = NotPermitted
	}
	return e
}
