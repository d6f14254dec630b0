package view

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"dbg/eval"
)

const nanosPerSecond = 1_000_000_000

// seconds reads two members: seconds, and nanoseconds below one second.
func (r *rust) seconds(v eval.Value, secs, nanos string) (s, n int64, err error) {
	s, ok1 := digNumber(v, r.env, secs)
	n, ok2 := digNumber(v, r.env, nanos)
	switch {
	case !ok1 || !ok2:
		return 0, 0, errors.New("it can't be read")
	case n < 0 || n >= nanosPerSecond:
		return 0, 0, fmt.Errorf("%d nanoseconds", n)
	}
	return s, n, nil
}

// rustDuration shows a Duration as Rust does: 1.5s, 20ms, 3µs, 5ns.
func rustDuration(r *rust) bool {
	secs, ok := dig(r.v, r.env, "secs")
	nanos, ok2 := dig(r.v, r.env, "nanos")
	if !ok || !ok2 {
		return false
	}
	if n, ok := scalarPart(nanos, r.env, 0); ok {
		nanos = n
	}
	var text string
	var whole, part int64
	r.show(eval.SummaryOnly, called(secs, "secs"), called(nanos, "nanos"))
	r.check = func() (err error) {
		whole, part, err = r.seconds(r.v, "secs", "nanos")
		text = rustDurationText(uint64(whole), part)
		return err
	}
	r.says(func() string { return text })
	r.method("as_secs", func() (eval.Value, error) { return eval.FromInt(whole), nil })
	r.method("subsec_nanos", func() (eval.Value, error) { return eval.FromInt(part), nil })
	r.method("as_millis", func() (eval.Value, error) { return eval.FromInt(whole*1000 + part/1_000_000), nil })
	return true
}

func rustDurationText(secs uint64, nanos int64) string {
	decimals := func(whole uint64, part int64, digits int, unit string) string {
		text := fmt.Sprintf("%d.%0*d", whole, digits, part)
		return strings.TrimRight(strings.TrimRight(text, "0"), ".") + unit
	}
	switch {
	case secs > 0:
		return decimals(secs, nanos, 9, "s")
	case nanos >= 1_000_000:
		return decimals(uint64(nanos/1_000_000), nanos%1_000_000, 6, "ms")
	case nanos >= 1000:
		return decimals(uint64(nanos/1000), nanos%1000, 3, "µs")
	}
	return fmt.Sprintf("%dns", nanos)
}

// timespec finds {tv_sec, tv_nsec} in an Instant or a SystemTime.
func (r *rust) timespec() (eval.Value, bool) {
	v := r.v
	for range 4 {
		if _, ok := dig(v, r.env, "tv_sec"); ok {
			return v, true
		}
		m, ok := dig(v, r.env, "0|t")
		if !ok {
			return v, false
		}
		v = m
	}
	return v, false
}

// clock completes the view of an Instant or a SystemTime.
func (r *rust) clock(words func(secs, nanos int64) string) bool {
	v, ok := r.timespec()
	if !ok {
		return false
	}
	var s, n int64
	r.show(eval.SummaryOnly)
	r.check = func() (err error) {
		s, n, err = r.seconds(v, "tv_sec", "tv_nsec")
		r.show(eval.SummaryOnly, called(eval.FromInt(s), "tv_sec"), called(eval.FromInt(n), "tv_nsec"))
		return err
	}
	r.says(func() string { return words(s, n) })
	return true
}

// rustInstant shows an Instant: seconds of the monotonic clock.
func rustInstant(r *rust) bool {
	return r.clock(func(s, n int64) string { return fmt.Sprintf("Instant {tv_sec: %d, tv_nsec: %d}", s, n) })
}

// rustSystemTime shows a SystemTime as a date.
func rustSystemTime(r *rust) bool {
	return r.clock(func(s, n int64) string {
		const farthest = 1 << 38 // seconds: years have four digits
		if s < -farthest/5 || s > farthest {
			return fmt.Sprintf("SystemTime {tv_sec: %d, tv_nsec: %d}", s, n)
		}
		return time.Unix(s, n).UTC().Format(time.RFC3339Nano)
	})
}
