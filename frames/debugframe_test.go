package frames_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/target"
)

// TestDebugFrameElsewhere: the .debug_frame of a separate debug file, or of .gnu_debugdata, counts though the program has an
// .eh_frame, which knows the start files' functions only.
func TestDebugFrameElsewhere(t *testing.T) {
	for compiler, a := range map[string]*arch.Arch{
		"gcc": arch.AMD64, "riscv64-linux-gnu-gcc": arch.RISCV64, "arm-linux-gnueabihf-gcc": arch.ARM,
	} {
		t.Run(a.Name, func(t *testing.T) {
			objcopy := strings.TrimSuffix(compiler, "gcc") + "objcopy"
			fixture.Need(t, compiler, objcopy, "xz")
			whole := fixture.Build(t, "unwind/deep.c", "cc="+compiler, "-O1", "-g", "-static",
				"-fno-asynchronous-unwind-tables", "-fno-exceptions")
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			run := func(name string, args ...string) {
				t.Helper()
				if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
					t.Fatalf("%s %q: %v\n%s", name, args, err, out)
				}
			}
			run(objcopy, "--only-keep-debug", whole, in("debug"))
			run(objcopy, "-w", "-R", ".debug_[!f]*", in("debug"), in("mini"))
			run("xz", "-k", in("mini"))
			run(objcopy, "--strip-all", whole, in("stripped"))
			run(objcopy, "--add-section=.gnu_debugdata="+in("mini.xz"), in("stripped"), in("withmini"))
			open := func(path string) *image.File {
				f, err := image.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.Close() })
				return f
			}
			w := open(whole)
			_, hasEH := w.Section(".eh_frame")
			var pc image.Addr
			for _, s := range w.Symbols() {
				if s.Name == "main" {
					pc = s.Addr
				}
			}
			if !hasEH || pc == 0 {
				t.Logf(".eh_frame %v, main at %x", hasEH, uint64(pc))
			}
			pc &^= 1
			origin := func(f, debug *image.File, compile bool) string {
				m := frames.ModuleOf(f, debug)
				frames.Edit(m).Lo, frames.Edit(m).Hi = 0, 1<<32
				if compile {
					m.Compile(a)
				}
				space := &fake{modules: []*frames.Module{m}}
				o, err := frames.New(a, space).Origin(target.Addr(pc)+8, true)
				if err != nil {
					return err.Error()
				}
				return o.Table + " " + o.Row.Format(a)
			}
			want := origin(w, nil, false)
			if debug, _ := frames.ModuleOf(w, nil).Tables(a); debug == nil || debug.RowAt(uint64(pc)+8, new(row.Row)) != nil {
				t.Fatalf("the program has no .debug_frame for main: %s", want)
			}
			for name, got := range map[string]string{
				"debug file":               origin(open(in("stripped")), open(in("debug")), false),
				".gnu_debugdata":           origin(open(in("withmini")), nil, false),
				".gnu_debugdata, compiled": origin(open(in("withmini")), nil, true),
			} {
				if got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
			if got := origin(open(in("stripped")), nil, false); got == want {
				t.Error("without both the same is found")
			}
		})
	}
}
