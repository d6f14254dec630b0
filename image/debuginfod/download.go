package debuginfod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"dbg/image"
)

// enoughBytes is the number of bytes that must arrive in each Timeout
// (debuginfod-client-config(7)).
const enoughBytes = 100 << 10

var (
	errNotThere = errors.New("it has no such file")
	errSlow     = errors.New("too slow")
	errTooLong  = errors.New("it took longer than DEBUGINFOD_MAXTIME")
)

// refusal is the error of a server that answers, but not with the file. The server is still asked
// for other files.
type refusal struct{ status string }

func (e *refusal) Error() string { return "it answered " + e.status }

// answer is a server's answer to a request. cancel ends its context.
type answer struct {
	url    string
	resp   *http.Response
	cancel context.CancelCauseFunc
	err    error
}

// get fetches one file from any server and returns its path in the cache.
func (c *Client) get(f *file) (string, error) {
	ctx := c.ctx
	if c.cfg.MaxTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.cfg.MaxTime, errTooLong)
		defer cancel()
	}
	failed := map[string]error{}
	for {
		urls, err := c.servers(failed)
		if err != nil {
			if len(failed) == len(c.cfg.URLs) && allNotThere(failed) {
				_ = c.cache.miss(f.kind, f.id) // an error only costs another request later
			}
			return "", err
		}
		a := c.ask(ctx, f, urls, failed)
		if a == nil {
			continue // all are in failed now
		}
		path, err := c.save(ctx, f, a)
		if err == nil {
			return path, nil
		}
		c.fail(ctx, a.url, err, failed)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
	}
}

func allNotThere(failed map[string]error) bool {
	for _, err := range failed {
		if err != errNotThere {
			return false
		}
	}
	return true
}

// fail records an error in a server's answer.
func (c *Client) fail(ctx context.Context, url string, err error, failed map[string]error) {
	failed[url] = err
	var refused *refusal
	var here *localError
	var write *fs.PathError // on our own file
	if err != errNotThere && !errors.As(err, &refused) && !errors.As(err, &here) && !errors.As(err, &write) && ctx.Err() == nil {
		c.bury(url, err)
	}
}

// localError is an error on this machine, not of the server.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

// ask sends the request to several servers at once and returns the first answer that has the
// file, or nil if no server has it. Servers that answered without it are added to failed.
func (c *Client) ask(ctx context.Context, f *file, urls []string, failed map[string]error) *answer {
	answers := make(chan *answer, len(urls))
	cancels := map[string]context.CancelCauseFunc{}
	for _, u := range urls {
		ctx, cancel := context.WithCancelCause(ctx)
		cancels[u] = cancel
		go func() {
			resp, err := c.request(ctx, u, f)
			answers <- &answer{u, resp, cancel, err}
		}()
	}
	var best *answer
	for n := range urls {
		a := <-answers
		if a.err != nil {
			a.cancel(nil)
			c.fail(ctx, a.url, a.err, failed)
			continue
		}
		best = a
		// Cancel the other requests, and close the bodies that still arrive.
		for u, cancel := range cancels {
			if u != a.url {
				cancel(nil)
			}
		}
		go func() {
			for range len(urls) - n - 1 {
				if a := <-answers; a.resp != nil {
					a.resp.Body.Close()
				}
			}
		}()
		break
	}
	return best
}

// request sends one request and checks the status.
func (c *Client) request(ctx context.Context, url string, f *file) (*http.Response, error) {
	full := strings.TrimSuffix(url, "/") + "/buildid/" + f.id + "/" + fileNames[f.kind]
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, full, nil)
	if err != nil {
		return nil, err
	}
	for name, values := range c.cfg.Headers {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", c.cfg.Agent)
	if c.cfg.MaxSize > 0 {
		req.Header.Set("X-DEBUGINFOD-MAXSIZE", strconv.FormatInt(c.cfg.MaxSize, 10))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, shorter(err)
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return resp, nil
	case http.StatusNotFound:
		err = errNotThere
	default:
		err = &refusal{resp.Status}
	}
	resp.Body.Close()
	return nil, err
}

