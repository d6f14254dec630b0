package repl_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dbg/internal/fault"
	"dbg/internal/fixture"
	"dbg/repl"
	"dbg/session"
)

// What a command may cost on a damaged file.
const (
	damageCPU    = 10 * time.Second
	damageMemory = 300 << 20
	damageHang   = 2 * time.Minute // this machine may be busy: CPU time is what counts
)

// TestDamagedFiles damages programs, cores and libraries, and does commands on them. None may panic, go on without end, or take much
// memory. Each kind of damage has a process of its own, whose memory is measured. DBG_CORRUPT_TRIALS is the number of trials
// for each part of a file, DBG_TRIAL the only one of each.
func TestDamagedFiles(t *testing.T) {
	for name, run := range map[string]func(*damage){
		"ELF headers": (*damage).elfHeaders, "debug sections": (*damage).debugSections, "compressed": (*damage).compressedSections,
		"cores": (*damage).cores, "NT_FILE": (*damage).mappedFiles, "Mach-O": (*damage).machO, "cut in use": (*damage).cutInUse,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if os.Getenv("DBG_DAMAGE") == "" {
				damageProcess(t)
				return
			}
			d := &damage{t: t, trials: 3}
			if fixture.All() {
				d.trials = 1000
			}
			if n, err := strconv.Atoi(os.Getenv("DBG_CORRUPT_TRIALS")); err == nil {
				d.trials = n
			}
			run(d)
			peak := peakMemory(t)
			t.Logf("%d trials, %d refused, at most %v of CPU and %d MB of memory (%s took longest)", d.done, d.refused, d.longest, peak>>20, d.slowest)
			if peak > damageMemory {
				t.Errorf("%d MB of memory", peak>>20)
			}
		})
	}
}

// damageProcess runs this test alone in a process of its own.
func damageProcess(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v", "-test.timeout=6h")
	cmd.Env = append(os.Environ(), "DBG_DAMAGE=1")
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, text[:min(len(text), 20_000)])
	}
	_, log, found := strings.Cut(text, "trials, ")
	if !found {
		if strings.Contains(text, "--- SKIP") {
			fixture.Missing(t, text)
		}
		t.Fatalf("no trials:\n%s", text)
	}
	head, _, _ := strings.Cut(text, "trials, ")
	n := strings.TrimSpace(head[strings.LastIndexByte(strings.TrimRight(head, " "), ' ')+1:])
	log, _, _ = strings.Cut(log, "\n")
	t.Logf("%s trials, %s", n[strings.LastIndexByte(n, ' ')+1:], log)
}

// peakMemory is the most that this process has had resident.
func peakMemory(t *testing.T) uint64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatal("the kernel does not tell")
	return 0
}

// damage is a series of trials.
type damage struct {
	t             *testing.T
	trials        int
	done, refused int
	longest       time.Duration
	slowest       string
}

// damagedCommands are what is done on a damaged file.
var damagedCommands = []string{
	"bt", "frame 3", "info locals", "info args", "info registers", "info frame", "frame why 2", "output *$sp", "x/3i $pc", "list", "up 2", "info locals",
	"info threads", "thread apply all bt 5", "info sharedlibrary", "info symbol main", "info line main", "info scope main", "list tables", "break tables",
	"ptype aligned", "output sink", "whatis nowhere", "info functions ^ta", "info types int", "info sources", "disassemble many", "bt full 4", "info signals",
}

// each does n trials of one part. change damages the file and returns how to undo it. Trials of one seed are the same.
func (d *damage) each(part string, n int, open func() (*session.Session, error), change func(r *rand.Rand) (undo func())) {
	first := 0
	if only, err := strconv.Atoi(os.Getenv("DBG_TRIAL")); err == nil {
		first, n = only, only+1
	}
	for i := first; i < n; i++ {
		name := fmt.Sprintf("%s, trial %d", part, i)
		undo := change(rand.New(rand.NewPCG(uint64(i), 0xda)))
		d.try(name, open, nil)
		undo()
		if d.t.Failed() {
			d.t.Fatalf("DBG_CORRUPT_TRIALS=%d DBG_TRIAL=%d shows %s", n, i, name)
		}
	}
}

// try does the commands. between is called before each one, if it is not nil.
func (d *damage) try(name string, open func() (*session.Session, error), between func(i int)) {
	hang := time.AfterFunc(damageHang, func() { panic(name + " does not end") }) // prints all goroutines
	defer hang.Stop()
	d.done++
	before, cpu := fault.Latest(), cpuTime()
	var out bytes.Buffer
	s, err := open()
	if err != nil {
		d.refused++
		fmt.Fprintln(&out, err)
	} else {
		for _, json := range []bool{false, true} {
			opts := repl.Options{Batch: true, JSON: json, Out: &out, Err: &out}
			list := damagedCommands
			if json {
				list = []string{"bt", "frame why 1"}
			}
			for i, c := range list {
				if between != nil {
					between(i)
				}
				opts.Commands = []repl.Command{{Text: c}}
				_ = repl.Run(context.Background(), s, opts) // that a command fails is no mistake
			}
		}
	}
	if s != nil {
		s.Close()
	}
	if used := cpuTime() - cpu; used > d.longest {
		if d.longest, d.slowest = used, name; used > damageCPU {
			d.t.Errorf("%s: %v of CPU", name, used)
		}
	}
	if mine := fault.Latest(); mine != before {
		d.t.Errorf("%s: %v\n%s", name, mine, mine.Stack)
	}
	if strings.Contains(out.String(), "internal error") {
		d.t.Errorf("%s:\n%.2000s", name, out.String())
	}
}

// cpuTime is what the process has used.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(syscall.TimevalToNsec(syscall.Timeval(u.Utime)) + syscall.TimevalToNsec(syscall.Timeval(u.Stime)))
}
