package minidump

import (
	"fmt"
	"math/bits"

	"dbg/target"
)

// crashpad is MinidumpCrashpadInfo.
type crashpad struct {
	report, client string // ids, or ""
	annotations    []target.Note
	codeBits       uint8 // of ARM64
}

// readCrashpad reads Crashpad's stream: a version, two GUIDs, the places of a dictionary and of a
// list of modules, and the address mask.
func (d *Dump) readCrashpad() {
	b := d.streams[streamCrashpad]
	if len(b) < 36 {
		return
	}
	c := &d.crashpad
	c.report, c.client = nonZero(b[4:20]), nonZero(b[20:36])
	if len(b) >= 44 {
		part, _ := d.at(b[36:])
		d.readDictionary("", part)
	}
	if len(b) >= 52 {
		part, _ := d.at(b[44:])
		d.readModuleAnnotations(part)
	}
	if len(b) >= 64 {
		c.codeBits = addressBits(le.Uint64(b[56:]))
	}
}

// addressBits returns the number of bits of a code address, from a mask that has either these bits
// or the others, or 0.
func addressBits(mask uint64) uint8 {
	n := bits.TrailingZeros64(^mask)
	if mask&1 == 0 {
		n = bits.TrailingZeros64(mask)
	}
	if 32 <= n && n <= 56 {
		return uint8(n)
	}
	return 0
}

func nonZero(b []byte) string {
	if id := guid(b); id != "00000000000000000000000000000000" {
		return id
	}
	return ""
}

// note adds an annotation.
func (d *Dump) note(name, text string) {
	if len(d.crashpad.annotations) < mostNotes && name != "" {
		d.crashpad.annotations = append(d.crashpad.annotations, target.Note{Name: name, Text: text})
	}
}

// counted returns the entries of a list that begins with a count of 32 bits.
func counted(b []byte, size uint64) [][]byte {
	if len(b) < 4 {
		return nil
	}
	n := min(uint64(le.Uint32(b)), uint64(len(b)-4)/size, mostNotes)
	out := make([][]byte, n)
	for i := range out {
		out[i] = b[4+uint64(i)*size:][:size:size]
	}
	return out
}

// readDictionary reads MinidumpSimpleStringDictionary: pairs of places of UTF-8 strings.
func (d *Dump) readDictionary(module string, b []byte) {
	for _, e := range counted(b, 8) {
		if key := d.utf8Text(uint64(le.Uint32(e))); key != "" {
			d.note(module+key, d.utf8Text(uint64(le.Uint32(e[4:]))))
		}
	}
}

// readModuleAnnotations reads MinidumpModuleCrashpadInfoList: the index of a module, and the place of
// its MinidumpModuleCrashpadInfo, which has a list of strings, a dictionary, and a list of typed
// annotations.
func (d *Dump) readModuleAnnotations(b []byte) {
	for _, link := range counted(b, 12) {
		info, _ := d.at(link[4:])
		module := fmt.Sprintf("module %d: ", le.Uint32(link))
		if i := uint64(le.Uint32(link)); i < uint64(len(d.modules)) {
			module = BaseName(d.modules[i].Path) + ": "
		}
		if len(info) >= 12 {
			list, _ := d.at(info[4:])
			for i, e := range counted(list, 4) {
				d.note(fmt.Sprintf("%s#%d", module, i), d.utf8Text(uint64(le.Uint32(e))))
			}
		}
		if len(info) >= 20 {
			part, _ := d.at(info[12:])
			d.readDictionary(module, part)
		}
		if len(info) >= 28 {
			list, _ := d.at(info[20:])
			d.readObjects(module, list)
		}
	}
}

// annotationString is the type of an annotation with a string: crashpad::Annotation::Type::kString.
const annotationString = 1

// readObjects reads MinidumpAnnotationList: places of a name and a value, and a type between them.
func (d *Dump) readObjects(module string, b []byte) {
	for _, e := range counted(b, 12) {
		name, value := d.utf8Text(uint64(le.Uint32(e))), uint64(le.Uint32(e[8:]))
		if name == "" {
			continue
		}
		text := d.utf8Text(value)
		if typ := le.Uint16(e[4:]); typ != annotationString {
			text = fmt.Sprintf("%x (type %d)", text, typ)
		}
		d.note(module+name, text)
	}
}
