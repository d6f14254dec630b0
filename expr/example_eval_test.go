package expr_test

import (
	"encoding/binary"
	"fmt"
	"log"

	"dbg/arch"
	"dbg/expr"
	"dbg/target"
)

// stack is eight bytes of memory.
type stack struct{}

func (stack) ReadMemory(at target.Addr, buf []byte) (int, error) {
	if at != 0x7fff0010 || len(buf) > 8 {
		return 0, &target.MemoryError{Addr: at, Why: "not mapped"}
	}
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], 0x401141)
	return copy(buf, word[:]), nil
}

// Evaluates a DWARF expression as in a call frame instruction: the word 16 bytes above the stack
// pointer.
func Example_eval() {
	regs := arch.Registers{Arch: arch.AMD64}
	regs.Set(arch.RSP, 0x7fff0000)
	code := []byte{0x77, 16, 0x06} // DW_OP_breg7 16; DW_OP_deref
	fmt.Println(expr.Dump(code, arch.AMD64))
	v, err := expr.Eval(code, &expr.Context{Arch: arch.AMD64, Regs: &regs, Mem: stack{}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("0x%x\n", v)
	// Output:
	// breg7 (rsp) +16; deref
	// 0x401141
}
