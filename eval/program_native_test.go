package eval

import (
	"encoding/binary"
	"fmt"
	"testing"

	"dbg/symbols/lang"
	"dbg/target"
)

// nativeWorld is programWorld in a language, with integers of that language's types at their edges.
func nativeWorld(l lang.Lang) (*speakingEnv, *ProgramContext, []string) {
	e, c := programWorld()
	c.Language = l
	primitives := rustPrimitives
	names := []string{"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"}
	if l == lang.Go {
		primitives = goTypes
		names = []string{"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"}
	}
	page := make([]byte, 4096)
	const at = target.Addr(0x40000)
	e.memory[at] = page
	var all []string
	for i, name := range names {
		for j, u := range []uint64{7, 1, 0, ^uint64(0), 1 << 63, 1<<63 - 1, 0x80808080_80808080} {
			t := primitives[name]
			if kindOf(t) == kindOf(typeDouble) && j > 2 {
				continue
			}
			v := fmt.Sprintf("n%d_%s", j, name)
			off := target.Addr(i*64 + j*8)
			if size := t.Size; u>>60 == 8 && u<<8 == 0 { // the least number
				u = 1 << (8*size - 1)
			} else if u == 1<<63-1 {
				u = 1<<(8*size-1) - 1
			}
			binary.LittleEndian.PutUint64(page[off:], u)
			e.vars[v] = Value{Type: t, Name: v, Addr: at + off, HasAddr: true}
			all = append(all, v)
		}
	}
	s := &speakingEnv{e, l}
	c.Env = s
	return s, c, all
}

// speakingEnv is a fakeEnv that knows the language of its frame.
type speakingEnv struct {
	*fakeEnv
	l lang.Lang
}

func (e *speakingEnv) Language() lang.Lang { return e.l }

// TestNativeProgramLikeEvaluate compares programs with the evaluator, for the integers of Rust and Go.
func TestNativeProgramLikeEvaluate(t *testing.T) {
	for _, l := range []lang.Lang{lang.Rust, lang.Go} {
		e, c, operands := nativeWorld(l)
		operands = append(operands, "0", "1", "5", "200", "-1", "70000", "5000000000", "2.5", "i", "u", "c", "ul", "f")
		compiled, all := 0, 0
		for _, a := range operands {
			for _, b := range operands {
				for _, op := range []string{"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">=", "&&"} {
					all++
					if compareNative(t, "("+a+") "+op+" ("+b+")", e, c) {
						compiled++
					}
				}
			}
		}
		t.Logf("language %v: %d of %d expressions have a truth value and are compiled", l, compiled, all)
		if compiled < all/20 {
			t.Errorf("only %d of %d are compiled", compiled, all)
		}
	}
}

func compareNative(t *testing.T, text string, e *speakingEnv, c *ProgramContext) bool {
	t.Helper()
	p, err := Compile(text, c)
	if err != nil {
		return false
	}
	got, err := p.Run(&e.regs, e)
	if err != nil {
		return false
	}
	want, wantErr := conditionOf(text, e)
	if wantErr != nil || got != want {
		t.Errorf("%s: the program gives %v; Evaluate gives %v, %v", text, got, want, wantErr)
	}
	return true
}
