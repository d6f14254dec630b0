package dap

import (
	"net/url"
	"path/filepath"
	"strings"
)

// client is the conventions that the client has chosen in initialize.
type client struct {
	lineBase, columnBase int  // what the first line and column are called
	uri                  bool // paths are file URIs
	types                bool // wants the types of variables
	memory               bool // knows memory references
	invalidated          bool // knows the invalidated event
	progress             bool // knows the progress events
}

var defaultClient = client{lineBase: 1, columnBase: 1}

// line and column turn ours, which begin at 1, to the client's. Unknown ones are the
// first: the protocol has no other way to say it.
func (c *client) line(n int) int   { return max(n, 1) - 1 + c.lineBase }
func (c *client) column(n int) int { return max(n, 1) - 1 + c.columnBase }

// ourLine and ourColumn turn the client's to ours.
func (c *client) ourLine(n int) int   { return n - c.lineBase + 1 }
func (c *client) ourColumn(n int) int { return n - c.columnBase + 1 }

// path is a file's name for the client.
func (c *client) path(file string) string {
	if c.uri && filepath.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: file}).String()
	}
	return file
}

// ourPath turns what the client calls a file into a path. A URI is understood
// even from a client that has not announced it.
func (c *client) ourPath(text string) string {
	if strings.HasPrefix(text, "file:") {
		if u, err := url.Parse(text); err == nil && u.Path != "" {
			return filepath.Clean(u.Path)
		}
	}
	if text == "" {
		return ""
	}
	return filepath.Clean(text)
}
