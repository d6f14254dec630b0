package instruction

import "testing"

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want Class
	}{
		{"syscall", []byte{0x0f, 0x05}, Syscall},
		{"sysenter", []byte{0x0f, 0x34}, Syscall},
		{"int 0x80", []byte{0xcd, 0x80}, Syscall},
		{"int 3", []byte{0xcd, 0x03}, Other},
		{"pushf", []byte{0x9c}, Pushf},
		{"pushfw", []byte{0x66, 0x9c}, Pushf},
		{"rep movsq", []byte{0xf3, 0x48, 0xa5}, Repeat},
		{"repne scasb", []byte{0xf2, 0xae}, Repeat},
		{"rep insb", []byte{0xf3, 0x6c}, Repeat},
		{"movsq", []byte{0x48, 0xa5}, Other},
		{"endbr64", []byte{0xf3, 0x0f, 0x1e, 0xfa}, Other},
		{"cut", []byte{0x0f}, Other},
		{"nothing", nil, Other},
	} {
		if got := classOf(c.code); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A thread that stops out of line gets the PC that it would have in the program.
func TestBack(t *testing.T) {
	c := Copy{From: 0x1000, To: 0x2000, slot: 1, n: 4, out: 7}
	if pc, executed, ok := c.Back(0x2000); pc != 0x1000 || executed || !ok {
		t.Errorf("before the copy: %v %v %v", pc, executed, ok)
	}
	if pc, executed, ok := c.Back(0x2007); pc != 0x1004 || !executed || !ok {
		t.Errorf("after the copy: %v %v %v", pc, executed, ok)
	}
	if _, _, ok := c.Back(0x3000); ok {
		t.Error("the instruction has jumped")
	}
	if !c.Away() || (&Copy{}).Away() {
		t.Error("Away")
	}
}
