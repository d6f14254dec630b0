package session_test

import (
	"regexp"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/session"
)

// why returns the value and the reasons for a variable or an expression, without addresses.
func (c *caller) why(expr string) string {
	c.t.Helper()
	w, err := c.WhyValue(c.thread, 1, expr)
	if err != nil {
		return err.Error()
	}
	lines := append([]string{w.Value}, w.Reasons...)
	for _, v := range w.Variables {
		if v.Name != expr {
			lines = append(lines, v.Name+" = "+v.Value)
		}
		lines = append(lines, v.Reasons...)
	}
	return hexNumber.ReplaceAllString(strings.Join(lines, "\n"), "0x")
}

// TestWhyByHand explains variables whose locations are written by hand.
func TestWhyByHand(t *testing.T) {
	c := stoppedIn(t, "types/why.s")
	for _, x := range []struct{ expr, want string }{
		{"gap", `<optimized out>
The 2 entries of its location list do not cover the PC 0x (outer+7).
The nearest entry before ends at 0x (outer+3): up to there it is in register rdi.
It is known from 0x (outer+8) on: in register rbx.`},
		{"empty", `<optimized out>
The location list has an empty location for this PC: the compiler knows that there is no value.
The nearest entry before ends at 0x (outer+3): up to there it is in register rdi.`},
		{"usual", `42
No entry of its location list covers this PC, so the default location applies: it is in register rbx.`},
		{"lost", `<not saved>
In the whole scope it is in register rax.
Register rax is lost: frame 1 (outer) called stop, which is free to change it, and no rule of an unwind table tells where its old value is.`},
		{"saved", "42\nIn the whole scope it is in register rbx."},
		{"passed", `<optimized out>
In the whole scope it is computed (entry_value (reg5 (rdi)); stack_value).
This needs what register rdi held when outer was entered, which only the caller can tell.
The call in main, which returns to 0x (main+14), has no entry in the debug information.`},
		{"nowhere", `<error: Cannot access memory at address 0x>
In the whole scope it is in memory (const1u 16).
The memory at 0x can't be read: the first page of the address space is never mapped, so a pointer is null or nearly so.`},
		{"removed", `<optimized out>
The debug information has no location for it: the compiler has removed it, or keeps it nowhere as a whole.`},
		{"$rax", `<not saved>
Register rax is lost: frame 1 (outer) called stop, which is free to change it, and no rule of an unwind table tells where its old value is.`},
		{"nosuch", `No symbol "nosuch" in current context.`},
	} {
		if got := c.why(x.expr); got != x.want {
			t.Errorf("info why %s\n is\n%s\n want\n%s", x.expr, got, x.want)
		}
	}
	if got := c.why("broken"); !strings.Contains(got, "The location list can't be read: ") {
		t.Errorf("info why broken\n%s", got)
	}
	w, err := c.WhyValue(c.thread, 1, "lost")
	c.must(err)
	if v := w.Variables[0]; v.State != "not saved" || v.Register != "rax" || v.LostIn != "stop" {
		t.Errorf("lost is %+v", v)
	}
}

// whyCause matches the sentences that tell why a variable has no value.
var whyCause = regexp.MustCompile(`do(es)? not cover the PC|empty location|is lost: frame|which only the caller can tell|has no location for it|` +
	`can't be read|the compiler has removed it|Some of its pieces have no value|gives no value`)

// TestWhyOptimized explains all variables of optimised programs: one that has no value has a cause, and
// the nearest PCs at which it is known are in the location list.
func TestWhyOptimized(t *testing.T) {
	for _, flags := range [][]string{{"-g", "-O2"}, {"cc=clang-19", "-g", "-O2"}, {"-g", "-O1", "-gdwarf-4"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			c := stoppedIn(t, "types/why.c", flags...)
			causes := 0
			for range 4 {
				for level := range 3 {
					vars, err := c.Variables(c.thread, level, session.ScopeVariables)
					c.must(err)
					for _, v := range vars {
						causes += checkWhy(t, c, level, v.Name)
					}
				}
				c.must(c.Continue(0))
				c.thread = until[session.Stopped](t, c.events).Thread
			}
			if causes < 4 {
				t.Errorf("only %d variables had no value", causes)
			}
		})
	}
}

func checkWhy(t *testing.T, c *caller, level int, name string) (causes int) {
	t.Helper()
	w, err := c.WhyValue(c.thread, level, name)
	c.must(err)
	v := w.Variables[0]
	text := strings.Join(v.Reasons, "\n")
	if known := v.State == "known"; known == whyCause.MatchString(text) {
		t.Errorf("frame %d: %s is %s (%s), and the reasons are\n%s", level, name, v.Value, v.State, text)
	} else if !known {
		causes++
	}
	for _, p := range []*session.PlaceWhy{v.Before, v.After} {
		if p != nil && p.Lo <= v.PC && v.PC < p.Hi {
			t.Errorf("%s: %+v is not beside the PC %s", name, *p, v.PC)
		}
	}
	if (v.Before != nil && v.Before.Hi > v.PC) || (v.After != nil && v.After.Lo <= v.PC) {
		t.Errorf("%s: before %+v, after %+v, PC %s", name, v.Before, v.After, v.PC)
	}
	return causes
}

// TestWhyPointer explains a pointer that the compiler has removed, whose target is known.
func TestWhyPointer(t *testing.T) {
	c := stoppedIn(t, "types/why.c", "-g", "-O2")
	for range 2 {
		c.must(c.Continue(0))
		c.thread = until[session.Stopped](t, c.events).Thread
	}
	want := []string{"<synthetic pointer>", "The pointer itself has no value", "*pp is {a = 1, b = 7}."}
	got := c.why("pp")
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("info why pp has no %q:\n%s", w, got)
		}
	}
	v, err := c.Evaluate(c.thread, 1, "*pp")
	c.must(err)
	if got := c.Format(v, eval.DefaultOptions()); got != "{a = 1, b = 7}" {
		t.Errorf("*pp is %s", got)
	}
}
