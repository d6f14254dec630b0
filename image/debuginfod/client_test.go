package debuginfod

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dbg/image"
	"dbg/internal/fixture"
)

// sample is a debug file and its build id.
var sample = sync.OnceValues(func() (data []byte, id string) {
	dir, err := os.MkdirTemp("", "debuginfod")
	if err != nil {
		return nil, ""
	}
	defer os.RemoveAll(dir)
	src, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	_ = os.WriteFile(src, []byte("int main(void) { return 0; }\n"), 0o600)
	if err := exec.Command("gcc", "-g", "-Wl,--build-id", "-o", out, src).Run(); err != nil {
		return nil, ""
	}
	f, err := image.Open(out)
	if err != nil {
		return nil, ""
	}
	defer f.Close()
	data, _ = os.ReadFile(out)
	return data, f.BuildID()
})

func theSample(t *testing.T) ([]byte, string) {
	t.Helper()
	fixture.Need(t, "gcc")
	data, id := sample()
	if id == "" {
		t.Fatal("no program with a build id")
	}
	return data, id
}

// server is a debuginfod of the test's own that counts the requests.
type server struct {
	*httptest.Server
	asked atomic.Int32
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func give(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write(data) }
}

func client(t *testing.T, change func(*Config), urls ...string) *Client {
	t.Helper()
	cfg := Config{URLs: urls, CacheDir: filepath.Join(t.TempDir(), "cache"), Timeout: 30 * time.Second, Patience: time.Minute, Agent: "dbg"}
	if change != nil {
		change(&cfg)
	}
	c := New(cfg)
	t.Cleanup(func() { c.Close() })
	return c
}

// settled fetches and waits for the answer, however long it takes.
func settled(t *testing.T, c *Client, id string) (string, error) {
	t.Helper()
	ready := make(chan struct{}, 1)
	path, err := c.Fetch(image.FetchDebug, id, func() { ready <- struct{}{} })
	if errors.Is(err, image.ErrFetching) {
		<-ready
		path, err = c.Fetch(image.FetchDebug, id, nil)
	}
	if leftover, _ := filepath.Glob(filepath.Join(c.cache.dir, id, "debuginfo.*")); len(leftover) > 0 {
		t.Errorf("left behind: %v", leftover)
	}
	return path, err
}

// TestFetch gets a file, finds it in the cache with another client, and asks for it as
// the protocol says.
func TestFetch(t *testing.T) {
	data, id := theSample(t)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/sub/buildid/"+id+"/debuginfo" || r.UserAgent() != "dbg" || r.Header.Get("X-Mine") != "yes" || r.Header.Get("X-Debuginfod-Maxsize") != "1000000" {
			t.Errorf("asked for %s with %v", r.URL.Path, r.Header)
		}
		w.Write(data)
	})
	var mu sync.Mutex
	var last Progress
	c := client(t, func(cfg *Config) {
		cfg.MaxSize = 1000000
		cfg.Headers = http.Header{"X-Mine": {"yes"}}
		cfg.Progress = func(p Progress) { mu.Lock(); last = p; mu.Unlock() }
	}, s.URL+"/sub/")
	path, err := settled(t, c, id)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(c.cache.dir, id, "debuginfo"); path != want {
		t.Errorf("it is in %s, want %s", path, want)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, data) {
		t.Error("the file is another")
	}
	mu.Lock()
	if last.Done != int64(len(data)) || !last.End || last.Err != nil || last.BuildID != id {
		t.Errorf("progress ends with %+v", last)
	}
	mu.Unlock()
	if path, err := settled(t, c, id); err != nil || path == "" || s.asked.Load() != 1 {
		t.Errorf("a second time: %q %v, %d requests", path, err, s.asked.Load())
	}
	dir := c.cache.dir
	c = client(t, func(cfg *Config) { cfg.CacheDir = dir }, "http://127.0.0.1:1")
	if path, err := settled(t, c, id); err != nil || path == "" {
		t.Errorf("from the cache: %v", err)
	}
}

