package emulate

import (
	"bytes"
	"testing"
)

func TestDisplace(t *testing.T) {
	const from, to = 0x401000, 0x7000
	rows := []struct {
		name string
		code []byte
		want []byte // nil: not claimed
	}{
		{"mov rbp, rsp stays", []byte{0x48, 0x89, 0xe5}, []byte{0x48, 0x89, 0xe5}},
		{"what follows is left out", []byte{0x55, 0x90, 0x90}, []byte{0x55}},
		{"lea rax, [rip+1]", []byte{0x48, 0x8d, 0x05, 1, 0, 0, 0}, []byte{0x48, 0x8d, 0x05, 0x01, 0xa0, 0x3f, 0}},
		{"the immediate stays", []byte{0xc7, 0x05, 1, 0, 0, 0, 5, 6, 7, 8}, []byte{0xc7, 0x05, 0x01, 0xa0, 0x3f, 0, 5, 6, 7, 8}},
		{"vmovaps ymm0, [rip]", []byte{0xc5, 0xfc, 0x28, 0x05, 0, 0, 0, 0}, []byte{0xc5, 0xfc, 0x28, 0x05, 0, 0xa0, 0x3f, 0}},
		{"vmovdqu64 zmm16, [rip]", []byte{0x62, 0xe1, 0xfe, 0x48, 0x6f, 0x05, 0, 0, 0, 0}, []byte{0x62, 0xe1, 0xfe, 0x48, 0x6f, 0x05, 0, 0xa0, 0x3f, 0}},
		{"lock cmpxchg [rip], ecx", []byte{0xf0, 0x0f, 0xb1, 0x0d, 0, 0, 0, 0}, []byte{0xf0, 0x0f, 0xb1, 0x0d, 0, 0xa0, 0x3f, 0}},
		{"too far", []byte{0x48, 0x8d, 0x05, 0, 0, 0xd0, 0x7f}, nil},
		{"relative to EIP", []byte{0x67, 0x8b, 0x05, 0, 0, 0, 0}, nil},
		{"je", []byte{0x74, 0}, nil},
		{"je near", []byte{0x0f, 0x84, 0, 0, 0, 0}, nil},
		{"jmp", []byte{0xeb, 0}, nil},
		{"jmp rax", []byte{0xff, 0xe0}, nil},
		{"call", []byte{0xe8, 0, 0, 0, 0}, nil},
		{"call [rax]", []byte{0xff, 0x10}, nil},
		{"ret", []byte{0xc3}, nil},
		{"loop", []byte{0xe2, 0}, nil},
		{"jrcxz", []byte{0xe3, 0}, nil},
		{"syscall", []byte{0x0f, 0x05}, nil},
		{"sysenter", []byte{0x0f, 0x34}, nil},
		{"int3", []byte{0xcc}, nil},
		{"int 0x80", []byte{0xcd, 0x80}, nil},
		{"ud2", []byte{0x0f, 0x0b}, nil},
		{"pushf", []byte{0x9c}, nil},
		{"popf", []byte{0x9d}, nil},
		{"rep movsb", []byte{0xf3, 0xa4}, nil},
		{"movsb", []byte{0xa4}, []byte{0xa4}},
		{"mov ss, eax", []byte{0x8e, 0xd0}, nil},
		{"xbegin", []byte{0xc7, 0xf8, 0, 0, 0, 0}, nil},
		{"xabort", []byte{0xc6, 0xf8, 0}, nil},
		{"iret", []byte{0xcf}, nil},
		{"hlt", []byte{0xf4}, nil},
		{"in al, dx", []byte{0xec}, nil},
		{"fld saves its address", []byte{0xd9, 0x00}, nil},
		{"lock add of a register", []byte{0xf0, 0x01, 0xc0}, nil},
		{"lock mov", []byte{0xf0, 0x89, 0x00}, nil},
		{"lock cmp", []byte{0xf0, 0x83, 0x38, 0}, nil},
		{"vex after a prefix", []byte{0x66, 0xc5, 0xf8, 0x77}, nil},
		{"xop", []byte{0x8f, 0xe8, 0x78, 0xc2, 0xec, 0x0e}, nil},
		{"pop rax by 8f", []byte{0x8f, 0xc0}, []byte{0x8f, 0xc0}},
		{"cut off", []byte{0x48, 0x8d, 0x05, 1, 0, 0}, nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			original := bytes.Clone(row.code)
			out, n, ok := Displace(row.code, from, to)
			if ok != (row.want != nil) || !bytes.Equal(out, row.want) || n != len(row.want) {
				t.Errorf("% x: got % x, length %d, %v; want % x", row.code, out, n, ok, row.want)
			}
			if !bytes.Equal(row.code, original) {
				t.Error("the original has changed")
			}
		})
	}
}
