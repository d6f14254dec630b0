// Package inflate answers one question: what does compressed data in an object file inflate to,
// within bounds?
//
// [Open] inflates a section in zlib or zstd as far as it is read, [XZ] a whole file in xz. A section
// claims its size itself, so its caller asks a [Budget] before it allocates the memory. Package
// image is the only caller: it reads the headers of compressed sections.
//
// A Stream and a Budget may be used by one goroutine at a time.
package inflate
