package dap

import (
	"net/url"
	"path/filepath"
	"strings"
)

// client holds the conventions that the client chose in initialize.
type client struct {
	lineBase, columnBase int  // the numbers of the first line and column
	uri                  bool // paths are file URIs
	types                bool // wants the types of variables
	memory               bool // knows memory references
	invalidated          bool // knows the invalidated event
	progress             bool // knows the progress events
}

var defaultClient = client{lineBase: 1, columnBase: 1}

// line and column convert our numbers, which start at 1, to the client's. An unknown line or column
// is sent as the first: the protocol has no other way to express it.
func (c *client) line(n int) int   { return max(n, 1) - 1 + c.lineBase }
func (c *client) column(n int) int { return max(n, 1) - 1 + c.columnBase }

// ourLine and ourColumn convert the client's numbers to ours.
func (c *client) ourLine(n int) int   { return n - c.lineBase + 1 }
func (c *client) ourColumn(n int) int { return n - c.columnBase + 1 }

// path converts a path for the client.
func (c *client) path(file string) string {
	if c.uri && filepath.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: file}).String()
	}
	return file
}

// ourPath converts the client's name of a file to a path. It accepts a URI even from a client that
// has not announced URIs.
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
