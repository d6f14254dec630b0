package session

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MemoryFormat is a format of files with the contents of memory.
type MemoryFormat uint8

const (
	Binary   MemoryFormat = iota
	SRecord               // Motorola S-records
	IntelHex              // Intel hexadecimal
	Verilog               // the input of $readmemh
)

// memoryWriter writes the bytes from an address on in one of the formats.
type memoryWriter struct {
	w      io.Writer
	format MemoryFormat
	at     uint64
	upper  uint64 // IntelHex: the upper 16 bits of the address, as last written
	width  int    // SRecord: bytes of an address
	line   []byte // what is not written yet
}

// recordSize is the number of bytes in a record, as the GNU tools write it.
const recordSize = 16

// newMemoryWriter begins a file for the range [lo, hi).
func newMemoryWriter(w io.Writer, format MemoryFormat, name string, lo, hi uint64) (*memoryWriter, error) {
	m := &memoryWriter{w: w, format: format, at: lo}
	switch format {
	case IntelHex:
		if hi-1 > 0xffffffff {
			return nil, fmt.Errorf("64-bit address 0x%x out of range for Intel Hex file", lo)
		}
	case SRecord:
		m.width = 4
		if hi-1 <= 0xffff {
			m.width = 2
		} else if hi-1 <= 0xffffff {
			m.width = 3
		}
		return m, m.sRecord('0', 2, 0, []byte(name[:min(len(name), 40)]))
	case Verilog:
		digits := 8
		if hi-1 > 0xffffffff {
			digits = 16
		}
		_, err := fmt.Fprintf(w, "@%0*X\r\n", digits, lo)
		return m, err
	}
	return m, nil
}

// Write implements io.Writer.
func (m *memoryWriter) Write(b []byte) (int, error) {
	if m.format == Binary {
		return m.w.Write(b)
	}
	m.line = append(m.line, b...)
	for len(m.line) >= recordSize {
		if err := m.record(m.line[:recordSize]); err != nil {
			return 0, err
		}
		m.line = m.line[recordSize:]
	}
	return len(b), nil
}

// finish writes the rest.
func (m *memoryWriter) finish() error {
	if len(m.line) > 0 {
		if err := m.record(m.line); err != nil {
			return err
		}
	}
	switch m.format {
	case SRecord:
		return m.sRecord(byte('0'+11-m.width), m.width, 0, nil)
	case IntelHex:
		return m.hexRecord(0, 1, nil)
	}
	return nil
}

// record writes at most recordSize bytes.
func (m *memoryWriter) record(b []byte) (err error) {
	switch m.format {
	case SRecord:
		err = m.sRecord(byte('0'+m.width-1), m.width, m.at, b)
	case IntelHex:
		err = m.hexRecords(b)
	case Verilog:
		_, err = fmt.Fprintf(m.w, "% X\r\n", b)
	}
	m.at += uint64(len(b))
	return err
}

// sRecord writes S, the type, the number of the bytes that follow, an address, data, and the
// complement of the sum.
func (m *memoryWriter) sRecord(typ byte, width int, at uint64, data []byte) error {
	b := []byte{byte(width + len(data) + 1)}
	for i := width - 1; i >= 0; i-- {
		b = append(b, byte(at>>(8*i)))
	}
	b = append(b, data...)
	b = append(b, ^sum(b))
	_, err := fmt.Fprintf(m.w, "S%c%X\r\n", typ, b)
	return err
}

// hexRecords writes data, and the upper half of the address when it changes. A record does not
// cross that border.
func (m *memoryWriter) hexRecords(b []byte) error {
	for at := m.at; len(b) > 0; {
		if at>>16 != m.upper {
			m.upper = at >> 16
			if err := m.hexRecord(0, 4, []byte{byte(m.upper >> 8), byte(m.upper)}); err != nil {
				return err
			}
		}
		n := min(uint64(len(b)), 0x10000-at&0xffff)
		if err := m.hexRecord(uint16(at), 0, b[:n]); err != nil {
			return err
		}
		b, at = b[n:], at+n
	}
	return nil
}

func (m *memoryWriter) hexRecord(at uint16, typ byte, data []byte) error {
	b := append([]byte{byte(len(data)), byte(at >> 8), byte(at), typ}, data...)
	b = append(b, -sum(b))
	_, err := fmt.Fprintf(m.w, ":%X\r\n", b)
	return err
}

func sum(b []byte) (s byte) {
	for _, v := range b {
		s += v
	}
	return s
}

var errRecord = errors.New("damaged record")

// parseRecord reads a line of S-records or Intel hexadecimal. data is nil if the line has none.
// upper is the state of an Intel file.
func parseRecord(line []byte, upper *uint64) (at uint64, data []byte, err error) {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return 0, nil, nil
	case line[0] == ':':
		b, err := hex.DecodeString(string(line[1:]))
		if err != nil || len(b) < 5 || int(b[0]) != len(b)-5 || sum(b) != 0 {
			return 0, nil, errRecord
		}
		data := b[4 : len(b)-1]
		switch typ := b[3]; {
		case typ == 0:
			return *upper + uint64(b[1])<<8 + uint64(b[2]), data, nil
		case typ == 2 && len(data) == 2:
			*upper = (uint64(data[0])<<8 | uint64(data[1])) << 4
		case typ == 4 && len(data) == 2:
			*upper = (uint64(data[0])<<8 | uint64(data[1])) << 16
		case typ != 1 && typ != 3 && typ != 5:
			return 0, nil, errRecord
		}
		return 0, nil, nil
	case line[0] == 'S' && len(line) > 2:
		b, err := hex.DecodeString(string(line[2:]))
		if err != nil || len(b) < 3 || int(b[0]) != len(b)-1 || sum(b) != 0xff {
			return 0, nil, errRecord
		}
		width := strings.IndexByte("  123", line[1]) // S1 has two bytes of address
		if line[1] < '1' || line[1] > '3' {
			return 0, nil, nil
		}
		if len(b) < width+2 {
			return 0, nil, errRecord
		}
		for _, v := range b[1 : 1+width] {
			at = at<<8 | uint64(v)
		}
		return at, b[1+width : len(b)-1], nil
	}
	return 0, nil, errRecord
}
