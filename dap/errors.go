package dap

import (
	"context"
	"errors"
	"fmt"

	"dbg/session"
	"dbg/target"

	godap "github.com/google/go-dap"
)

// requestError is the reason why a request was refused. Its number is stable: clients may have
// their own texts for it.
type requestError struct {
	id    int
	short string // response.message, if the protocol defines a word; else the text is used
	text  string
	quiet bool // not important enough to be shown to the user
}

func (e *requestError) Error() string { return e.text }

// The numbers of errors.
const (
	codeMalformed      = 1000
	codeUnsupported    = 1001
	codeArguments      = 1002
	codeNotInitialized = 1003
	codeOrder          = 1004
	codeNoProcess      = 1005
	codeRunning        = 1006
	codeCore           = 1007
	codeStale          = 1008
	codeCancelled      = 1009
	codeFailed         = 2000 // any other failure; see the text
)

var (
	errNotInitialized = &requestError{id: codeNotInitialized, text: "the first request must be initialize"}
	errNoProcess      = &requestError{id: codeNoProcess, text: "no program is being debugged"}
	errRunning        = &requestError{id: codeRunning, short: "notStopped", text: "the program is running", quiet: true}
	errStopped        = &requestError{id: codeOrder, text: "the program is not running", quiet: true}
	errCore           = &requestError{id: codeCore, text: "a core file can't be run"}
	errStale          = &requestError{id: codeStale, text: "stale reference: the program has run since", quiet: true}
	errCancelled      = &requestError{id: codeCancelled, short: "cancelled", text: "cancelled", quiet: true}
)

func badArguments(format string, args ...any) error {
	return &requestError{id: codeArguments, text: fmt.Sprintf(format, args...)}
}

// asRequestError converts an error of the other packages.
func asRequestError(err error) *requestError {
	var re *requestError
	switch {
	case errors.As(err, &re):
		return re
	case errors.Is(err, target.ErrRunning):
		return errRunning
	case errors.Is(err, target.ErrReadOnly):
		return &requestError{id: codeCore, text: err.Error()}
	case errors.Is(err, target.ErrNotRunning), errors.Is(err, session.ErrClosed):
		return &requestError{id: codeNoProcess, text: err.Error()}
	case errors.Is(err, target.ErrNoThread):
		return &requestError{id: codeArguments, text: err.Error(), quiet: true}
	case errors.Is(err, context.Canceled):
		return errCancelled
	}
	return &requestError{id: codeFailed, text: err.Error()}
}

// refuse answers a request with an error.
func (s *server) refuse(req *request, err error) {
	re := asRequestError(err)
	short := re.short
	if short == "" {
		short = re.text
	}
	s.out.send(&response{
		RequestSeq: req.Seq, Command: req.Command, Message: short,
		Body: godap.ErrorResponseBody{Error: &godap.ErrorMessage{Id: re.id, Format: re.text, ShowUser: !re.quiet}},
	})
}
