module dbg

go 1.26
