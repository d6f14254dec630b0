package repl_test

import (
	"regexp"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

var anyAddress = regexp.MustCompile(`0x[0-9a-f]+`)

// TestObjectCommands has gdb's words for dynamic types in the commands of the terminal.
func TestObjectCommands(t *testing.T) {
	exe := fixture.Build(t, "types/objects.cc", "-g", "-O0", "-std=c++17")
	commands := []struct{ command, want string }{
		{"whatis square", "type = shapes::Shape *\n"},
		{"print square", "$1 = (shapes::Shape *) 0x\n"},
		{"print -object -- square", "$2 = (shapes::Square *) 0x\n"},
		{"print -object on -vtbl on -- *square", "$3 = (shapes::Square) {<shapes::Shape> = {_vptr.Shape = 0x <vtable for shapes::Square+16> " +
			"{0x <shapes::Square::~Square()>, 0x <shapes::Square::~Square()>, 0x <shapes::Square::area() const>, 0x <shapes::Shape::grow(int)>}, " +
			"id = 1, static count = 7}, side = 3}\n"},
		{"set print object on", ""},
		{"show print object", "Printing of object's derived types is on.\n"},
		{"whatis square", "type = /* real type = shapes::Square * */\nshapes::Shape *\n"},
		{"whatis ref", "type = /* real type = shapes::Label & */\nshapes::Shape &\n"},
		{"whatis constant", "type = /* real type = const shapes::Square * */\nconst shapes::Shape *\n"},
		{"whatis *square", "type = shapes::Shape\n"},
		{"whatis square->side", "type = int\n"},
		{"whatis nothing", "type = shapes::Shape *\n"},
		{"print second->text", "$4 = 4\n"},
		{"info vtbl plain", "This object does not have a virtual function table\n"},
		{"info vtbl nothing", "Cannot access memory at address 0x\n"},
		{"set print object off", ""},
		{"info vtbl late", "vtable for 'shapes::Named' @ 0x (subobject @ 0x):\n[0]: 0x <shapes::Named::length()>\n" +
			"[1]: 0x <Late::~Late()>\n[2]: 0x <Late::~Late()>\n"},
		{"set print pretty on", ""},
		{"print value", "$5 = {\n  <shapes::Shape> = {\n    _vptr.Shape = 0x <vtable for shapes::Square+16>,\n    id = 1,\n    static count = 7\n  }, \n" +
			"  members of shapes::Square:\n  side = 3\n}\n"},
	}
	list := []string{"break stop", "run", "up"}
	for _, c := range commands {
		list = append(list, c.command)
	}
	got := answers(t, exe, list...)[3:]
	for i, c := range commands {
		if text := anyAddress.ReplaceAllString(got[i], "0x"); text != c.want {
			t.Errorf("%s\n is\n%s want\n%s", c.command, text, c.want)
		}
	}
}

// TestMembers shows captures of lambdas, flags, bit-fields and unions, with gdb's texts.
func TestMembers(t *testing.T) {
	for _, flags := range [][]string{{"cc=g++", "-g", "-O0"}, {"cc=clang++-19", "-g", "-O0"}} {
		t.Run(flags[0], func(t *testing.T) {
			exe := fixture.Build(t, "types/members.cc", flags...)
			commands := [][2]string{
				{"print f", "{this = 0x, a = 1, b = @0x, c = 6}"},
				{"print f2", "F_MASK"}, {"print f1", "3"}, {"print f0", "0"}, {"print m1", "49"}, {"print m0", "M0"},
				{"print pe", "(Perm::R | Perm::X)"},
				{"print bits", "{a = 5, b = -3, c = true, d = F_B, p = Perm::W, e = -7}"},
				{"print/x bits", "{a = 0x5, b = 0xfffffffd, c = 0x1, d = 0x2, p = 0x2, e = 0xfffffffffffffff9}"},
				{"print bits.e", "-7"},
				{"print var.u", `{c = "abc", f = 9.12700582e-39}`},
				{"print var.x", "2"},
			}
			list := []string{"break S::stop", "run", "up"}
			for _, c := range commands {
				list = append(list, c[0])
			}
			got := answers(t, exe, list...)[3:]
			for i, c := range commands {
				_, text, _ := strings.Cut(strings.TrimSpace(got[i]), " = ")
				if text = anyAddress.ReplaceAllString(text, "0x"); c[0] == "print f" {
					text = strings.ReplaceAll(text, "__", "") // gcc's names of captures
				}
				if strings.HasPrefix(c[0], "print/x") {
					text = strings.TrimSpace(got[i][strings.Index(got[i], "{"):])
				}
				if text != c[1] {
					t.Errorf("%s is %s, want %s", c[0], text, c[1])
				}
			}
		})
	}
}
