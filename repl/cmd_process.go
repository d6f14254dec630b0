package repl

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"dbg/session"
	"dbg/target"
)

func processCommands() []*command {
	const g = "process"
	return []*command{
		{name: "generate-core-file", aliases: []string{"gcore"}, usage: "[FILE]", group: g, once: true, help: "write a core file of the process; the default name is core.PID", run: generateCore},
	}
}

// infoProcessCommands are the subjects of info about the process.
func infoProcessCommands() []*command {
	return []*command{
		{name: "proc", run: infoProc},
		{name: "auxv", run: infoAuxv},
		{name: "files", run: infoFiles},
		{name: "target", run: infoFiles},
		{name: "os", run: infoOS},
	}
}

// generateCore writes a core file, with gdb's words.
func generateCore(sh *shell, args string) error {
	if sh.sess.State() == session.NoProgram || sh.sess.State() == session.NotStarted {
		return userErrorf("You can't do that without a process to debug.")
	}
	path := args
	if path == "" {
		t, _ := sh.sess.Target()
		path = fmt.Sprintf("core.%d", t.PID)
	} else if words, err := splitWords(args); err == nil && len(words) == 1 {
		path = words[0]
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = home + "/" + rest
		}
	}
	w, err := sh.sess.GenerateCore(path, session.CoreOptions{IgnoreFilter: sh.settings.ignoreFilter, Excluded: sh.settings.dumpExcluded})
	if err != nil {
		return err
	}
	if w.Unreadable > 0 {
		fmt.Fprintf(sh.err, "warning: %d bytes of memory could not be read; they are zeros in the core file.\n", w.Unreadable)
	}
	fmt.Fprintf(sh.out, "Saved corefile %s\n", path)
	return nil
}

// procParts are the words after "info proc", and what they show.
var procParts = map[string][]string{
	"": {"cmdline", "cwd", "exe"}, "mappings": {"mappings"}, "status": {"status"}, "cmdline": {"cmdline"}, "cwd": {"cwd"}, "exe": {"exe"},
	"files": {"files"}, "limits": {"limits"}, "stat": {"stat"}, "all": {"cmdline", "cwd", "exe", "files", "mappings", "status", "limits", "stat"},
}

// infoProc prints what is known of the process, in gdb's layout.
func infoProc(sh *shell, args string) error {
	word := ""
	for name := range procParts {
		if name != "" && args != "" && strings.HasPrefix(name, args) {
			if word != "" && args != word {
				// "c", "s", "st", "e": gdb takes the first in its own order, we ask for more.
				if name != args {
					return userErrorf("Ambiguous info proc command \"%s\": give more of the name.", args)
				}
			}
			word = name
			if name == args {
				break
			}
		}
	}
	if args != "" && word == "" {
		return userErrorf("Undefined info proc command: \"%s\".  Try \"help info\".", args)
	}
	facts, err := sh.sess.ProcessFacts()
	if err != nil {
		if sh.sess.State() == session.NoProgram || sh.sess.State() == session.NotStarted {
			return userErrorf("No current process: you must name one.")
		}
		return err
	}
	fmt.Fprintf(sh.out, "process %d\n", facts.PID)
	live := sh.sess.State() != session.IsCore
	for _, part := range procParts[word] {
		text := ""
		switch part {
		case "cmdline":
			text = strings.Join(facts.Args, " ")
		case "cwd":
			text = facts.Dir
		case "exe":
			text = facts.Exe
		case "mappings":
			if err := sh.printMappings(live); err != nil {
				return err
			}
			continue
		case "files":
			if !live {
				if word != "all" {
					return session.ErrNotKnown
				}
				continue
			}
			if err := sh.printOpenFiles(); err != nil {
				return err
			}
			continue
		case "status", "limits", "stat":
			if !live && !(part == "status" && facts.Status != "") {
				if word != "all" {
					return session.ErrNotKnown
				}
				continue
			}
			fmt.Fprint(sh.out, map[string]string{"status": facts.Status, "limits": facts.Limits, "stat": statText(facts.Stat)}[part])
			continue
		}
		switch {
		case text != "":
			fmt.Fprintf(sh.out, "%s = '%s'\n", part, text)
		case live:
			fmt.Fprintf(sh.err, "warning: unable to read the %s of the process\n", part)
		case word == part:
			return session.ErrNotKnown
		}
	}
	for _, n := range facts.Notes {
		if word == "all" || word == "" && !n.Long {
			fmt.Fprintf(sh.out, "%s = '%s'\n", n.Name, n.Text)
		}
	}
	return nil
}

func (sh *shell) printMappings(live bool) error {
	list, err := sh.sess.Mappings()
	if err != nil {
		return err
	}
	fmt.Fprint(sh.out, "Mapped address spaces:\n\n")
	perms := "Perms  "
	if !live {
		perms = ""
	}
	fmt.Fprintf(sh.out, "  %18s %18s %10s %10s  %sobjfile\n", "Start Addr", "End Addr", "Size", "Offset", perms)
	for _, m := range list {
		path := m.Path
		if m.Deleted {
			path += " (deleted)"
		}
		if live {
			path = fmt.Sprintf("%-5s  %s", m.Perms, path)
		} else if path == "" {
			continue // gdb lists the files of a core
		}
		fmt.Fprintf(sh.out, "  %18s %18s %10s %10s  %s\n", m.Lo, m.Hi, m.Hi-m.Lo, target.Addr(m.Offset), path)
	}
	return nil
}

