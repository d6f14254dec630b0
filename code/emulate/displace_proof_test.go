//go:build linux && amd64

package emulate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"dbg/internal/fixture"
)

// TestDisplacedLikeOriginal compares a step of the displaced instruction with one of the original:
// registers, flags, memory, signal and, unless Decode claims the instruction, vector registers.
func TestDisplacedLikeOriginal(t *testing.T) {
	d := newDisplaceJudge(t)
	claimed, faults := d.compareAll(corpus(t))
	if faults*100 > claimed {
		t.Errorf("%d of %d instructions raised a fault in each step", faults, claimed)
	}
}

// TestDisplacedTablesLikeOriginal does the same with instructions of each entry of the tables. Some
// of them are not valid with each vector length, or not on this processor: then both raise a fault.
func TestDisplacedTablesLikeOriginal(t *testing.T) {
	d := newDisplaceJudge(t)
	perEntry := 2
	if fixture.All() {
		perEntry = 40
	}
	d.compareAll(generatedDisplaced(perEntry))
}

type displaceJudge struct {
	t      *testing.T
	p      *processor
	states [][]byte // of the vector registers
	before []byte   // the arena
}

func newDisplaceJudge(t *testing.T) *displaceJudge {
	p := newProcessor(t)
	d := &displaceJudge{t, p, p.vectorStates(rand.New(rand.NewPCG(1, 2)), 8), make([]byte, arenaSize)}
	fill(p.arena)
	return d
}

// compareAll compares the instructions that Displace claims. It returns how many these are, and how
// many raised a fault in each step.
func (d *displaceJudge) compareAll(codes [][]byte) (claimed, faults int) {
	steps, failures := 0, 0
	for _, code := range codes {
		if _, _, ok := Displace(code, codeBase, awayBase); !ok {
			continue
		}
		claimed++
		rng := randomFor(code)
		faulted := true
		for i := range 6 {
			signal, difference := d.compare(newTrial(code, rng, d.p.arena), i)
			if difference != "" {
				d.t.Errorf("% x (%s)\n%s", code, name(code), difference)
				if failures++; failures > 20 {
					d.t.Fatal("too many differences")
				}
				break
			}
			steps++
			faulted = faulted && signal != unix.SIGTRAP
		}
		if faulted {
			faults++
		}
	}
	d.t.Logf("%d distinct instructions, %d comparisons, %d instructions that raised a fault in each", claimed, steps, faults)
	return claimed, faults
}

// outcome is the state after a step.
type outcome struct {
	signal  unix.Signal
	regs    Regs
	fault   uint64
	memory  []byte
	vectors []byte
}

// compare executes a trial at its address and elsewhere. It returns the signal of the original, and
// how the outcomes differ.
func (d *displaceJudge) compare(try trial, state int) (unix.Signal, string) {
	p := d.p
	from, to := try.regs.RIP, awayBase+uint64(state)
	out, n, ok := Displace(try.code, from, to)
	if !ok || n != len(try.code) {
		return 0, fmt.Sprintf("  not displaced, or length %d", n)
	}
	copy(d.before, p.arena)
	_, emulated := Decode(try.code, from)
	vectors := d.states[state]
	if emulated {
		vectors = nil
	}
	original := d.step(&try.regs, from, try.code, vectors)
	copy(p.arena, d.before)
	displaced := d.step(&try.regs, to, out, vectors)

	var s string
	switch displaced.regs.RIP {
	case to:
		displaced.regs.RIP = from
	case to + uint64(len(out)):
		displaced.regs.RIP = from + uint64(n)
	default:
		s = "  displaced, it branches\n"
	}
	if displaced.fault == to {
		displaced.fault = from // of an undefined instruction or a division
	}
	if original.signal != displaced.signal || original.fault != displaced.fault {
		s += fmt.Sprintf("  original: %v at %#x, displaced: %v at %#x\n", original.signal, original.fault, displaced.signal, displaced.fault)
	}
	s += differences(&try.regs, &displaced.regs, &original.regs)
	s += memoryDifferences(displaced.memory, original.memory)
	if !bytes.Equal(original.vectors, displaced.vectors) {
		s += "  vector registers differ\n"
	}
	return original.signal, s
}

// step executes code at an address. Without vectors those of the process stay and are not read.
func (d *displaceJudge) step(r *Regs, addr uint64, code, vectors []byte) outcome {
	p := d.p
	copy(p.code[addr-codeBase:], code)
	if vectors != nil {
		p.setVectors(vectors)
	}
	regs := p.registers(r)
	regs.Rip = addr
	var o outcome
	if o.signal = p.step(&regs); o.signal != unix.SIGTRAP {
		o.fault = p.faultAddress()
	}
	o.regs = regsOf(&regs)
	o.memory = bytes.Clone(p.arena)
	if vectors != nil {
		o.vectors = bytes.Clone(p.vectors())
		clear(o.vectors[512:520]) // XSTATE_BV may change when a register does not.
	}
	return o
}
