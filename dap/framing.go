package dap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Limits for one message.
const (
	maxMessage = 64 << 20 // bytes of content
	maxHeader  = 8 << 10  // bytes of header fields and everything else before the content
)

// framingError means that the stream is malformed, so the start of the next message is unknown.
type framingError struct{ why string }

func (e *framingError) Error() string { return "not a message of the Debug Adapter Protocol: " + e.why }

// readMessage reads the content of the next message. The error is io.EOF if the stream ends between
// two messages, io.ErrUnexpectedEOF if it ends in a message, and a *framingError if there is no
// valid length.
//
// Header fields are as in HTTP (Base protocol of the specification). Unknown fields are skipped,
// and so are empty lines before the first one. A line may end without a carriage return: some
// clients are written by hand.
func readMessage(r *bufio.Reader, limit int) ([]byte, error) {
	length, err := readHeader(r, limit)
	if err != nil {
		return nil, err
	}
	// The length may be wrong, so memory is allocated as bytes arrive.
	buf := make([]byte, 0, min(length, 64<<10))
	for len(buf) < length {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(len(buf), length-len(buf)))
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), length)])
		buf = buf[:len(buf)+n]
		if err != nil && len(buf) < length {
			return nil, midMessage(err)
		}
	}
	return buf, nil
}

// readHeader reads the header and returns the content length.
func readHeader(r *bufio.Reader, limit int) (int, error) {
	length, budget, fields := -1, maxHeader, 0
	for {
		line, err := readLine(r, &budget)
		if err != nil {
			if fields == 0 && strings.TrimSpace(line) == "" && errors.Is(err, io.EOF) {
				return 0, io.EOF
			}
			return 0, midMessage(err)
		}
		if line == "" {
			if fields == 0 {
				continue
			}
			break
		}
		fields++
		name, value, ok := strings.Cut(line, ":")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		value = strings.TrimSpace(value)
		n, err := strconv.ParseUint(value, 10, 64)
		switch {
		case err != nil && !errors.Is(err, strconv.ErrRange):
			return 0, &framingError{fmt.Sprintf("the length %q is not a number of bytes", cut(value))}
		case err != nil || n > uint64(limit):
			return 0, &framingError{fmt.Sprintf("the length is %s bytes, but at most %d are accepted", cut(value), limit)}
		case length >= 0 && length != int(n):
			return 0, &framingError{"the header has two different lengths"}
		}
		length = int(n)
	}
	if length < 0 {
		return 0, &framingError{"the header has no Content-Length"}
	}
	return length, nil
}

// readLine reads up to a newline, which it removes. budget is the number of bytes that may still
// follow.
func readLine(r *bufio.Reader, budget *int) (string, error) {
	var line []byte
	for {
		c, err := r.ReadByte()
		if err != nil {
			return string(line), err
		}
		if *budget--; *budget < 0 {
			return "", &framingError{"the header is too long"}
		}
		if c == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, c)
	}
}

// midMessage returns the error for a stream that ends inside a message.
func midMessage(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the stream ended inside a message: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// cut shortens external text for an error message.
func cut(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
