package unwindcheck

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// TestSFrame steps programs whose only table is SFrame, and judges every instruction of the program
// itself: first by the format alone, then with what the code adds. By default in version 1, which the
// system's assembler writes; with DBG_ALL in versions 2 and 3 too, and in larger programs.
func TestSFrame(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	fixture.Need(t, "as", "objcopy")
	binutils := []string{""}
	if fixture.All() {
		binutils = append(binutils, fixture.Binutils(t, fixture.Trixie), fixture.Binutils(t, fixture.Forky))
	}
	for i, bin := range binutils {
		for _, flags := range []string{"-O2", "-O0", "-O2 -fno-omit-frame-pointer", "-Os -Wl,-z,lazy"} {
			if !fixture.All() && flags != "-Os -Wl,-z,lazy" {
				continue
			}
			t.Run([]string{"system", "trixie", "forky"}[i]+" "+flags, func(t *testing.T) {
				list := append(strings.Fields(flags), "-Wa,--gsframe")
				if bin != "" {
					list = append(list, "-B"+bin+"/")
				}
				checkSFrame(t, withoutEHFrame(t, fixture.Build(t, "unwind/sframe.c", list...)), 0)
			})
		}
	}
	if fixture.All() {
		lua := withoutEHFrame(t, fixture.Lua(t, "-O2", "-Wa,--gsframe", "-B"+binutils[2]+"/"))
		checkSFrame(t, lua, 3_000_000, "-e", "local t = {} for i = 1, 2000 do t[i] = string.format('%d', i * 7 % 1000) end table.sort(t) print(#t)")
	}
}

// withoutEHFrame returns a copy of a program without .eh_frame.
func withoutEHFrame(t *testing.T, path string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(path))
	cmd := exec.Command("objcopy", "--remove-section", ".eh_frame", "--remove-section", ".eh_frame_hdr", path, out)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, msg)
	}
	return out
}

func checkSFrame(t *testing.T, path string, limit uint64, args ...string) {
	t.Helper()
	alone := check(t, Options{Module: filepath.Base(path), Source: "sframe", Max: limit}, path, args...)
	full := check(t, Options{Module: filepath.Base(path), Max: limit}, path, args...)
	t.Logf("alone: %d instructions, %.3f%% right, %d registers unknown; refined: %.3f%% right, %d registers unknown",
		asked(alone), 100*rightShare(alone), alone.UnknownRegisters, 100*rightShare(full), full.UnknownRegisters)
	if asked(full) < 300 || rightShare(full) != 1 {
		t.Errorf("refined: of %d instructions %d are wrong, %d are without an answer", asked(full), full.Wrong, asked(full)-full.Judged())
	}
	for _, r := range []*Report{alone, full} {
		for why, n := range r.NotJudged {
			t.Logf("not judged: %s: %d", why, n)
		}
		for _, w := range r.Ranges {
			t.Logf("wrong: %s [%d times]", w.String(), w.Hits)
		}
	}
}
