package debuginfod

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Config says whom a client asks, and how far it goes.
type Config struct {
	URLs     []string
	CacheDir string // "": nothing is kept, so nothing can be fetched
	// Timeout is how long 100 KB may take: DEBUGINFOD_TIMEOUT, 90 seconds by default.
	Timeout time.Duration
	// MaxTime bounds a whole download, MaxSize its bytes; 0 is no bound of the user's.
	MaxTime time.Duration
	MaxSize int64
	Headers http.Header // of each request: DEBUGINFOD_HEADERS_FILE
	Agent   string      // the User-Agent
	// Progress is told of each download, from any goroutine; may be nil.
	Progress func(Progress)
	// Patience is how long all calls of Fetch together may wait for files.
	Patience time.Duration
}

// Progress is how a download stands.
type Progress struct {
	BuildID string
	URL     string
	Done    int64
	Total   int64 // 0: not known
	End     bool
	Err     error // at the end; nil: the file is there
}

const (
	defaultTimeout = 90 * time.Second
	// mostBytes bounds a file whatever the user says: nobody has more debug information.
	mostBytes = 32 << 30
	// maxSeconds keeps times from overflowing: a year.
	maxSeconds = 365 * 86400
	// mostURLs bounds the servers that are asked at once.
	mostURLs = 16
)

// FromEnvironment makes a Config of the variables that elfutils' client reads. Without
// DEBUGINFOD_URLS it has no URLs. getenv is os.Getenv.
func FromEnvironment(getenv func(string) string) Config {
	c := Config{Timeout: defaultTimeout, Agent: "dbg"}
	for _, u := range strings.Fields(getenv("DEBUGINFOD_URLS")) {
		// "ima:enforcing" and its like are policies for the URLs after them.
		if len(c.URLs) < mostURLs && !strings.HasPrefix(u, "ima:") {
			c.URLs = append(c.URLs, u)
		}
	}
	if len(c.URLs) == 0 {
		return c
	}
	if n, ok := number(getenv("DEBUGINFOD_TIMEOUT"), maxSeconds); ok && n > 0 {
		c.Timeout = time.Duration(n) * time.Second
	}
	if n, ok := number(getenv("DEBUGINFOD_MAXTIME"), maxSeconds); ok {
		c.MaxTime = time.Duration(n) * time.Second
	}
	if n, ok := number(getenv("DEBUGINFOD_MAXSIZE"), mostBytes); ok {
		c.MaxSize = n
	}
	c.Headers = readHeaders(getenv("DEBUGINFOD_HEADERS_FILE"))
	c.CacheDir = cacheDir(getenv)
	return c
}

// number reads a number of a variable; what is none does not count.
func number(s string, most int64) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return min(n, most), err == nil && n >= 0
}

// cacheDir is where elfutils' client keeps files: DEBUGINFOD_CACHE_PATH, else the old
// place where that is there, else the one of the XDG Base Directory Specification.
func cacheDir(getenv func(string) string) string {
	if dir := getenv("DEBUGINFOD_CACHE_PATH"); dir != "" {
		return dir
	}
	home := getenv("HOME")
	if home != "" {
		old := filepath.Join(home, ".debuginfod_client_cache")
		if info, err := os.Stat(old); err == nil && info.IsDir() {
			return old
		}
	}
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "debuginfod_client")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".cache", "debuginfod_client")
}

// readHeaders reads lines "Name: value".
func readHeaders(path string) http.Header {
	h := http.Header{}
	if path == "" {
		return h
	}
	text, err := os.ReadFile(path)
	if err != nil || len(text) > 1<<16 {
		return h
	}
	for _, line := range strings.Split(string(text), "\n") {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r"), ":")
		if name = strings.TrimSpace(name); ok && name != "" && !strings.ContainsAny(name, " \t") {
			h.Add(name, strings.TrimSpace(value))
		}
	}
	return h
}