// TestTrouble asks servers that are not as they should be. In each case a good server
// beside the bad one still gives the file.
func TestTrouble(t *testing.T) {
	data, id := theSample(t)
	other := bytes.Replace(data, unhex(id), bytes.Repeat([]byte{7}, len(id)/2), -1)
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	hang := func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		config func(*Config)
		want   string
		dead   bool // it is not asked for the next file
	}{
		{"404", http.NotFound, nil, "it has no such file", false},
		{"500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, nil, "it answered 500 Internal Server Error", false},
		{"406", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(406) }, nil, "it answered 406 Not Acceptable", false},
		{"another file", give(other), nil, "its build id is", true},
		{"no file", give([]byte("<html>")), nil, "it sent the wrong file", true},
		{"empty", give(nil), nil, "the file is empty", true},
		{"cut short", give(data[:len(data)/2]), nil, "", true},
		{"connection lost", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data[:100])
		}, nil, "unexpected EOF", true},
		{"another size", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-DEBUGINFOD-SIZE", fmt.Sprint(len(data)+1))
			w.Write(data)
		}, nil, "received ", true},
		{"huge", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "90000000000")
			w.Write(data)
		}, nil, "the file has 90000000000 bytes, more than", false},
		{"huge for the user", give(data), func(c *Config) { c.MaxSize = 1000 }, "more than 1000", false},
		{"huge without end", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				w.Write(data)
				w.(http.Flusher).Flush()
			}
		}, func(c *Config) { c.MaxSize = 1 << 20 }, "the file has more than 1048576 bytes", false},
		{"silent", hang, func(c *Config) { c.Timeout = 50 * time.Millisecond }, "too slow: less than 100 KB in 50ms", true},
		{"silent before its answer", func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}, func(c *Config) { c.Timeout = 50 * time.Millisecond }, "timeout", true},
		{"longer than MAXTIME", hang, func(c *Config) { c.MaxTime = 50 * time.Millisecond }, "DEBUGINFOD_MAXTIME", false},
		{"redirects to a file", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/hostname", http.StatusFound)
		}, nil, "it redirects to file:///etc/hostname", true},
		{"redirects for ever", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, nil, "stopped after 10 redirects", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			bad := serve(t, test.answer)
			c := client(t, test.config, bad.URL)
			path, err := settled(t, c, id)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "debuginfod: ") {
				t.Fatalf("%q, %v; want %q", path, err, test.want)
			}
			if info, err := os.Stat(c.cache.path(image.FetchDebug, id)); (err == nil) != (test.name == "404") || err == nil && info.Size() != 0 {
				t.Errorf("in the cache: %v %v", info, err)
			}
			before := bad.asked.Load()
			_, err = settled(t, c, strings.Repeat("ab", 20))
			if dead := bad.asked.Load() == before; dead != test.dead || dead && !strings.Contains(err.Error(), "is no longer asked") {
				t.Errorf("it is dead: %v (%v), want %v", dead, err, test.dead)
			}
			if test.config != nil {
				return // the same bounds hold for the good server
			}
			c = client(t, nil, bad.URL, serve(t, give(data)).URL)
			if path, err := settled(t, c, id); err != nil || path == "" {
				t.Errorf("with a good server: %v", err)
			}
		})
	}
}

func unhex(s string) (b []byte) {
	fmt.Sscanf(s, "%x", &b)
	return b
}

// TestDead asks where nobody listens, and where somebody takes connections and never
// answers: Fetch comes back when its patience is at an end, once for all files.
func TestDead(t *testing.T) {
	_, id := theSample(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	l.Close()
	c := client(t, nil, nobody)
	if _, err := settled(t, c, id); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("where nobody listens: %v", err)
	}
	stop := make(chan struct{})
	s := serve(t, func(http.ResponseWriter, *http.Request) { <-stop })
	defer close(stop)
	const patience = 100 * time.Millisecond
	c = client(t, func(cfg *Config) { cfg.Patience = patience }, s.URL)
	var waited time.Duration
	for n := range 20 {
		start := time.Now()
		_, err := c.Fetch(image.FetchDebug, fmt.Sprintf("%s%02x", id[2:], n), nil)
		waited += time.Since(start)
		if !errors.Is(err, image.ErrFetching) {
			t.Fatal(err)
		}
	}
	if waited < patience || waited > 20*patience {
		t.Errorf("20 files were waited for for %v, want a little more than %v", waited, patience)
	}
	if s.asked.Load() > downloads {
		t.Errorf("%d requests at once", s.asked.Load())
	}
	done := make(chan struct{})
	go func() { c.Close(); close(done) }()
	<-done // or the test's time-out
}

