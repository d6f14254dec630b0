package frames_test

import (
	"context"
	"fmt"
	"log"

	"dbg/frames"
	"dbg/target/kinds"
)

// The stack of each thread of a core file, with the files that the core names.
func Example_core() {
	core, err := kinds.Open(kinds.Spec{Core: &kinds.Core{Path: "core"}})
	if err != nil {
		log.Fatal(err)
	}
	defer core.Close()
	space, err := frames.NewAddressSpace(core, frames.AddressSpaceOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer space.Close()
	unwinder := frames.New(core.Arch(), space)
	for _, thread := range core.Threads() {
		regs, err := core.Registers(thread.ID)
		if err != nil {
			log.Fatal(err)
		}
		walk := unwinder.Walk(&regs)
		for f := range walk.Frames(context.Background()) {
			fmt.Printf("#%d %v by %v (%v)\n", f.Index, f.PC, f.Strategy, f.Trust)
		}
		end := walk.End()
		fmt.Println(end.Message())
	}
}
