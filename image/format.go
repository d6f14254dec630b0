package image

import (
	"bytes"
	"dbg/image/macho"
	"dbg/image/pe"
	"debug/elf"
)

// Format is a file format that the package reads.
type Format uint8

const (
	ELF   Format = iota // System V ABI
	MachO               // Apple, <mach-o/loader.h>
	PE                  // Microsoft, "PE Format"
)

func (f Format) String() string { return [...]string{"ELF", "Mach-O", "PE"}[f] }

// Format returns the file's format. All other methods mean the same in both formats, unless their
// comments say otherwise.
func (f *File) Format() Format {
	if f.macho != nil {
		return MachO
	}
	if f.pe != nil {
		return PE
	}
	return ELF
}

// parse reads the headers of a file of any format. choose selects the slice of a fat file. With
// strict, headers outside the data are an error even where the rest could be read without them.
func (f *File) parse(strict bool, choose chooser) error {
	b := f.data
	switch {
	case bytes.HasPrefix(b, []byte(elf.ELFMAG)):
		return f.parseELF(strict)
	case macho.Begins(b):
		return f.parseMachO(strict)
	case macho.BeginsFat(b):
		return f.parseFat(strict, choose)
	case pe.Begins(b):
		return f.parsePE(strict)
	case bytes.HasPrefix(b, []byte("#!")):
		line, _, _ := bytes.Cut(b[2:min(len(b), 256)], []byte("\n"))
		return &OpenError{Path: f.path, Reason: IsScript, Detail: string(bytes.TrimSpace(line))}
	case bytes.HasPrefix(b, []byte("dyld_v1 ")):
		return &OpenError{Path: f.path, Reason: UnsupportedFormat, Detail: "a dyld shared cache"}
	}
	return &OpenError{Path: f.path, Reason: UnknownFormat, Detail: "it begins with " + describe(b)}
}
