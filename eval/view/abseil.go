package view

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"dbg/eval"
	"dbg/symbols/types"
)

// Functions that the views of Abseil call.
func init() {
	for name, f := range map[string]viewFunction{
		"__btree":         btreeSlot,
		"__status_code":   statusCode,
		"__absl_duration": abslDuration,
		"__absl_time":     abslTime,
		"__cord":          cordText,
	} {
		functions[name] = f
	}
}

// statusCodes are the names of absl::StatusCode (status/status.h).
var statusCodes = []string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// statusCode is __status_code(n): the name of an error.
func statusCode(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__status_code", args, 1)
	if err != nil {
		return eval.Value{}, err
	}
	if n[0] >= 0 && n[0] < int64(len(statusCodes)) {
		return eval.Words("", statusCodes[n[0]]), nil
	}
	return eval.Words("", fmt.Sprintf("code %d", n[0])), nil
}

const quarters = 4_000_000_000 // of a nanosecond, in a second

// abslDuration is __absl_duration(seconds, quarters): a duration as Abseil writes it, such as 1h30m or 1.5s.
// The largest number of quarters means that it is infinite.
func abslDuration(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__absl_duration", args, 2)
	if err != nil {
		return eval.Value{}, err
	}
	text, err := durationWords(n[0], n[1])
	return eval.Words("", text), err
}

func durationWords(seconds, ticks int64) (string, error) {
	sign, whole := "", uint64(seconds)
	switch {
	case ticks == math.MaxUint32 && seconds >= 0:
		return "inf", nil
	case ticks == math.MaxUint32:
		return "-inf", nil
	case ticks < 0 || ticks >= quarters:
		return "", fmt.Errorf("%d quarters of a nanosecond", ticks)
	case seconds < 0:
		sign, whole = "-", -whole
		if ticks > 0 {
			whole, ticks = whole-1, quarters-ticks
		}
	}
	if whole == 0 && ticks == 0 {
		return "0", nil
	}
	ns := float64(ticks) / 4
	if whole == 0 {
		for _, u := range []struct {
			name string
			ns   float64
		}{{"ms", 1e6}, {"us", 1e3}, {"ns", 1}} {
			if ns >= u.ns || u.ns == 1 {
				return sign + shortest(ns/u.ns) + u.name, nil
			}
		}
	}
	text := sign
	if h := whole / 3600; h > 0 {
		text += fmt.Sprintf("%dh", h)
	}
	if m := whole / 60 % 60; m > 0 {
		text += fmt.Sprintf("%dm", m)
	}
	switch part := strings.TrimRight(fmt.Sprintf("%09d%02d", ticks/4, ticks%4*25), "0"); {
	case part != "":
		text += fmt.Sprintf("%d.%ss", whole%60, part)
	case whole%60 > 0:
		text += fmt.Sprintf("%ds", whole%60)
	}
	return text, nil
}

