package unwindcheck

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/code"
	"dbg/frames"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/target"
)

// exidxScores are what is judged with .ARM.exidx as the only table.
type exidxScores struct {
	alone, calls, refined *guestScore // the table at every instruction, at calls, and with the code
	stripped              *guestScore // refined without symbols
	thrown                int         // calls that exceptions have ended
	frames, wrong         int         // of whole stacks, and those that are wrong
	first                 string      // the first wrong one
}

// TestExidx steps ARM and Thumb programs. .ARM.exidx alone must name the caller at every call that it
// covers; refined by the code, at every instruction that it covers. Whole stacks must be right, too.
func TestExidx(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	levels, sources, compilers := []string{"-O2"}, []string{"unwind/armcalls.c"}, []string{"gcc"}
	if fixture.All() {
		levels, sources = []string{"-O0", "-O1", "-O2", "-O3", "-Os"}, append(sources, "check/plain.c")
		compilers = append(compilers, "clang-19")
	}
	var builds [][4]string // machine, source, compiler, level
	for _, m := range []string{"arm", "thumb"} {
		for _, source := range sources {
			for _, compiler := range compilers {
				for _, level := range levels {
					builds = append(builds, [4]string{m, source, compiler, level})
				}
			}
		}
	}
	for _, b := range builds {
		t.Run(strings.Join(b[:], " "), func(t *testing.T) {
			t.Parallel()
			g := guests[b[0]]
			fixture.Need(t, g.compiler, g.emulator)
			most := 2500
			flags := append([]string{"cc=" + g.compiler, b[3], "-static", "-funwind-tables"}, g.flags...)
			if b[2] == "clang-19" {
				fixture.Need(t, b[2], "ld.lld-19")
				flags = append(flags, "--target=arm-linux-gnueabihf", "-fuse-ld=lld-19")
				flags[0] = "cc=" + b[2]
			}
			exe := fixture.Build(t, b[1], flags...)
			s := exidxCheck(t, g, exe, most, 1)
			s.judge(t)
			if s.calls.judged < 50 || s.alone.judged < 700 || s.frames < 450 {
				t.Errorf("too little was judged")
			}
		})
	}
}

// TestExidxThrows steps a C++ program from main on, through throws: its functions have personality routines and
// landing pads, and libgcc's unwinder reads the same table.
func TestExidxThrows(t *testing.T) {
	fixture.Sweep(t)
	for _, m := range []string{"arm", "thumb"} {
		for _, level := range []string{"-O0", "-O2", "-Os"} {
			t.Run(m+" "+level, func(t *testing.T) {
				t.Parallel()
				g := guests[m]
				g.compiler = "arm-linux-gnueabihf-g++"
				fixture.Need(t, g.compiler, g.emulator)
				exe := fixture.Build(t, "check/throws.cc", append([]string{"cc=" + g.compiler, level, "-static"}, g.flags...)...)
				s := exidxCheck(t, g, exe, 110_000, 17)
				s.judge(t)
				if s.thrown < 20 || s.alone.judged < 5000 || s.frames < 3000 {
					t.Errorf("exceptions ended %d calls: too little was judged", s.thrown)
				}
			})
		}
	}
}

// judge tells what was found, and fails if anything is wrong.
func (s *exidxScores) judge(t *testing.T) {
	t.Helper()
	t.Logf("%d instructions covered; alone right at %.3f %%, at %d calls %.3f %%; refined: %s, by %v; stripped: %s, by %v; %d frames of whole stacks, %d wrong; %d calls ended by exceptions",
		s.alone.judged, s.alone.share(), s.calls.judged, s.calls.share(), s.refined, s.refined.by, s.stripped, s.stripped.by, s.frames, s.wrong, s.thrown)
	for what, score := range map[string]*guestScore{"at calls": s.calls, "though refined": s.refined, "though refined, without symbols": s.stripped} {
		if score.right < score.judged {
			t.Errorf("wrong %s:%s", what, score.worst())
		}
	}
	if s.wrong > 0 {
		t.Errorf("%d of %d frames are wrong; the first is %s", s.wrong, s.frames, s.first)
	}
}

