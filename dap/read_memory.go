package dap

import (
	"context"
	"encoding/base64"

	godap "github.com/google/go-dap"
)

// maxMemory limits one read, in bytes.
const maxMemory = 16 << 20

// readMemory reads bytes. Bytes after the first unreadable one are only counted, which is not an
// error. Reading 0 bytes always succeeds.
func (s *server) readMemory(_ context.Context, args godap.ReadMemoryArguments) (any, error) {
	a, err := parseMemoryReference(args.MemoryReference, args.Offset)
	if err != nil {
		return nil, err
	}
	if args.Count < 0 || args.Count > maxMemory {
		return nil, badArguments("invalid count of %d bytes; at most %d can be read at once", args.Count, maxMemory)
	}
	body := godap.ReadMemoryResponseBody{Address: memoryReference(a)}
	if args.Count == 0 {
		return body, nil
	}
	// There is nothing after the last address.
	count := args.Count
	if room := -uint64(a); a != 0 && room < uint64(count) {
		count = int(room)
	}
	buf := make([]byte, count)
	n, _ := s.query.ReadMemory(a, buf)
	body.Data = base64.StdEncoding.EncodeToString(buf[:n])
	body.UnreadableBytes = args.Count - n
	return body, nil
}
