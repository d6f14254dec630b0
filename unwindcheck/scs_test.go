package unwindcheck

import (
	"context"
	"fmt"
	"testing"

	"dbg/frames"
	"dbg/internal/fixture"
)

// TestShadowCallStack steps a program that clang has given a shadow call stack, and holds all frames of each walk against its calls. Its
// tables are taken away, and with them, in the second round, all that reads its code and its frame pointers.
func TestShadowCallStack(t *testing.T) {
	t.Parallel()
	g := guests["arm64"]
	most, levels := 1500, []string{"-O2"}
	if fixture.All() {
		most, levels = 100_000, []string{"-O0", "-O1", "-O2", "-Os"}
	}
	fixture.Need(t, "clang-19", "ld.lld-19", g.emulator)
	for _, level := range levels {
		for _, fp := range []string{"-fomit-frame-pointer", "-fno-omit-frame-pointer"} {
			t.Run(level+fp, func(t *testing.T) {
				t.Parallel()
				exe := fixture.Build(t, "check/scs.c", "cc=clang-19", "--target=aarch64-linux-gnu", "-fsanitize=shadow-call-stack", "-ffixed-x18",
					level, fp, "-ffreestanding", "-fno-builtin", "-nostdlib", "-static", "-fuse-ld=lld-19", "-Wno-unused-command-line-argument")
				r := startGuest(t, g, exe)
				space := guestSpace{r, r.module(false)}
				rounds := []*scsRound{
					{name: "all strategies", u: frames.New(g.arch, space)},
					{name: "the shadow call stack alone", u: frames.New(g.arch, space)},
				}
				rounds[1].u.Use = frames.SetOf(frames.SCS)
				at := 0
				r.each(most, func() {
					at++
					for _, round := range rounds {
						round.judge(r)
					}
				})
				for _, round := range rounds {
					t.Logf("%s, %d instructions: %d callers right, by %v, %d walks end before main's caller%s", round.name, at, round.right, round.by,
						round.short, (&guestScore{wrong: round.wrong}).worst())
					if len(round.wrong) > 0 || round.right < at {
						t.Errorf("%s: %d callers are right at %d instructions, and those are wrong: %v", round.name, round.right, at, round.wrong)
					}
				}
				if n := rounds[1].by[frames.SCS]; n < at {
					t.Errorf("at %d instructions the shadow call stack has given %d callers", at, n)
				}
			})
		}
	}
}

// scsRound is what one Unwinder has said.
type scsRound struct {
	name         string
	u            *frames.Unwinder
	right, short int
	by           map[frames.Strategy]int
	wrong        map[string]int
}

// judge holds a walk against the calls that have not returned. A walk may end before the last.
func (s *scsRound) judge(r *guestRun) {
	if s.by == nil {
		s.by, s.wrong = map[frames.Strategy]int{}, map[string]int{}
	}
	n := 0
	for f := range s.u.Walk(&r.regs).Frames(context.Background()) {
		if n++; n == 1 {
			continue
		}
		if n-1 > len(r.calls) {
			break // beyond main
		}
		call := r.calls[len(r.calls)-n+1]
		s.by[f.Strategy]++
		sp, known := f.Regs.SP()
		switch {
		case uint64(f.PC) != call.ra:
			s.wrong[fmt.Sprintf("%s: frame %d is %s by %s, not %s", r.name(r.reg(r.g.arch.PC)), n-1, r.name(uint64(f.PC)), f.Strategy, r.name(call.ra))]++
			return
		case known && sp != call.cfa:
			s.wrong[fmt.Sprintf("%s: SP of frame %d by %s", r.name(r.reg(r.g.arch.PC)), n-1, f.Strategy)]++
			return
		}
		for i, reg := range r.preserved() {
			if v, known := f.Regs.Get(reg); known && v != call.saved[i] {
				s.wrong[fmt.Sprintf("%s: %s of frame %d by %s", r.name(r.reg(r.g.arch.PC)), r.g.arch.RegName(reg), n-1, f.Strategy)]++
				return
			}
		}
		s.right++
	}
	if n <= len(r.calls) {
		s.short++
	}
}
