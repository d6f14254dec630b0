package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"dbg/eval"
	"dbg/symbols/types"
)

// units has the suffixes of durations by their period in seconds, as std::format writes them (C++20
// [time.duration.io]).
var units = map[[2]int64]string{
	{1, 1e18}: "as", {1, 1e15}: "fs", {1, 1e12}: "ps", {1, 1e9}: "ns", {1, 1e6}: "us", {1, 1000}: "ms",
	{1, 100}: "cs", {1, 10}: "ds", {1, 1}: "s", {10, 1}: "das", {100, 1}: "hs", {1000, 1}: "ks", {1e6, 1}: "Ms",
	{1e9, 1}: "Gs", {1e12, 1}: "Ts", {1e15, 1}: "Ps", {1e18, 1}: "Es", {60, 1}: "min", {3600, 1}: "h", {86400, 1}: "d",
}

// period returns the std::ratio of a duration: its template arguments are Rep and the ratio.
func period(t *types.Type) (num, den int64, ok bool) {
	args := t.Strip().TemplateArgs()
	if len(args) != 2 || args[1].Type == nil {
		return 0, 0, false
	}
	r := args[1].Type.Strip().TemplateArgs()
	switch {
	case len(r) == 0 || !r[0].Const || r[0].Value <= 0:
		return 0, 0, false
	case len(r) == 1: // the compiler may leave out the default
		return r[0].Value, 1, true
	case !r[1].Const || r[1].Value <= 0:
		return 0, 0, false
	}
	return r[0].Value, r[1].Value, true
}

// durationText returns the text of a duration: 5s.
func durationText(v eval.Value, env *inner) (text string, count eval.Value, err error) {
	count, ok := firstPath(v, env, "__r", "__rep_")
	num, den, ok2 := period(v.Type)
	if !ok || !ok2 {
		return "", count, fmt.Errorf("%s is not a duration", v.Type)
	}
	if count = eval.Fetch(count, env); count.Bytes == nil {
		return "", count, count.Err
	}
	unit := units[[2]int64{num, den}]
	switch {
	case unit != "":
	case den == 1:
		unit = fmt.Sprintf("[%d]s", num)
	default:
		unit = fmt.Sprintf("[%d/%d]s", num, den)
	}
	return eval.Format(count, env, eval.Options{Inner: true}) + unit, count, nil
}

func newDuration(v eval.Value, env *inner) eval.View {
	f := &fixed{name: "std::chrono::duration"}
	text, count, err := durationText(v, env)
	if f.err = err; err == nil {
		f.summary = "std::chrono::duration = { " + text + " }"
		f.method = func(name string, args []eval.Value) (eval.Value, bool, error) {
			return count, name == "count" && len(args) == 0, nil
		}
	}
	return f
}

// newTimePoint shows a time. That of the system's clock is also shown as a date in UTC.
func newTimePoint(v eval.Value, env *inner) eval.View {
	d, ok := firstPath(v, env, "__d", "__d_")
	args := v.Type.Strip().TemplateArgs()
	if !ok || len(args) == 0 || args[0].Type == nil {
		return nil
	}
	f := &fixed{name: "std::chrono::time_point"}
	text, count, err := durationText(d, env)
	if f.err = err; err != nil {
		return f
	}
	name := args[0].Type.Strip().Name
	switch name = name[strings.LastIndex(name, ":")+1:]; name {
	case "system_clock":
		name = "sys_time"
		if date := date(count, d.Type, env); date != "" {
			text += " [" + date + "]"
		}
	case "local_t":
		name = "local_time"
		if date := date(count, d.Type, env); date != "" {
			text += " [" + date + "]"
		}
	case "file_clock", "__file_clock", "_FilesystemClock":
		name = "file_time"
	case "steady_clock":
		name += " time_point"
	}
	f.summary = "std::chrono::" + name + " = { " + text + " }"
	return f
}

// date returns the date of a whole number of periods since 1970, or "" if it is beyond the years that
// have four digits.
func date(count eval.Value, d *types.Type, env eval.Env) string {
	if k := count.Type.Strip().Kind; k != types.Int && k != types.Uint {
		return ""
	}
	n, err := eval.Number(count, env)
	num, den, ok := period(d)
	if err != nil || !ok {
		return ""
	}
	const most = 253402300799 // the end of 9999
	seconds, part := n/den, n%den
	if part < 0 {
		seconds, part = seconds-1, part+den
	}
	if num > 1 && (seconds > most/num || seconds < -most/num) || seconds*num > most || seconds*num < -62135596800 {
		return ""
	}
	text := time.Unix(seconds*num, 0).UTC().Format(time.DateTime)
	if digits := len(strconv.FormatInt(den, 10)) - 1; den > 1 && num == 1 && den == pow10(digits) {
		text += fmt.Sprintf(".%0*d", digits, part)
	}
	return text
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}
