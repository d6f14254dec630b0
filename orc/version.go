package orc

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
)

// Version is a version of the format; see the package's comment.
type Version uint8

const (
	Unknown Version = iota
	V1              // Linux 4.14
	V2              // Linux 6.3
	V3              // Linux 6.4
	V4              // Linux 7
)

func (v Version) String() string {
	return [...]string{"unknown", "1 (Linux 4.14 to 6.2)", "2 (Linux 6.3)", "3 (from Linux 6.4)", "4 (Linux 7)"}[v]
}

// headers lists the contents of .orc_header: the SHA-1 sum of the definitions of an entry, by the kernel's
// scripts/orc_hash.sh.
var headers = [...]struct {
	hash string
	v    Version
}{
	{"db84aed4103b31dd51e017f8f79783ca985c2c51", V2},
	{"fe5d32bf581bd63b2ca9a5c65ba5a625eab3fe24", V3},
	{"137c36ad7627c4dd55932176bb0ecdbd5041fc82", V4},
}

// VersionOfHeader returns the version that a section .orc_header identifies, or Unknown.
func VersionOfHeader(header []byte) Version {
	for i := range headers {
		if hash, err := hex.DecodeString(headers[i].hash); err == nil && bytes.Equal(hash, header) {
			return headers[i].v
		}
	}
	return Unknown
}

// VersionOfRelease returns the version that a kernel of a release ("6.1.0-56-amd64") writes if it has no
// .orc_header, or Unknown.
func VersionOfRelease(release string) Version {
	switch r := parseRelease(release); {
	case r == 0, r < kernel(4, 14):
		return Unknown
	case r < kernel(6, 3):
		return V1
	case r < kernel(6, 4):
		return V2
	case r < kernel(6, 5):
		return V3
	}
	return Unknown // all of these have the header
}

// kernel makes a number of a release that can be compared.
func kernel(major, minor int) int { return major<<16 | minor }

// parseRelease returns the first two numbers of a release as kernel does, or 0.
func parseRelease(release string) int {
	first, rest, ok := strings.Cut(release, ".")
	if !ok {
		return 0
	}
	end := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		end = len(rest)
	}
	major, err := strconv.ParseUint(first, 10, 8)
	minor, err2 := strconv.ParseUint(rest[:end], 10, 16)
	if err != nil || err2 != nil {
		return 0
	}
	return kernel(int(major), int(minor))
}

// VersionOfEntries returns the version that the contents of .orc_unwind are consistent with, or Unknown if there
// are several. The second result lists them all.
//
// Where nothing but calls and gaps is in the table, versions 1 and 2 mean the same: it is 1 then.
func VersionOfEntries(unwind []byte) (Version, []Version) {
	var possible []Version
	plain := true
	for v := V1; v <= V4; v++ {
		consistent, onlyCalls := isConsistent(v, unwind)
		if consistent {
			possible, plain = append(possible, v), plain && onlyCalls
		}
	}
	if len(possible) == 1 || len(possible) == 2 && possible[1] == V2 && plain {
		return possible[0], possible
	}
	return Unknown, possible
}

// isConsistent reports whether all entries are as objtool writes them in a version: those that describe nothing
// are empty; calls are frequent, and their type's number is that of interrupted code in older versions; a stack
// pointer that is computed from RSP is more frequent than one from RDI, whose number is RSP's in version 4. onlyCalls is
// set if there is no interrupted code and no end of the stack.
func isConsistent(v Version, unwind []byte) (ok, onlyCalls bool) {
	bySP, byDI, calls, partial := 0, 0, 0, 0
	onlyCalls = true
	var e Entry
	for ; len(unwind) >= entrySize; unwind = unwind[entrySize:] {
		e.decode(v, unwind)
		switch {
		case e.check() != nil, v <= V2 && e.End && e.Type != EndOfStack:
			return false, false
		case e.Type <= EndOfStack && (e.SP != Undefined || e.BP != Undefined || e.SPOffset|e.BPOffset != 0):
			return false, false
		case e.Type == Gap && unwind[5] != 0:
			return false, false
		case e.SP == SP:
			bySP++
		case e.SP == DI:
			byDI++
		}
		switch e.Type {
		case Call:
			calls++
		case RegsPartial:
			partial++
		}
		onlyCalls = onlyCalls && (e.Type == Call || e.Type == Gap)
	}
	return bySP >= byDI && 2*calls >= partial, onlyCalls
}
