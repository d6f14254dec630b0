package cfi

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/row"
)

// oneEntry is a section with one FDE for 0x1000..0x101000.
func oneEntry(instr []byte) []byte {
	le := binary.LittleEndian
	var b []byte
	cie := []byte{0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8}
	b = le.AppendUint32(b, uint32(len(cie)))
	b = append(b, cie...)
	b = le.AppendUint32(b, uint32(4+16+len(instr)))
	b = le.AppendUint32(b, uint32(len(b)))
	b = le.AppendUint64(b, 0x1000)
	b = le.AppendUint64(b, 0x100000)
	return append(b, instr...)
}

// TestBoundsOfWork checks that counters limit the cost of one entry.
func TestBoundsOfWork(t *testing.T) {
	var everyRegister []byte
	for reg := byte(0); reg < 64; reg++ {
		everyRegister = append(everyRegister, cfaOffset|reg, 1)
	}
	for _, c := range []struct {
		name  string
		instr []byte
		want  error
	}{
		{"remembering all registers again and again", append(everyRegister, bytes.Repeat([]byte{cfaRememberState, cfaRestoreState}, 1<<17)...), tooCostly},
		{"a program of 16 MB", make([]byte, maxProgram+1), tooLong},
		{"a program of just so many", make([]byte, maxProgram), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := New(Config{Arch: arch.AMD64, Data: oneEntry(c.instr)})
			var r row.Row
			err := table.RowAt(0x1000, &r)
			if c.want == nil && err != nil || c.want != nil && (err == nil || !strings.Contains(err.Error(), c.want.Error())) {
				t.Errorf("%v, want %v", err, c.want)
			}
			x := table.exec()
			if x.copied > maxCopied+arch.MaxRegs {
				t.Errorf("%d rules were copied", x.copied)
			}
		})
	}
	t.Run("a CIE of many instructions", func(t *testing.T) {
		x := newExec(New(Config{Arch: arch.AMD64, Data: make([]byte, maxCIEProgram+1)}))
		k := &cieState{cie: CIE{instr: [2]int{0, maxCIEProgram + 1}}}
		x.begin(&x.own)
		if x.runCIE(k); k.err != tooLong {
			t.Errorf("%v", k.err)
		}
	})
	t.Run("a CIE that moves the location", func(t *testing.T) {
		x := newExec(New(Config{Arch: arch.AMD64, Data: []byte{0x41}}))
		k := &cieState{cie: CIE{CodeAlign: 1, instr: [2]int{0, 1}}}
		x.begin(&x.own)
		if x.runCIE(k); k.err != moves {
			t.Errorf("%v", k.err)
		}
	})
}