func (s *guestScore) share() float64 { return 100 * float64(s.right) / float64(max(s.judged, 1)) }

// exidxCheck steps a program from main on and judges the instructions that the table covers: one of so many, and all
// of those of which fewer are executed.
func exidxCheck(t *testing.T, g guest, exe string, most, apart int) *exidxScores {
	r := startGuest(t, g, exe)
	c := frames.ModuleOf(r.file, nil).Contents()
	if len(c.ExIdx.Data) == 0 {
		t.Fatal("the program has no .ARM.exidx")
	}
	c.EHFrame, c.EHFrameHdr, c.DebugFrame = frames.Section{}, frames.Section{}, frames.Section{}
	m, bare := frames.NewModule(c), strippedModule(t, g, exe)
	alone, refined, all := frames.New(g.arch, guestSpace{r, m}), frames.New(g.arch, guestSpace{r, m}), frames.New(g.arch, guestSpace{r, m})
	alone.Use = frames.SetOf(frames.EHABI)
	refined.Use = frames.SetOf(frames.EHABI, frames.Prologue)
	stripped := frames.New(g.arch, guestSpace{r, bare})
	stripped.Use = refined.Use
	score := func() *guestScore {
		return &guestScore{by: map[frames.Strategy]int{}, wrong: map[string]int{}, searched: map[string]int{}}
	}
	s := &exidxScores{alone: score(), calls: score(), refined: score(), stripped: score()}
	var at row.Row
	n, seen := 0, map[uint64]int{} // how often instructions were judged
	r.each(most, func() {
		if n++; n%(5*apart) == 0 {
			r.stackIsRight(all, s)
		}
		if pc := r.reg(g.arch.PC); seen[pc] > 3 && n%apart != 0 {
			return
		} else {
			seen[pc]++
		}
		if _, err := m.Origin(g.arch, r.reg(g.arch.PC), &at); err != nil {
			return
		}
		r.compare(alone, s.alone, r.name)
		r.compare(refined, s.refined, r.name)
		r.compare(stripped, s.stripped, r.name)
		if r.atCall() {
			r.compare(alone, s.calls, r.name)
		}
	})
	s.thrown = r.thrown
	return s
}

// strippedModule is the program without symbols, with .ARM.exidx as its only table.
func strippedModule(t *testing.T, g guest, exe string) *frames.Module {
	path := filepath.Join(t.TempDir(), "stripped")
	if out, err := exec.Command("arm-linux-gnueabihf-objcopy", "--strip-all", exe, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	c := frames.ModuleOf(f, nil).Contents()
	c.EHFrame, c.EHFrameHdr, c.DebugFrame = frames.Section{}, frames.Section{}, frames.Section{}
	return frames.NewModule(c)
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

// losesCaller reports whether pc is in a function of the C++ runtime whose caller is not known: its entries say so.
func (r *guestRun) losesCaller(pc uint64) bool {
	name := r.name(pc)
	for _, part := range []string{
		"_Unwind_R",           // changes what it has saved of its caller's registers
		"__cxa_end_cleanup",   // calls without saving the link register: it never returns
		"__restore_core_regs", // loads the registers of another frame
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// stackIsRight judges every frame up to main's caller, or up to that of libgcc's unwinder.
func (r *guestRun) stackIsRight(u *frames.Unwinder, s *exidxScores) {
	have, inner := 0, uint64(0)
	for f := range u.Walk(&r.regs).Frames(context.Background()) {
		if have = f.Index; have == 0 {
			inner = uint64(f.PC)
			continue
		}
		if r.losesCaller(inner) {
			return
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
				s.first = fmt.Sprintf("frame %d, the caller of %s, by %s, in %s", have, r.name(inner), f.Strategy, r.name(r.reg(arch.ARM.PC)))
			}
		}
		if have == len(r.calls) || bad {
			return
		}
		inner = uint64(f.PC)
	}
	if have < len(r.calls) {
		s.frames++
		s.wrong++
		if s.first == "" {
			s.first = fmt.Sprintf("no frame %d, in %s", have+1, r.name(r.reg(arch.ARM.PC)))
		}
	}
}
