package cfi_test

import (
	"fmt"
	"log"

	"dbg/frames"
	"dbg/image"
)

// The rows of a file's .eh_frame, those of its first function.
func Example_rows() {
	file, err := image.Open("../testdata/demo/demo")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	_, ehFrame := frames.ModuleOf(file, nil).Tables(file.Arch())
	for fde, err := range ehFrame.FDEs() {
		if err != nil {
			log.Fatal(err)
		}
		for r, err := range ehFrame.Rows(fde) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(r.Format(file.Arch()))
		}
		break
	}
	// Output:
	// 0000000000401000 cfa=rsp+8 ra=c-8
	// 0000000000401001 cfa=rsp+16 rbp=c-16 ra=c-8
	// 0000000000401004 cfa=rbp+16 rbp=c-16 ra=c-8
	// 0000000000401029 cfa=rsp+8 rbp=c-16 ra=c-8
}