func (sh *shell) printOpenFiles() error {
	list, err := sh.sess.OpenFiles()
	if err != nil {
		return err
	}
	fmt.Fprint(sh.out, "Open files:\n\n")
	fmt.Fprintf(sh.out, "  %6s  %10s  %s\n", "FD", "Offset", "File")
	for _, f := range list {
		fmt.Fprintf(sh.out, "  %6d  %10d  %s\n", f.FD, f.Offset, f.Path)
	}
	return nil
}

// statFields names the fields of proc_pid_stat(5) as gdb does; "" is left out. The first three, the
// id, the name and the state, are not in the list.
var statFields = []struct {
	name string
	hex  bool
}{
	{"Parent process", false}, {"Process group", false}, {"Session id", false}, {"TTY", false}, {"TTY owner process group", false},
	{"Flags", true}, {"Minor faults (no memory page)", false}, {"Minor faults, children", false}, {"Major faults (memory page faults)", false},
	{"Major faults, children", false}, {"utime", false}, {"stime", false}, {"utime, children", false}, {"stime, children", false},
	{"jiffies remaining in current time slice", false}, {"'nice' value", false}, {"jiffies until next timeout", false},
	{"jiffies until next SIGALRM", false}, {"start time (jiffies since system boot)", false}, {"Virtual memory size", false},
	{"Resident set size", false}, {"rlim", false}, {"Start of text", true}, {"End of text", true}, {"Start of stack", true},
}

// statText shows a line of proc_pid_stat(5).
func statText(line string) string {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return ""
	}
	var b strings.Builder
	rest := strings.Fields(line[end+1:])
	fmt.Fprintf(&b, "Process: %s\nExec file: %s\n", strings.TrimSpace(line[:open]), line[open+1:end])
	if len(rest) > 0 {
		fmt.Fprintf(&b, "State: %s\n", rest[0])
	}
	for i, f := range statFields {
		if i+1 >= len(rest) {
			break
		}
		v := rest[i+1]
		if n, err := strconv.ParseUint(v, 10, 64); err == nil && f.hex {
			v = fmt.Sprintf("0x%x", n)
		}
		fmt.Fprintf(&b, "%s: %s\n", f.name, v)
	}
	return b.String()
}

// infoAuxv prints gdb's table.
func infoAuxv(sh *shell, args string) error {
	list, err := sh.sess.AuxVector()
	if err != nil {
		if _, ok := sh.sess.Target(); !ok {
			return userErrorf("The program has no auxiliary information now.")
		}
		return err
	}
	if len(list) == 0 {
		return userErrorf("The program has no auxiliary information now.")
	}
	for _, e := range list {
		value := fmt.Sprintf("0x%x", e.Value)
		switch {
		case e.Kind == session.AuxDecimal:
			value = fmt.Sprint(e.Value)
		case e.HasText:
			value += " " + strconv.Quote(e.Text)
		}
		fmt.Fprintf(sh.out, "%-4d %-20s %-30s %s\n", e.Type, e.Name, e.Description, value)
	}
	return nil
}

// infoFiles prints the sections of all files, and the entry point, in gdb's layout.
func infoFiles(sh *shell, args string) error {
	files, err := sh.sess.FileSections()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return nil
	}
	fmt.Fprintf(sh.out, "Symbols from \"%s\".\n", files[0].Path)
	if t, ok := sh.sess.Target(); ok {
		if t.Kind == target.Core {
			fmt.Fprintf(sh.out, "Local core dump file:\n\tProcess %d.\n", t.PID)
		} else {
			fmt.Fprintf(sh.out, "Native process:\n\tUsing the running image of child process %d.\n\tWhile running this, dbg does not access memory from...\n", t.PID)
		}
	}
	fmt.Fprintf(sh.out, "Local exec file:\n\t`%s', file type %s.\n\tEntry point: %s\n", files[0].Path, files[0].Type, files[0].Entry)
	for i, f := range files {
		in := ""
		if i > 0 {
			in = " in " + f.Path
		}
		for _, s := range f.Sections {
			fmt.Fprintf(sh.out, "\t0x%016x - 0x%016x is %s%s\n", uint64(s.Lo), uint64(s.Hi), s.Name, in)
		}
	}
	return nil
}

// infoOS prints a table about the machine, or the list of tables.
func infoOS(sh *shell, args string) error {
	if args == "" {
		fmt.Fprintf(sh.out, "%-10s %s\n", "Type", "Description")
		for _, t := range session.SystemTables {
			fmt.Fprintf(sh.out, "%-10s %s\n", t[0], t[1])
		}
		return nil
	}
	t, err := sh.sess.SystemTable(args)
	if err != nil {
		return err
	}
	width := make([]int, len(t.Columns))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for i, cell := range row {
			width[i] = max(width[i], min(len(cell), 20))
		}
	}
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("%-*s ", width[i], cell)
		}
		fmt.Fprintln(sh.out, strings.TrimRight(line, " "))
	}
	return nil
}
