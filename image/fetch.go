package image

import "errors"

// FetchKind selects one of the files that share a build id.
type FetchKind uint8

const (
	FetchDebug      FetchKind = iota // the separate debug file
	FetchExecutable                  // the file itself
)

// A Fetcher gets files by build id from elsewhere. Its methods may be called from any goroutine.
type Fetcher interface {
	// Fetch returns the path of a local copy of a file. It does not wait long. While the file is
	// still being fetched, the error is ErrFetching, and done is called later, once and from
	// another goroutine, when a new call would return the file or another error. That error says
	// what was tried. The caller checks the build id when it opens the file.
	Fetch(kind FetchKind, buildID string, done func()) (path string, err error)
}

// ErrFetching reports that a file is still being fetched.
var ErrFetching = errors.New("being fetched")
