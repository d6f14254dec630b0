package unwindtable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"dbg/image"
	"dbg/image/archive"
	safe "dbg/internal/plain"
)

// memberOf splits the path of a member of an archive: libx.a(member.o).
func memberOf(path string) (file, member string, ok bool) {
	if !strings.HasSuffix(path, ")") {
		return "", "", false
	}
	if _, err := os.Stat(path); err == nil {
		return "", "", false
	}
	i := strings.LastIndexByte(path, '(')
	if i <= 0 {
		return "", "", false
	}
	return path[:i], path[i+1 : len(path)-1], true
}

// printPath prints a file, an archive or a member of one.
func printPath(ctx context.Context, w io.Writer, path string, opt Options) error {
	file, member, one := memberOf(path)
	if !one {
		file = path
	}
	m, err := image.Map(file)
	if err != nil {
		return err
	}
	defer m.Close()
	switch data := m.Bytes(); {
	case archive.Begins(data):
		return printArchive(ctx, w, archiveFile{file, data, member}, opt)
	case one:
		return fmt.Errorf("%s: it is not an archive, so it has no member %s", file, safe.Line(member))
	}
	img, err := image.Open(path)
	if err != nil {
		return err
	}
	defer img.Close()
	return printImage(ctx, w, img, opt)
}

// archiveFile is an archive, and the member that is printed: "" for all.
type archiveFile struct {
	path   string
	data   []byte
	member string
}

// printArchive prints the members one after the other. A member without unwind tables is no error unless
// none has any.
func printArchive(ctx context.Context, w io.Writer, a archiveFile, opt Options) error {
	if archive.IsThin(a.data) {
		return a.thin()
	}
	found, printed := false, false
	for m, err := range archive.Members(a.data) {
		if err != nil {
			return fmt.Errorf("%s: %w", a.path, err)
		}
		if a.member != "" && a.member != m.Name {
			continue
		}
		found = true
		ok, err := a.print(ctx, w, m, opt)
		if err != nil {
			return err
		}
		printed = printed || ok
	}
	switch {
	case a.member != "" && !found:
		return fmt.Errorf("%s: it has no member %s", a.path, safe.Line(a.member))
	case printed:
		return nil
	case opt.PC != nil || opt.Func != "":
		return fmt.Errorf("%s: no entry of its members is for what was asked for", a.path)
	}
	return fmt.Errorf("%s: no member has unwind tables", a.path)
}

// print prints a member, and reports whether it has entries.
func (a archiveFile) print(ctx context.Context, w io.Writer, m archive.Member, opt Options) (bool, error) {
	name := fmt.Sprintf("%s(%s)", a.path, m.Name)
	out := &headed{w: w}
	if opt.member = m.Name; opt.Raw || !opt.JSON {
		out.heading = fmt.Sprintf("File: %s\n", safe.Line(name)) // as readelf has it
	}
	img, err := image.FromMemory(name, m.Data)
	if err == nil {
		err = printImage(ctx, out, img, opt)
		img.Close()
	}
	switch {
	case out.err != nil:
		if errors.Is(out.err, syscall.EPIPE) {
			return true, nil
		}
		return false, out.err
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err == nil:
		return true, nil
	case opt.PC != nil || opt.Func != "":
		return false, nil // another member may have it
	case opt.JSON:
		_, err = fmt.Fprintf(out, `{"member":%s,"error":%s}`+"\n", quoted(m.Name), quoted(err.Error()))
	default:
		_, err = fmt.Fprintf(out, "%s\n", safe.Line(err.Error()))
	}
	return false, err
}

// thin is the error of an archive whose members are other files.
func (a archiveFile) thin() error {
	const most = 5
	var names []string
	for m, err := range archive.Members(a.data) {
		if err != nil {
			break
		}
		if len(names) == most {
			names = append(names, "…")
			break
		}
		names = append(names, safe.Line(m.Name))
	}
	return fmt.Errorf("%s: it is a thin archive, so its members are in other files: %s", a.path, strings.Join(names, ", "))
}

// headed writes a heading before the first bytes.
type headed struct {
	w       io.Writer
	heading string
	err     error // the first error of w
}

func (h *headed) Write(b []byte) (int, error) {
	if h.err == nil && h.heading != "" && len(b) > 0 {
		_, h.err = io.WriteString(h.w, h.heading)
		h.heading = ""
	}
	if h.err != nil {
		return 0, h.err
	}
	var n int
	n, h.err = h.w.Write(b)
	return n, h.err
}
