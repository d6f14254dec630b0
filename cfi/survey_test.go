package cfi_test

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"testing"

	"dbg/cfi"
	"dbg/internal/fixture"
)

// TestSurveyExample assembles the function with which the survey explains .cfi directives.
func TestSurveyExample(t *testing.T) {
	const want = "+0 cfa=rsp+8 ra=c-8\n+1 cfa=rsp+16 rbp=c-16 ra=c-8\n+4 cfa=rbp+16 rbp=c-16 ra=c-8\n" +
		"+13 cfa=rbp+16 rbx=c-56 rbp=c-16 r12=c-48 r13=c-40 r14=c-32 r15=c-24 ra=c-8\n" +
		"+23 cfa=rsp+8 rbx=c-56 rbp=c-16 r12=c-48 r13=c-40 r14=c-32 r15=c-24 ra=c-8"
	if got := assemble(t, "gcc", "survey.s").rows(t, "f"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestUnwindSectionType links two sections .eh_frame, of the types SHT_PROGBITS and SHT_X86_64_UNWIND: both count.
func TestUnwindSectionType(t *testing.T) {
	fixture.Need(t, "gcc")
	dir := t.TempDir()
	source := func(name string) string { return filepath.Join(fixture.Root(), "testdata/cfi", name) }
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %q: %v\n%s", args, err, out)
		}
	}
	object, linked := filepath.Join(dir, "g.o"), filepath.Join(dir, "both.so")
	run("-c", "-o", object, source("unwindtype.s"))
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const shtX86_64Unwind = 0x70000001
	if s := f.Section(".eh_frame"); s == nil || s.Type != shtX86_64Unwind {
		t.Fatalf("the section's type: %+v", s)
	}
	run("-nostdlib", "-shared", "-o", linked, source("survey.s"), object)
	whole, err := elf.Open(linked)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	symbols, err := whole.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	eh, _ := configs(linked)
	a := &assembled{cfi.New(eh), eh.Arch, map[string]uint64{}}
	for _, s := range symbols {
		a.at[s.Name] = s.Value
	}
	if got := a.rows(t, "g"); got != "+0 cfa=rsp+8 ra=c-8\n+1 cfa=rsp+16 ra=c-8" {
		t.Errorf("the section of SHT_X86_64_UNWIND: %s", got)
	}
	if got := a.rows(t, "f"); got == "" {
		t.Error("the section of SHT_PROGBITS has no rows")
	}
}
