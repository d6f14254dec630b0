package code

// LooksLikeThumb reports whether code of 32-bit ARM is Thumb code: most of its words do not look like
// unconditional ARM instructions, which most are. Eight words suffice.
func LooksLikeThumb(b []byte) bool {
	words, always := len(b)/4, 0
	for i := range words {
		if b[4*i+3]>>4 == 14 {
			always++
		}
	}
	return words < 2 || 2*always <= words
}
