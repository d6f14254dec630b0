package code

// classes2 lists the classes of the opcodes that begin with 0f, in the notation of classes1. e
// and E lead to three bytes.
const classes2 = "" +
	"!!rrx!....x!xm.i" +
	"mmmmmmmmmmmmmm!m" +
	"wwmmxxxxmmmmrrmm" +
	".!!!...." + "exExxxxx" +
	"rrrrrrrrrrrrrrrr" +
	"rmmmmmmmmmmmmmmm" +
	"mmmmmmmmmmmmmmmm" +
	"iiiimmm.mmxxmm!m" +
	"!!!!!!!!!!!!!!!!" +
	"wwwwwwwwwwwwwwww" +
	"!!!mWwxx!!xwWw!r" +
	"!!rwrrrrrm!wrrrr" +
	"bbimiRim!!!!!!!!" +
	"mmmmmmmrmmmmmmmm" +
	"mmmmmmmmmmmmmmmm" +
	"mmmmmmmmmmmmmmmm"

func (d *x86) twoBytes() {
	op := d.byte()
	switch class := classes2[op]; class {
	case 'e':
		d.map38()
	case 'E': // only PEXTR writes a general register here
		op := d.byte()
		if d.modrm(); 0x14 <= op && op <= 0x17 {
			d.killRM(false)
		}
		d.n++
	case '!':
		d.special0f(op)
	default:
		// Byte operands: SETcc, CMPXCHG, XADD; but not values extended from a byte.
		bytes := op&0xf0 == 0x90 || op == 0xc0
		d.plain(class, bytes)
		if op == 0xc7 && d.mod == 3 { // RDRAND, RDSEED, RDPID
			d.kill(d.rm)
		} else if op == 0xc7 { // CMPXCHG16B
			d.Kills |= 1<<rax | 1<<rdx
		}
	}
}

func (d *x86) special0f(op byte) {
	switch {
	case op&0xf0 == 0x80:
		d.Next = Branch
		if op == 0x84 {
			d.Cond = Equal
		} else if op == 0x85 {
			d.Cond = NotEqual
		}
		d.rel(4)
		return
	case op&0xf8 == 0xc8: // BSWAP
		d.kill(op&7 | d.rex&1<<3)
		return
	}
	switch op {
	case 0x00: // SLDT, STR
		d.modrm()
		d.killRM(false)
	case 0x01: // SMSW; XGETBV, RDTSCP and others
		if d.modrm(); d.mod == 3 {
			switch c := d.b[min(d.n, len(d.b))-1]; {
			case d.reg&7 == 4:
				d.kill(d.rm)
			case c == 0xef: // WRPKRU
			case c == 0xd0, c == 0xee: // XGETBV, RDPKRU
				d.Kills = 1<<rax | 1<<rdx
			default:
				d.Kills = 1<<rax | 1<<rcx | 1<<rdx
			}
		}
	case 0x05: // SYSCALL
		d.Kills = d.call
	case 0x0b: // UD2
		d.Next = Trap
	case 0x1e: // RDSSP
		if d.modrm(); d.repf3 && d.mod == 3 && d.reg&7 == 1 {
			d.kill(d.rm)
		}
	case 0x31, 0x32, 0x33: // RDTSC, RDMSR, RDPMC
		d.Kills = 1<<rax | 1<<rdx
	case 0x7e: // MOVD, MOVQ
		if d.modrm(); !d.repf3 {
			d.killRM(false)
		}
	case 0xa0, 0xa8:
		d.Op = Push
	case 0xa1, 0xa9:
		d.Op = Pop
	case 0xa2: // CPUID
		d.Kills = 1<<rax | 1<<rbx | 1<<rcx | 1<<rdx
	case 0xae: // RDFSBASE
		if d.modrm(); d.repf3 && d.mod == 3 && d.reg&7 < 2 {
			d.kill(d.rm)
		}
	case 0xb0, 0xb1: // CMPXCHG
		d.modrm()
		d.killRM(op == 0xb0)
		d.kill(rax)
	case 0xba: // BT with an immediate, BTS and similar
		if d.modrm(); d.reg&7 > 4 {
			d.killRM(false)
		}
		d.n++
	default:
		d.Next = Bad
	}
}

// map38 decodes MOVBE, CRC32, ADCX and ADOX, which are among vector instructions.
func (d *x86) map38() {
	op := d.byte()
	d.modrm()
	switch {
	case op == 0xf0, op == 0xf1 && d.repf2, op == 0xf6 && (d.opsize || d.repf3):
		d.kill(d.reg)
	}
}

// vector decodes an instruction with a VEX, EVEX or XOP prefix.
func (d *x86) vector() {
	n := vectorLength(d.b)
	if d.hasRex || n == 0 {
		d.Next = Bad
		return
	}
	d.n, d.Kills = n, uint32(vectorWrites(d.b))
}
