package module

import "dbg/image"

// threadStarts are the functions in which C libraries and linkers begin a process or a thread. Some
// are entered with a return address of zero, such as bionic's __start_thread.
var threadStarts = map[string]bool{"_start": true, "__start": true, "_dl_start_user": true,
	"clone": true, "__clone": true, "clone3": true, "__clone3": true, "__bionic_clone": true,
	"thread_start": true, "__thread_start": true, "start_thread": true, "__start_thread": true}

// IsThreadStart reports whether pc, an address in the file, is in one of threadStarts.
func (m *Module) IsThreadStart(pc uint64) bool {
	m.startsOnce.Do(func() {
		if m.contents.file == nil {
			return
		}
		for _, f := range []*image.File{m.contents.file, m.contents.debug, m.miniDebug()} {
			if f == nil {
				continue
			}
			for _, s := range m.contents.symbolsOf(f) {
				if s.Size > 0 && threadStarts[s.Name] {
					m.threads = append(m.threads, Range{uint64(s.Addr), uint64(s.Addr) + s.Size})
				}
			}
		}
	})
	for _, r := range m.threads {
		if r.Lo <= pc && pc < r.Hi {
			return true
		}
	}
	return false
}
