package image

import "errors"

// FetchKind is which of the files with a build id is meant.
type FetchKind uint8

const (
	FetchDebug      FetchKind = iota // the separate debug file
	FetchExecutable                  // the file itself
)

// A Fetcher gets files by build id from elsewhere. Its methods may be called from
// any goroutine.
type Fetcher interface {
	// Fetch returns the path of a file here. It does not wait long: while the file
	// is still being fetched the error is ErrFetching, and done is called, once and
	// from another goroutine, when a call would give the file or another error.
	// That says what was tried. Whoever opens the file checks its build id.
	Fetch(kind FetchKind, buildID string, done func()) (path string, err error)
}

// ErrFetching says that a file is on its way.
var ErrFetching = errors.New("being fetched")
