package unwindcheck

import (
	"context"
	"fmt"
	"testing"

	"dbg/arch"
	"dbg/code"
	"dbg/frames"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/target"
)

// exidxScores are what is judged with .ARM.exidx as the only table.
type exidxScores struct {
	alone, calls, refined *guestScore // the table at every instruction, at calls, and with the code
	frames, wrong         int         // of whole stacks, and those that are wrong
	first                 string      // the first wrong one
}

// TestExidx steps ARM and Thumb programs. .ARM.exidx alone must name the caller at every call that it
// covers; refined by the code, at every instruction that it covers. Whole stacks must be right, too.
func TestExidx(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	most := 1000
	levels := []string{"-O2"}
	if fixture.All() {
		most, levels = 6_000, []string{"-O0", "-O1", "-O2", "-O3", "-Os"}
	}
	for _, m := range []string{"arm", "thumb"} {
		for _, level := range levels {
			t.Run(m+" "+level, func(t *testing.T) {
				t.Parallel()
				g := guests[m]
				fixture.Need(t, g.compiler, g.emulator)
				exe := fixture.Build(t, "check/plain.c", append([]string{"cc=" + g.compiler, level, "-static", "-funwind-tables"}, g.flags...)...)
				s := exidxCheck(t, g, exe, most)
				t.Logf("%d instructions covered; alone right at %.3f %%, at %d calls %.3f %%; refined: %s, by %v; %d frames of whole stacks, %d wrong",
					s.alone.judged, s.alone.share(), s.calls.judged, s.calls.share(), s.refined, s.refined.by, s.frames, s.wrong)
				if s.calls.right < s.calls.judged {
					t.Errorf("wrong at calls:%s", s.calls.worst())
				}
				if s.refined.right < s.refined.judged {
					t.Errorf("wrong though refined:%s", s.refined.worst())
				}
				if s.wrong > 0 {
					t.Errorf("%d of %d frames are wrong; the first is %s", s.wrong, s.frames, s.first)
				}
				if s.calls.judged < most/200 || s.alone.judged < most/4 || s.frames < most/2 {
					t.Errorf("too little was judged")
				}
			})
		}
	}
}

func (s *guestScore) share() float64 { return 100 * float64(s.right) / float64(max(s.judged, 1)) }

// exidxCheck steps a program from main on and judges the instructions that the table covers.
func exidxCheck(t *testing.T, g guest, exe string, most int) *exidxScores {
	r := startGuest(t, g, exe)
	c := frames.ModuleOf(r.file, nil).Contents()
	if len(c.ExIdx.Data) == 0 {
		t.Fatal("the program has no .ARM.exidx")
	}
	c.EHFrame, c.EHFrameHdr, c.DebugFrame = frames.Section{}, frames.Section{}, frames.Section{}
	m := frames.NewModule(c)
	alone, refined, all := frames.New(g.arch, guestSpace{r, m}), frames.New(g.arch, guestSpace{r, m}), frames.New(g.arch, guestSpace{r, m})
	alone.Use = frames.SetOf(frames.EHABI)
	refined.Use = frames.SetOf(frames.EHABI, frames.Prologue)
	score := func() *guestScore {
		return &guestScore{by: map[frames.Strategy]int{}, wrong: map[string]int{}, searched: map[string]int{}}
	}
	s := &exidxScores{alone: score(), calls: score(), refined: score()}
	var at row.Row
	n := 0
	r.each(most, func() {
		if n++; n%5 == 0 {
			r.stackIsRight(all, s)
		}
		if _, err := m.Origin(g.arch, r.reg(g.arch.PC), &at); err != nil {
			return
		}
		r.compare(alone, s.alone, r.name)
		r.compare(refined, s.refined, r.name)
		if r.atCall() {
			r.compare(alone, s.calls, r.name)
		}
	})
	return s
}

// atCall reports whether the instruction to be executed is a call.
func (r *guestRun) atCall() bool {
	var b [4]byte
	n, _ := r.ReadMemory(target.Addr(r.reg(r.g.arch.PC)), b[:])
	in := code.Decode(r.g.arch, b[:n])
	if r.thumb {
		in = code.DecodeThumb(b[:n])
	}
	return in.Next == code.Call || in.Next == code.CallFar
}

// stackIsRight judges every frame up to main's caller.
func (r *guestRun) stackIsRight(u *frames.Unwinder, s *exidxScores) {
	have := 0
	for f := range u.Walk(&r.regs).Frames(context.Background()) {
		if have = f.Index; have == 0 {
			continue
		}
		top := &r.calls[len(r.calls)-have]
		s.frames++
		sp, known := f.Regs.SP()
		bad := uint64(f.PC) != top.ra || !known || sp != top.cfa
		for i, reg := range r.preserved() {
			v, known := f.Regs.Get(reg)
			bad = bad || known && v != top.saved[i]
		}
		if bad {
			s.wrong++
			if s.first == "" {
				s.first = fmt.Sprintf("frame %d by %s, in %s", have, f.Strategy, r.name(r.reg(arch.ARM.PC)))
			}
		}
		if have == len(r.calls) || bad {
			return
		}
	}
	if have < len(r.calls) {
		s.frames++
		s.wrong++
		if s.first == "" {
			s.first = fmt.Sprintf("no frame %d, in %s", have+1, r.name(r.reg(arch.ARM.PC)))
		}
	}
}
