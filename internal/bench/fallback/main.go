// Command fallback compares what dbg and gdb find without unwind tables, at the same stops. It steps a
// program with dbg's shadow call stack, which knows the truth; now and then it writes a core. gdb reads these cores with
// copies of the program and its libraries that have no .eh_frame; dbg answers with all strategies but tables. Right is
// who names the caller's PC and stack pointer.
//
//	go run ./internal/bench/fallback [-samples N] [-max N] PROG [ARGS...]
//	go run ./internal/bench/fallback [-samples N] -all DIR [NAME...]
//
// With -all it runs the programs that scripts/check-all.sh has built into DIR, or those of these names.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"dbg/target/ptrace"
	"dbg/unwindcheck"
)

func main() {
	samples := flag.Int("samples", 300, "how many stops are compared")
	most := flag.Uint64("max", 300_000, "how many instructions are stepped")
	all := flag.String("all", "", "the directory with the programs of scripts/check-all.sh: compare these")
	show := flag.Bool("show", false, "print the stops at which gdb is right and dbg is not")
	flag.Parse()
	list := []program{{"", *most, 0, flag.Args()}}
	if *all != "" {
		if err := os.Chdir(*all); err != nil {
			fmt.Fprintln(os.Stderr, "fallback:", err)
			os.Exit(1)
		}
		list = slices.DeleteFunc(slices.Clone(programs), func(p program) bool { return flag.NArg() > 0 && !slices.Contains(flag.Args(), p.name) })
	} else if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	for _, p := range list {
		if err := p.compare(*samples, *show); err != nil {
			fmt.Fprintln(os.Stderr, "fallback:", err)
			os.Exit(1)
		}
	}
}

// program is a program of scripts/check-all.sh.
type program struct {
	name        string
	most        uint64 // instructions
	signalEvery uint64
	args        []string
}

const exceptions = `for i in range(3000):
  try: raise ValueError(i) if i % 7 == 0 else KeyError(i)
  except (ValueError, KeyError) as e: str(e)`

var programs = []program{
	{"ls", 3_000_000, 0, []string{"/bin/ls", "-lR", "/usr/share/doc"}},
	{"python", 3_000_000, 0, []string{"/usr/bin/python3", "-c", exceptions}},
	{"throws", 2_400_000, 0, []string{"./throws"}},
	{"panics", 700_000, 0, []string{"./panics"}},
	{"go", 1_000_000, 0, []string{"./routines"}},
	{"signals", 200_000, 1000, []string{"./handled"}},
	{"altstack", 200_000, 1000, []string{"./handled", "x"}},
	{"jumps", 126_000, 0, []string{"./jumps"}},
	{"threads", 130_000, 0, []string{"./threads"}},
	{"linker", 69_000, 0, []string{"/lib64/ld-linux-x86-64.so.2", "--list", "/bin/ls"}},
	{"crypto-hash", 8_700_000, 0, []string{"./crypto", "hash"}},
	{"crypto-bn", 7_800_000, 0, []string{"./crypto", "bn"}},
	{"crypto-p256", 3_100_000, 0, []string{"./crypto", "p256"}},
	{"crypto-gcm", 11_200_000, 0, []string{"./crypto", "gcm"}},
	{"crypto-ctr", 11_200_000, 0, []string{"./crypto", "ctr"}},
	{"crypto-cbc", 11_200_000, 0, []string{"./crypto", "cbc"}},
	{"crypto-chacha", 11_200_000, 0, []string{"./crypto", "chacha"}},
	{"openssl", 2_000_000, 0, []string{"/usr/bin/openssl", "speed", "-seconds", "1", "-bytes", "64", "-evp", "aes-128-gcm"}},
}

// stop is a stop with the truth and dbg's verdict.
type stop struct {
	core        string
	pc, ra, cfa uint64
	dbg         bool
}

