package session_test

import (
	"path/filepath"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/session"
	"dbg/target"
)

// coreOf writes a core of a stopped process and opens it.
func coreOf(t *testing.T, live *caller) *caller {
	t.Helper()
	file := filepath.Join(t.TempDir(), "core")
	if _, err := live.GenerateCore(file, session.CoreOptions{}); err != nil {
		t.Fatal(err)
	}
	s, events := newSession(t)
	core := &caller{s, t, events, 0}
	ti, _ := live.Target()
	core.must(s.OpenCore(file, ti.Exe))
	core.thread, _ = s.Selected()
	return core
}

// TestVectorRegisters loads known values into registers of AVX-512 and the x87, and reads them in a process
// and in its core.
func TestVectorRegisters(t *testing.T) {
	if v := newCaller(t).value("$zmm0"); strings.Contains(v, "AVX-512") {
		t.Skipf("$zmm0: %s", v)
	}
	live := stopIn(t, "expr/vector.c", "-g", "-O0")
	for name, c := range map[string]*caller{"process": live, "core": coreOf(t, live)} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			for _, x := range [][2]string{
				{"$zmm1.v16_float[0]", "0.5"}, {"$zmm1.v16_float[3]", "3.5"}, {"$zmm1.v16_float[7]", "7.5"}, {"$zmm1.v16_float[15]", "15.5"},
				{"$zmm17.v16_float[0]", "0.5"}, {"$zmm17.v16_float[15]", "15.5"}, {"$ymm17.v8_float[7]", "7.5"}, {"$xmm17.v4_float[3]", "3.5"},
				{"$ymm1.v8_float[1] + 1", "2.5"}, {"$xmm1.v4_float[2]", "2.5"}, {"$zmm1.v8_int64[7] == $zmm17.v8_int64[7]", "1"},
				{"$k1 == 0xa5a5000012345678", "1"}, {"$k7", "11935946387720787576"}, {"sizeof($zmm1)", "64"}, {"sizeof($k1)", "8"},
				{"$st0", "1"}, {"$st1", "3.14159265358979323851"}, {"$ftag", "4095"}, {"$fctrl", "895"}, {"$mxcsr & 0x1f80", "8064"},
				{"$mxcsr", "[ IM DM ZM OM UM PM ]"}, {"$zmm32", "void"}, {"$k8", "void"}, {"$st0 + $st1 > 4.14L", "1"},
				{"$mxcsr = 0", "$mxcsr can't be assigned."}, {"$zmm1 = 0", "$zmm1 can't be assigned."},
				{"$rsp == $sp", "1"}, {"(char)$al == (char)$eax", "1"}, {"$ax == ($eax & 0xffff) || $ax < 0", "1"}, {"sizeof($eax)", "4"}, {"sizeof($al)", "1"},
			} {
				c.expect(x[0], x[1])
			}
			v, err := c.Evaluate(c.thread, 1, "$k1")
			if err == nil {
				t.Errorf("$k1 of a caller is %s", c.Format(v, eval.DefaultOptions()))
			}
		})
	}
}

// TestEntryExpression reads x@entry in an optimised function that has changed its parameters.
func TestEntryExpression(t *testing.T) {
	live := stopIn(t, "expr/entry.c", "-g", "-O2")
	for name, c := range map[string]*caller{"process": live, "core": coreOf(t, live)} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			for _, x := range [][2]string{
				{"a@entry", "7"}, {"a@entry + 1", "8"}, {"a@entry * a@entry", "49"}, {"sizeof(a@entry)", "4"},
				{"a@entry = 1", "Left operand of assignment is not an lvalue."},
				{"local@entry", "local is not a parameter, so it has no value at entry"},
				{"nope@entry", `No symbol "nope" in current context.`},
				{"c@entry", "3"}, {"b@entry", "the value of b at entry is not known: the caller's call site does not describe the argument"},
			} {
				c.expect(x[0], x[1])
			}
		})
	}
}

// TestConvenienceFunctions asks for callers, settings and parts of numbers.
func TestConvenienceFunctions(t *testing.T) {
	c := stopIn(t, "expr/entry.c", "-g", "-O2")
	for _, x := range [][2]string{
		{`$_caller_is("outer")`, "true"}, {`$_caller_is("main")`, "false"}, {`$_caller_is("main", 2)`, "true"}, {`$_caller_is("inner", 0)`, "true"},
		{`$_any_caller_is("main", 2)`, "true"}, {`$_any_caller_is("main")`, "false"}, {`$_any_caller_is("inner")`, "true"},
		{`$_caller_matches("out")`, "true"}, {`$_caller_matches("ter")`, "false"}, {`$_any_caller_matches("ma.n$", 5)`, "true"},
		{`$_any_caller_matches("(")`, "error parsing regexp: missing closing ): `^(?:()`"},
		{`$_caller_is("main", 100)`, "false"}, {"$_exitsignal", "void"}, {"$_isvoid($_exitsignal)", "1"}, {"$_as_string(5)", `"5"`},
		{`$_gdb_setting("print elements")`, "First argument of $_gdb_setting must be a valid setting of the 'show' command: print elements"},
	} {
		c.expect(x[0], x[1])
	}
	if _, _, err := c.Examine(mustAddress(t, c, "&source"), 'd', 'w', 1); err != nil {
		t.Fatal(err)
	}
	for _, x := range [][2]string{{"*(int *)$_", "40"}, {"$__", "40"}, {"$__ + 2", "42"}} {
		c.expect(x[0], x[1])
	}
	c.SetSettings(func(name string) (string, bool) {
		return map[string]string{"print elements": "200", "print pretty": "on", "print depth": "unlimited"}[name], true
	})
	for _, x := range [][2]string{{`$_gdb_setting("print elements")`, "200"}, {`$_gdb_setting("print pretty")`, "1"},
		{`$_gdb_setting_str("print pretty")`, `"on"`}, {`$_gdb_setting("print depth")`, "0"}} {
		c.expect(x[0], x[1])
	}
}

func mustAddress(t *testing.T, c *caller, text string) target.Addr {
	t.Helper()
	a, err := c.ParseAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
