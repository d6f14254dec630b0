package frames_test

import (
	"context"
	"testing"

	"dbg/arch"
	"dbg/frames"
)

func TestExplain(t *testing.T) {
	w := chain(t)
	w.walk()
	u := frames.New(w.a, w.fake)
	walk := u.Walk(&w.regs)
	ev, err := walk.Explain(context.Background(), 2)
	if err != nil || ev.Frame == nil || uint64(ev.Frame.PC) != codeAt+0x310 || len(ev.Tries) != 1 {
		t.Fatalf("%v, %+v", err, ev)
	}
	try := &ev.Tries[0]
	if !try.Found || try.Strategy != frames.CFI || !try.HasRow || try.Origin.Table != ".eh_frame" || try.Origin.Row.Lo+try.Bias != codeAt+0x200 {
		t.Errorf("%+v", try)
	}
	if got, want := try.RowString(w.a), "CFA=rsp+24, rbx saved at CFA-16, return address saved at CFA-8"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	regs := map[arch.Reg]uint64{}
	for _, r := range try.Reads {
		regs[r.Reg] = r.Value
	}
	if regs[arch.RBX] != 0xb0b || regs[arch.RIP] != codeAt+0x310 || len(try.Guards) < 2 {
		t.Errorf("%+v", try)
	}
	// Frame 0 has no tries; one that does not exist has the end.
	if ev, err = walk.Explain(context.Background(), 0); err != nil || ev.Frame == nil || len(ev.Tries) != 0 {
		t.Errorf("%v, %+v", err, ev)
	}
	if ev, err = walk.Explain(context.Background(), 7); err != nil || ev.Frame != nil || !ev.End.Outermost {
		t.Errorf("%v, %+v", err, ev)
	}
}

// Each strategy that failed says why, and what it has read.
func TestExplainFallback(t *testing.T) {
	w := newWorld(t, arch.AMD64)
	frames.Edit(w.m).EHFrame = frames.Section{}
	ra := w.call(0x210)
	w.put(stackAt+0x100, 1, ra)
	w.at(codeAt+0x110, stackAt+0x100)
	w.regs.Set(arch.RBP, stackAt+0x80)
	ev, err := frames.New(w.a, w.fake).Walk(&w.regs).Explain(context.Background(), 1)
	if err != nil || ev.Frame == nil || ev.Frame.Strategy != frames.Scan {
		t.Fatalf("%v, %+v", err, ev)
	}
	var got []string
	for _, try := range ev.Tries {
		got = append(got, try.Strategy.String()+": "+try.Why)
	}
	want := []string{"cfi: no entry covers PC", "prologue: no call on the stack leads to PC", "prologue: found no return in the instructions after PC",
		"fp: the frame pointer is below the stack pointer", "scan: "}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	if last := ev.Tries[len(ev.Tries)-1]; len(last.Reads) != 2 || last.Reads[1].Value != ra || last.Reads[1].Reg != arch.RIP {
		t.Errorf("%+v", last)
	}
	if ev.Frame.RegisterTrust(arch.RSP) != frames.Guess {
		t.Errorf("rsp: %v", ev.Frame.RegisterTrust(arch.RSP))
	}
}
