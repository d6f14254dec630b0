package compact_test

import (
	"fmt"
	"log"

	"dbg/compact"
	"dbg/image"
	"dbg/row"
)

// The compact table of a Mach-O file: a row for the body of each function.
func Example_file() {
	file, err := image.Open("sorts.dylib")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	section, _ := file.Section("__unwind_info")
	table, err := compact.New(compact.Config{Arch: file.Arch(), Data: section.Data, Base: uint64(file.HeaderAddr())})
	if err != nil {
		log.Fatal(err)
	}
	for entry, err := range table.All() {
		if err != nil {
			log.Fatal(err)
		}
		var r row.Row
		if err := table.Row(entry, &r); err != nil {
			fmt.Printf("%x %s: %v\n", entry.Lo, entry.Opcode.String(file.Arch()), err)
			continue
		}
		fmt.Println(r.Format(file.Arch()))
	}
}