func (pr *program) compare(samples int, show bool) error {
	exe, err := exec.LookPath(pr.args[0])
	if err != nil {
		return err
	}
	if exe, err = filepath.Abs(exe); err != nil {
		return err
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "dbg-fallback")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root := filepath.Join(dir, "root")
	if err := strip(exe, root); err != nil {
		return err
	}
	p, err := ptrace.Launch(ptrace.LaunchOptions{Path: exe, Args: pr.args[1:]})
	if err != nil {
		return err
	}
	defer p.Close()
	auxv, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", p.PID()))
	if err != nil {
		return err
	}
	var stops []stop
	opts := unwindcheck.Options{Source: "fallback", Max: pr.most, SampleEvery: pr.most/uint64(samples) | 1, SignalEvery: pr.signalEvery, Signal: 10}
	opts.Sample = func(s *unwindcheck.Sample) {
		pc, _ := s.Regs.PC()
		st := stop{core: filepath.Join(dir, fmt.Sprintf("core%05d", len(stops))), pc: pc, ra: s.ReturnAddress, cfa: s.CFA, dbg: s.Right}
		if werr := writeCore(st.core, p, s.Regs, auxv); werr != nil {
			err = werr
		}
		stops = append(stops, st)
	}
	report, rerr := unwindcheck.Run(context.Background(), p, opts)
	if rerr != nil {
		return rerr
	}
	if err != nil {
		return err
	}
	gdb, err := askGDB(dir, root, exe, stops)
	if err != nil {
		return err
	}
	ours, theirs, only := 0, 0, 0
	for i, s := range stops {
		if s.dbg {
			ours++
		}
		if gdb[i] == [2]uint64{s.ra, s.cfa} {
			theirs++
			if !s.dbg {
				only++
				if show {
					fmt.Printf("  gdb alone is right at pc 0x%x, return address 0x%x\n", s.pc, s.ra)
				}
			}
		}
	}
	n := float64(len(stops))
	name := pr.name
	if name == "" {
		name = strings.Join(pr.args, " ")
	}
	fmt.Printf("%s: %d instructions, %d stops compared: dbg %.1f %%, gdb %.1f %%; gdb alone right at %d\n",
		name, report.Instructions, len(stops), 100*float64(ours)/n, 100*float64(theirs)/n, only)
	return nil
}

// strip copies a program and its libraries below root, without tables.
func strip(exe, root string) error {
	out, _ := exec.Command("ldd", exe).Output()
	files := []string{exe}
	for _, w := range strings.Fields(string(out)) {
		if strings.HasPrefix(w, "/") {
			files = append(files, w)
		}
	}
	for _, f := range files {
		real, err := filepath.EvalSymlinks(f)
		if err != nil {
			return err
		}
		for _, name := range []string{f, real} {
			to := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			if msg, err := exec.Command("objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "-R", ".debug_frame", real, to).CombinedOutput(); err != nil {
				return fmt.Errorf("objcopy %s: %v: %s", real, err, msg)
			}
		}
	}
	return nil
}

const gdbScript = `
import gdb
gdb.execute("set pagination off")
for core in open("%s").read().split():
    ra = sp = 0
    try:
        gdb.execute("core-file " + core, to_string=True)
        f = gdb.newest_frame().older()
        if f is not None:
            ra, sp = f.pc(), int(f.read_register("rsp"))
    except Exception as e:
        pass
    print("@ %%d %%d" %% (ra & (2**64-1), sp & (2**64-1)))
`

// askGDB asks for the caller's PC and stack pointer in each core.
func askGDB(dir, root, exe string, stops []stop) ([][2]uint64, error) {
	list, script := filepath.Join(dir, "list"), filepath.Join(dir, "ask.py")
	var names []string
	for _, s := range stops {
		names = append(names, s.core)
	}
	if err := os.WriteFile(list, []byte(strings.Join(names, "\n")), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(script, fmt.Appendf(nil, gdbScript, list), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("gdb", "-nx", "-batch", "-ex", "set sysroot "+root, "-ex", "set backtrace past-main on", "-ex", "set backtrace past-entry on", "-x", script, filepath.Join(root, exe))
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=", "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("gdb: %w", err)
	}
	var answers [][2]uint64
	in := bufio.NewScanner(strings.NewReader(string(out)))
	for in.Scan() {
		var a [2]uint64
		if n, _ := fmt.Sscanf(in.Text(), "@ %d %d", &a[0], &a[1]); n == 2 {
			answers = append(answers, a)
		}
	}
	if len(answers) != len(stops) {
		return nil, fmt.Errorf("gdb answered %d of %d times", len(answers), len(stops))
	}
	return answers, nil
}