// shorter removes from an error of net/http the parts that the caller's message has anyway.
func shorter(err error) error {
	var e interface{ Unwrap() error }
	if errors.As(err, &e) && strings.HasPrefix(err.Error(), "Get ") {
		return e.Unwrap()
	}
	return err
}

// save writes the body of an answer next to the final path of the file, checks it and renames it.
func (c *Client) save(ctx context.Context, f *file, a *answer) (path string, err error) {
	defer a.cancel(nil)
	defer a.resp.Body.Close()
	total := a.resp.ContentLength
	if n, e := strconv.ParseInt(a.resp.Header.Get("X-DEBUGINFOD-SIZE"), 10, 64); e == nil && n > 0 {
		total = n
	}
	total = max(total, 0)
	p := Progress{BuildID: f.id, URL: a.url, Total: total}
	c.progress(p)
	defer func() {
		p.End, p.Err = true, err
		c.progress(p)
	}()
	limit := int64(mostBytes)
	if c.cfg.MaxSize > 0 {
		limit = c.cfg.MaxSize
	}
	if total > limit {
		return "", &localError{fmt.Errorf("the file has %d bytes, more than %d", total, limit)}
	}
	out, err := c.cache.create(f.kind, f.id)
	if err != nil {
		return "", &localError{err}
	}
	defer func() {
		if err != nil {
			os.Remove(out.Name())
		}
	}()
	defer out.Close()
	if err := c.cache.room(total); err != nil {
		return "", &localError{err}
	}
	w := &watched{c: c, f: f, p: &p, limit: limit}
	stop := w.watch(c.cfg.Timeout, a.cancel)
	_, err = io.Copy(out, io.TeeReader(a.resp.Body, w))
	stop()
	if w.slow.Load() {
		err = fmt.Errorf("%w: less than %d KB in %v", errSlow, enoughBytes>>10, c.cfg.Timeout)
	}
	if err != nil {
		return "", fmt.Errorf("after %d bytes: %w", p.Done, err)
	}
	if total > 0 && p.Done != total && !a.resp.Uncompressed {
		return "", fmt.Errorf("received %d of %d bytes", p.Done, total)
	}
	if err := out.Close(); err != nil {
		return "", &localError{err}
	}
	d, err := image.OpenAsBuildID(out.Name(), f.id)
	if err != nil {
		return "", fmt.Errorf("it sent the wrong file: %w", err)
	}
	d.Close()
	path = c.cache.path(f.kind, f.id)
	if err := os.Rename(out.Name(), path); err != nil {
		return "", &localError{err}
	}
	return path, nil
}

// watched counts the bytes that arrive, and ends a download that is too large or too slow.
type watched struct {
	c     *Client
	f     *file
	p     *Progress
	limit int64
	count atomic.Int64
	slow  atomic.Bool
	told  time.Time
}

func (w *watched) Write(b []byte) (int, error) {
	const step = 64 << 20
	n := w.count.Add(int64(len(b)))
	if n > w.limit {
		return 0, &localError{fmt.Errorf("the file has more than %d bytes", w.limit)}
	}
	if n/step != w.p.Done/step {
		if err := w.c.cache.room(step); err != nil {
			return 0, &localError{err}
		}
	}
	w.p.Done = n
	select {
	case w.f.moved <- struct{}{}:
	default:
	}
	const often = 100 * time.Millisecond
	if now := time.Now(); now.Sub(w.told) >= often {
		w.told = now
		w.c.progress(*w.p)
	}
	return len(b), nil
}

// watch cancels the download if fewer than enoughBytes arrive in any period of the given length.
// The function that it returns ends the watch.
func (w *watched) watch(each time.Duration, cancel context.CancelCauseFunc) (stop func()) {
	ticker, quit := time.NewTicker(each), make(chan struct{})
	go func() {
		defer ticker.Stop()
		for before := int64(0); ; {
			select {
			case <-quit:
				return
			case <-ticker.C:
			}
			n := w.count.Load()
			if n-before < enoughBytes {
				w.slow.Store(true)
				cancel(errSlow)
				return
			}
			before = n
		}
	}()
	return func() { close(quit) }
}