func shortest(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// abslTime is __absl_time(seconds, quarters): a time in UTC.
func abslTime(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__absl_time", args, 2)
	if err != nil {
		return eval.Value{}, err
	}
	text := ""
	switch {
	case n[1] == math.MaxUint32 && n[0] >= 0:
		text = "infinite-future"
	case n[1] == math.MaxUint32:
		text = "infinite-past"
	case n[1] < 0 || n[1] >= quarters:
		err = fmt.Errorf("%d quarters of a nanosecond", n[1])
	case n[0] < -62135596800 || n[0] > 253402300799:
		text = fmt.Sprintf("%d s after 1970", n[0])
	default:
		text = time.Unix(n[0], 0).UTC().Format(time.DateTime)
		if part := strings.TrimRight(fmt.Sprintf("%09d%02d", n[1]/4, n[1]%4*25), "0"); part != "" {
			text += "." + part
		}
	}
	return eval.Words("", text), err
}

// cordNamespace finds the release in the name of a class. Debian's have names of their own.
var cordNamespace = regexp.MustCompile(`^absl::(?:lts_(\d+)::|debian(\d+)::|head::)?Cord$`)

// The first releases whose kinds of nodes are those of cord.append, and Debian's name of the same.
const (
	oldestCord       = 20220623
	oldestDebianCord = 3
)

// knownCord reports whether the kinds of a Cord's nodes are known. The program's enumerators tell, if they are in
// the debug information, else the name of the release.
func knownCord(s *scope) bool {
	name := s.o.typ.Name
	flat, err := s.Env.Variable("::" + strings.TrimSuffix(name, "Cord") + "cord_internal::FLAT")
	if err == nil {
		n, err := eval.Number(flat, s)
		return err == nil && n == cordFlat
	}
	m := cordNamespace.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	lts, _ := strconv.Atoi(m[1])
	debian, _ := strconv.Atoi(m[2])
	return lts >= oldestCord || debian >= oldestDebianCord || lts == 0 && debian == 0
}

// cordText is __cord(p, tag): the text of a Cord, of which the first elements are shown. tag is where in its 16
// bytes the byte is that tells the length of a short text, twice.
func cordText(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__cord", args, 2)
	if err != nil {
		return eval.Value{}, err
	}
	if !knownCord(s) {
		return eval.Value{}, errors.New("the kinds of its nodes are not known")
	}
	var b [16]byte
	if err := readAll(addr(n[0]), b[:], s); err != nil {
		return eval.Value{}, err
	}
	if n[1] != 0 && n[1] != 15 {
		return eval.Value{}, errors.New("a Cord of another size")
	}
	tag, text, root := b[n[1]], b[:15], binary.LittleEndian.Uint64(b[:8])
	if n[1] == 0 {
		text, root = b[1:], binary.LittleEndian.Uint64(b[8:])
	}
	if tag&1 == 0 {
		if tag > 30 {
			return eval.Value{}, fmt.Errorf("a short text of %d characters", tag/2)
		}
		return charArray(text[:tag/2], int64(tag/2)), nil
	}
	c := cord{s: s, left: maxCordNodes}
	total, err := c.append(addr(root), 0, math.MaxInt64, 0)
	if err != nil {
		return eval.Value{}, err
	}
	return charArray(c.text, total), nil
}

// charArray is a text of n characters, of which the first ones are known.
func charArray(b []byte, n int64) eval.Value {
	char := types.New(types.Char, "char", 1, true, nil)
	if n > int64(len(b)) {
		return eval.Words("", strconv.Quote(string(b))+"...")
	}
	return eval.Value{Type: types.NewArray(char, int64(len(b))), Bytes: b}
}

// maxCordText limits the characters of a Cord that are read, and maxCordNodes its nodes.
const (
	maxCordText  = 1 << 12
	maxCordNodes = 1 << 10
)

// cord collects the text of a tree of nodes (strings/internal/cord_internal.h). A node has its length, a count of
// references, its kind and three bytes.
type cord struct {
	s    *scope
	text []byte
	left int
}

const (
	cordSubstring, cordCRC, cordBtree, cordExternal, cordFlat = 1, 2, 3, 5, 6
	cordEdges                                                 = 6 // of a node of a B-tree
)

// append appends the text of a node: most characters after the first skip ones. It returns the length.
func (c *cord) append(at addr, skip, most int64, depth int) (int64, error) {
	var h [64]byte
	if c.left--; c.left < 0 || depth > 20 {
		return 0, errors.New("a Cord with too many nodes")
	}
	if err := readAll(at, h[:32], c.s); err != nil {
		return 0, err
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(h[i:]) }
	length := int64(word(0))
	if length < 0 || length > 1<<47 {
		return 0, fmt.Errorf("a node of %d characters", length)
	}
	take := min(length, most)
	switch kind := h[12]; {
	case kind >= cordFlat:
		return take, c.read(at+13+addr(skip), take)
	case kind == cordExternal:
		return take, c.read(addr(word(16))+addr(skip), take)
	case kind == cordSubstring:
		return c.append(addr(word(24)), int64(word(16))+skip, take, depth+1)
	case kind == cordCRC:
		return c.append(addr(word(16)), skip, take, depth+1)
	case kind == cordBtree:
		begin, end := int(h[14]), int(h[15])
		if err := readAll(at, h[:16+8*cordEdges], c.s); err != nil {
			return 0, err
		}
		if skip != 0 || begin > end || end > cordEdges {
			return 0, errors.New("a damaged node of a Cord")
		}
		for ; begin < end && len(c.text) < maxCordText; begin++ {
			if _, err := c.append(addr(word(16+8*begin)), 0, math.MaxInt64, depth+1); err != nil {
				return 0, err
			}
		}
		return length, nil
	default:
		return 0, fmt.Errorf("a node of the kind %d", kind)
	}
}

func (c *cord) read(at addr, n int64) error {
	b := make([]byte, min(n, int64(maxCordText-len(c.text))))
	if err := readAll(at, b, c.s); err != nil {
		return err
	}
	c.text = append(c.text, b...)
	return nil
}
