package minidump

import (
	"fmt"

	"dbg/arch"
)

// system is MINIDUMP_SYSTEM_INFO.
type system struct {
	known               bool
	processor           uint16 // PROCESSOR_ARCHITECTURE_
	platform            uint32 // VER_PLATFORM_, or Breakpad's numbers
	major, minor, build uint32
	processors          uint8
	version             string // service pack, build or uname
	vendor              string // of an x86 processor, from CPUID
}

// processors lists PROCESSOR_ARCHITECTURE_ constants (winnt.h) and Breakpad's (above 0x8000).
var processors = map[uint16]struct {
	name string
	arch *arch.Arch
}{
	0: {"x86", arch.I386}, 1: {"MIPS", nil}, 2: {"Alpha", nil}, 3: {"PowerPC", nil}, 4: {"SuperH", nil}, 5: {"ARM",
		arch.ARM},
	6: {"Itanium", nil}, 7: {"Alpha64", nil}, 8: {"MSIL", nil}, 9: {"x86-64", arch.AMD64}, 10: {"x86 (WOW64)", arch.I386},
	12: {"ARM64", arch.ARM64}, 0x8001: {"SPARC", nil}, 0x8002: {"PowerPC64", nil}, 0x8003: {"ARM64", arch.ARM64},
	0x8004: {"MIPS64", nil}, 0x8005: {"RISC-V 32", nil}, 0x8006: {"RISC-V 64", nil},
}

// platforms lists VER_PLATFORM_ constants (winnt.h) and Breakpad's (above 0x8000).
var platforms = map[uint32]string{
	0: "Windows 3.1", 1: "Windows 9x", 2: "Windows", 3: "Windows CE", 0x8000: "Unix", 0x8101: "macOS", 0x8102: "iOS",
	0x8201: "Linux",
	0x8202: "Solaris", 0x8203: "Android", 0x8204: "PlayStation 3", 0x8205: "Native Client", 0x8206: "Fuchsia",
}

// windows reports whether the process ran on Windows.
func (s *system) windows() bool { return s.known && s.platform <= 3 }

// apple reports whether the process ran on macOS or iOS.
func (s *system) apple() bool { return s.platform == 0x8101 || s.platform == 0x8102 }

// machine names the processor, for messages.
func (s *system) machine() string {
	if !s.known {
		return "the dump has no system information"
	}
	if p, ok := processors[s.processor]; ok {
		return p.name
	}
	return fmt.Sprintf("type 0x%x", s.processor)
}

// readSystem reads the processor and the system.
func (d *Dump) readSystem() {
	b := d.streams[streamSystem]
	if len(b) < 24 {
		if b != nil {
			d.warn("the minidump is damaged: its system information has %d bytes", len(b))
			delete(d.streams, streamSystem)
		}
		return
	}
	s := system{known: true, processor: le.Uint16(b), processors: b[6], major: le.Uint32(b[8:]), minor: le.Uint32(b[12:]),
		build: le.Uint32(b[16:]), platform: le.Uint32(b[20:])}
	if len(b) >= 28 {
		s.version = d.text(uint64(le.Uint32(b[24:])))
	}
	d.system, d.arch = s, processors[s.processor].arch
	if (d.arch == arch.AMD64 || d.arch == arch.I386) && len(b) >= 44 && le.Uint32(b[32:]) != 0 {
		d.system.vendor = string(cleanASCII(b[32:44]))
	}
}

// cleanASCII returns the printable bytes of b.
func cleanASCII(b []byte) []byte {
	var out []byte
	for _, c := range b {
		if c >= ' ' && c < 0x7f {
			out = append(out, c)
		}
	}
	return out
}

// Platform returns the name and version of the system on which the process ran, or "".
func (d *Dump) Platform() string {
	s := &d.system
	if !s.known {
		return ""
	}
	name, ok := platforms[s.platform]
	if !ok {
		name = fmt.Sprintf("platform 0x%x", s.platform)
	}
	if s.major|s.minor|s.build != 0 {
		name += fmt.Sprintf(" %d.%d.%d", s.major, s.minor, s.build)
	}
	if s.version != "" {
		name += " " + s.version
	}
	return name
}

// misc is MINIDUMP_MISC_INFO, the fields of all versions that begin in the same way.
type misc struct {
	pid                     int
	times                   bool
	created, user, inKernel uint32 // time_t, seconds, seconds
}

// readMisc reads the process id and times. Linux's status file has the id, too.
func (d *Dump) readMisc() {
	b := d.streams[streamMisc]
	if len(b) >= 12 {
		flags := le.Uint32(b[4:])
		if flags&1 != 0 {
			d.misc.pid = int(le.Uint32(b[8:]))
		}
		if flags&2 != 0 && len(b) >= 24 {
			d.misc.times, d.misc.created, d.misc.user, d.misc.inKernel = true, le.Uint32(b[12:]), le.Uint32(b[16:]),
				le.Uint32(b[20:])
		}
	}
	if d.misc.pid == 0 {
		d.misc.pid = d.statusNumber("Pid:")
	}
}