// TestMiss holds the cache of what no server has against elfutils' rules.
func TestMiss(t *testing.T) {
	data, id := theSample(t)
	s := serve(t, http.NotFound)
	c := client(t, nil, s.URL)
	if _, err := settled(t, c, id); err == nil {
		t.Fatal("there is no such file")
	}
	dir := c.cache.dir
	again := func(url string) (string, error) {
		return settled(t, client(t, func(cfg *Config) { cfg.CacheDir = dir }, url), id)
	}
	good := serve(t, give(data))
	if _, err := again(good.URL); err == nil || !strings.Contains(err.Error(), "when last asked") || good.asked.Load() != 0 {
		t.Errorf("right after a miss: %v, %d requests", err, good.asked.Load())
	}
	if err := os.WriteFile(filepath.Join(dir, missFile), []byte("5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-6 * time.Second)
	if err := os.Chtimes(filepath.Join(dir, id, "debuginfo"), old, old); err != nil {
		t.Fatal(err)
	}
	if path, err := again(good.URL); err != nil || path == "" {
		t.Errorf("later: %v", err)
	}
}

// TestClean removes what nobody has used for long.
func TestClean(t *testing.T) {
	dir := t.TempDir()
	c := cache{dir}
	c.clean()
	if _, err := os.Stat(filepath.Join(dir, intervalFile)); err != nil {
		t.Fatal(err)
	}
	long, short := time.Now().Add(-30*24*time.Hour), time.Now().Add(-time.Hour)
	keep := map[string]bool{}
	for _, f := range []struct {
		path string
		used time.Time
		keep bool
	}{{"abcd/debuginfo", long, false}, {"abce/debuginfo", short, true}, {"abce/source#a", long, false}, {"notes/debuginfo", long, true}} {
		path := filepath.Join(dir, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, f.used, f.used); err != nil {
			t.Fatal(err)
		}
		keep[path] = f.keep
	}
	check := func(all bool) {
		t.Helper()
		for path, keep := range keep {
			if _, err := os.Stat(path); (err == nil) != (keep || all) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	c.clean()
	check(true) // the interval is not over
	if err := os.Chtimes(filepath.Join(dir, intervalFile), long, long); err != nil {
		t.Fatal(err)
	}
	c.clean()
	check(false)
	if _, err := os.Stat(filepath.Join(dir, "abcd")); err == nil {
		t.Error("the empty directory is still there")
	}
}

// TestFromEnvironment reads the variables.
func TestFromEnvironment(t *testing.T) {
	home := t.TempDir()
	headers := filepath.Join(home, "headers")
	if err := os.WriteFile(headers, []byte("X-A: b\r\nbad line\nAuthorization: Bearer: c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home}
	get := func(k string) string { return env[k] }
	if c := FromEnvironment(get); len(c.URLs) != 0 || New(c) != nil {
		t.Errorf("without servers: %+v", c)
	}
	env["DEBUGINFOD_URLS"] = " ima:enforcing https://a/  http://b:8002 "
	c := FromEnvironment(get)
	if strings.Join(c.URLs, " ") != "https://a/ http://b:8002" || c.Timeout != 90*time.Second || c.MaxSize != 0 || c.MaxTime != 0 || c.CacheDir != filepath.Join(home, ".cache/debuginfod_client") {
		t.Errorf("%+v", c)
	}
	env["XDG_CACHE_HOME"] = "/xdg"
	env["DEBUGINFOD_TIMEOUT"], env["DEBUGINFOD_MAXTIME"], env["DEBUGINFOD_MAXSIZE"], env["DEBUGINFOD_HEADERS_FILE"] = "7", "9", "1234", headers
	c = FromEnvironment(get)
	if c.Timeout != 7*time.Second || c.MaxTime != 9*time.Second || c.MaxSize != 1234 || c.CacheDir != "/xdg/debuginfod_client" || c.Headers.Get("X-A") != "b" || c.Headers.Get("Authorization") != "Bearer: c" || len(c.Headers) != 2 {
		t.Errorf("%+v", c)
	}
	env["DEBUGINFOD_TIMEOUT"] = "99999999999999999"
	if c := FromEnvironment(get); c.Timeout <= 0 {
		t.Errorf("an absurd time-out is %v", c.Timeout)
	}
	if err := os.Mkdir(filepath.Join(home, ".debuginfod_client_cache"), 0o700); err != nil {
		t.Fatal(err)
	}
	if c := FromEnvironment(get); c.CacheDir != filepath.Join(home, ".debuginfod_client_cache") {
		t.Errorf("with the old directory: %s", c.CacheDir)
	}
	env["DEBUGINFOD_CACHE_PATH"] = "/mine"
	if c := FromEnvironment(get); c.CacheDir != "/mine" {
		t.Errorf("with DEBUGINFOD_CACHE_PATH: %s", c.CacheDir)
	}
}

// TestElfutils holds client and cache against elfutils' own: each finds what the other
// has fetched.
func TestElfutils(t *testing.T) {
	fixture.Need(t, "debuginfod-find")
	data, id := theSample(t)
	s := serve(t, give(data))
	find := func(dir string) string {
		cmd := exec.Command("debuginfod-find", "debuginfo", id)
		cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS="+s.URL, "DEBUGINFOD_CACHE_PATH="+dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	c := client(t, nil, s.URL)
	path, err := settled(t, c, id)
	if err != nil {
		t.Fatal(err)
	}
	if got := find(c.cache.dir); got != path || s.asked.Load() != 1 {
		t.Errorf("debuginfod-find has %s, want %s; %d requests", got, path, s.asked.Load())
	}
	dir := t.TempDir()
	path = find(dir)
	before := s.asked.Load()
	c = client(t, func(cfg *Config) { cfg.CacheDir = dir }, s.URL)
	if got, err := settled(t, c, id); err != nil || got != path || s.asked.Load() != before {
		t.Errorf("%s %v, debuginfod-find has %s", got, err, path)
	}
}

// TestBadIDs asks for what can't be a build id, and may not become a path.
func TestBadIDs(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "x") })
	c := client(t, nil, s.URL)
	for _, id := range []string{"", "../../etc/passwd", "ABCDEF", "ab/cd", "xyzw", strings.Repeat("a", 1000)} {
		if path, err := c.Fetch(image.FetchDebug, id, nil); err == nil {
			t.Errorf("%q: %s", id, path)
		}
	}
	if s.asked.Load() != 0 {
		t.Error("the server was asked")
	}
}
