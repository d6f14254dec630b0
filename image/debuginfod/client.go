package debuginfod

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"dbg/image"
)

// Client gets files from the servers of its Config. Its methods may be called from any
// goroutine.
type Client struct {
	cfg    Config
	cache  cache
	http   *http.Client
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	slots  chan struct{} // one for each download at a time

	mu       sync.Mutex // guards the fields below, and the fields of each file except its channels
	files    map[key]*file
	dead     map[string]error // servers that are no longer asked, by URL, with the reason
	patience time.Duration    // the remaining part of Config.Patience
	cleaned  bool
}

type key struct {
	kind image.FetchKind
	id   string
}

// file is a file that was requested.
type file struct {
	key
	decided bool // path or err is set
	path    string
	err     error
	waiting []func()
	done    chan struct{} // closed when decided
	moved   chan struct{} // has one element after bytes have arrived
}

const (
	downloads = 4               // at a time
	silence   = 3 * time.Second // without bytes, after which Fetch stops waiting
)

// New makes a client. It returns nil if the configuration has no servers: then nothing is
// fetched.
func New(cfg Config) *Client {
	if len(cfg.URLs) == 0 {
		return nil
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: min(cfg.Timeout, 10*time.Second)}).DialContext,
		TLSHandshakeTimeout:   min(cfg.Timeout, 10*time.Second),
		ResponseHeaderTimeout: cfg.Timeout,
		IdleConnTimeout:       30 * time.Second,
		MaxIdleConnsPerHost:   downloads,
		ForceAttemptHTTP2:     true,

		MaxResponseHeaderBytes: 64 << 10,
	}
	// Allows a local directory with the layout of a server.
	transport.RegisterProtocol("file", http.NewFileTransport(http.Dir("/")))
	c := &Client{
		cfg: cfg, cache: cache{cfg.CacheDir}, http: &http.Client{Transport: transport, CheckRedirect: checkRedirect},
		slots: make(chan struct{}, downloads), files: map[key]*file{}, dead: map[string]error{}, patience: cfg.Patience,
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// checkRedirect lets a server redirect to other servers, but not to files of this machine.
func checkRedirect(req *http.Request, via []*http.Request) error {
	const most = 10
	switch {
	case len(via) >= most:
		return fmt.Errorf("stopped after %d redirects", most)
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return fmt.Errorf("it redirects to %s", req.URL)
	}
	return nil
}

// Close stops the downloads and removes incomplete files.
func (c *Client) Close() error {
	if c == nil {
		return nil
	}
	c.cancel()
	c.work.Wait()
	c.http.CloseIdleConnections()
	return nil
}

// Fetch implements image.Fetcher.
func (c *Client) Fetch(kind image.FetchKind, id string, done func()) (string, error) {
	if int(kind) >= len(fileNames) || !validID(id) {
		return "", fmt.Errorf("debuginfod: %q is not a build id", id)
	}
	f := c.file(key{kind, id})
	c.await(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.decided {
		return f.path, f.err
	}
	if done != nil {
		f.waiting = append(f.waiting, done)
	}
	return "", image.ErrFetching
}

// file returns the state of a file, and starts to fetch the file if it is new.
func (c *Client) file(k key) *file {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.files[k]; f != nil {
		return f
	}
	f := &file{key: k, done: make(chan struct{}), moved: make(chan struct{}, 1)}
	c.files[k] = f
	path, err := c.cache.find(k.kind, k.id)
	switch {
	case err == nil:
		f.decide(path, nil)
		return f
	case errors.Is(err, errMissed):
		f.decide("", fmt.Errorf("debuginfod: %w (%s)", err, c.cache.path(k.kind, k.id)))
		return f
	case c.ctx.Err() != nil:
		f.decide("", errors.New("debuginfod: the client is closed"))
		return f
	}
	clean := !c.cleaned
	c.cleaned = true
	c.work.Go(func() {
		if clean {
			c.cache.clean()
		}
		var path string
		err := c.ctx.Err()
		select {
		case c.slots <- struct{}{}:
			path, err = c.get(f)
			<-c.slots
		case <-c.ctx.Done():
		}
		if err != nil {
			err = fmt.Errorf("debuginfod: %w", err)
		}
		c.mu.Lock()
		f.decide(path, err)
		waiting := f.waiting
		f.waiting = nil
		c.mu.Unlock()
		if c.ctx.Err() == nil {
			for _, done := range waiting {
				done()
			}
		}
	})
	return f
}

func (f *file) decide(path string, err error) {
	f.decided, f.path, f.err = true, path, err
	close(f.done)
}

// await waits for a file as long as patience lasts and bytes arrive.
func (c *Client) await(f *file) {
	c.mu.Lock()
	left := c.patience
	c.mu.Unlock()
	start := time.Now()
	for {
		n := min(left-time.Since(start), silence)
		if n <= 0 {
			break
		}
		timer := time.NewTimer(n)
		quiet := false
		select {
		case <-f.done:
		case <-f.moved:
			timer.Stop()
			continue
		case <-timer.C:
			quiet = true
		}
		timer.Stop()
		if !quiet || n == silence {
			break
		}
	}
	c.mu.Lock()
	c.patience -= time.Since(start)
	c.mu.Unlock()
}

// servers returns the URLs to ask: the servers that are neither dead nor in failed. If there are
// none, the error says why.
func (c *Client) servers(failed map[string]error) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out, why []string
	for _, u := range c.cfg.URLs {
		switch {
		case failed[u] != nil:
			why = append(why, fmt.Sprintf("%s: %v", u, failed[u]))
		case c.dead[u] != nil:
			why = append(why, fmt.Sprintf("%s is no longer asked: %v", u, c.dead[u]))
		default:
			out = append(out, u)
		}
	}
	if len(out) == 0 {
		return nil, errors.New(strings.Join(why, "; "))
	}
	return out, nil
}

// bury marks a server as dead.
func (c *Client) bury(url string, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead[url] == nil {
		c.dead[url] = why
	}
}

func (c *Client) progress(p Progress) {
	if c.cfg.Progress != nil {
		c.cfg.Progress(p)
	}
}
