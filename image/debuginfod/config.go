package debuginfod

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Config holds the servers that a client asks, and the limits on its downloads.
type Config struct {
	URLs     []string
	CacheDir string // "": no cache, so nothing can be fetched
	// Timeout is the longest time that 100 KB may take: DEBUGINFOD_TIMEOUT, by default 90
	// seconds.
	Timeout time.Duration
	// MaxTime limits the duration of a download, and MaxSize its size in bytes. 0 sets no limit.
	MaxTime time.Duration
	MaxSize int64
	Headers http.Header // of each request: DEBUGINFOD_HEADERS_FILE
	Agent   string      // the User-Agent
	// Progress is called for each download, from any goroutine. It may be nil.
	Progress func(Progress)
	// Patience is the longest time that all calls of Fetch together wait for files.
	Patience time.Duration
}

// Progress describes the state of a download.
type Progress struct {
	BuildID string
	URL     string
	Done    int64
	Total   int64 // 0: unknown
	End     bool
	Err     error // set at the end; nil if the file was fetched
}

const (
	defaultTimeout = 90 * time.Second
	// mostBytes limits a file whatever the configuration allows: no real debug information is
	// larger.
	mostBytes = 32 << 30
	// maxSeconds, one year, keeps times from overflowing.
	maxSeconds = 365 * 86400
	// mostURLs limits the number of servers that are asked at once.
	mostURLs = 16
)

// FromEnvironment makes a Config from the environment variables that elfutils' client reads.
// Without DEBUGINFOD_URLS the Config has no URLs. getenv is normally os.Getenv.
func FromEnvironment(getenv func(string) string) Config {
	c := Config{Timeout: defaultTimeout, Agent: "dbg"}
	for _, u := range strings.Fields(getenv("DEBUGINFOD_URLS")) {
		// "ima:enforcing" and similar words are policies for the URLs after them.
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

// number parses the value of a variable. It returns false if s is not a valid number.
func number(s string, most int64) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return min(n, most), err == nil && n >= 0
}

// cacheDir returns the directory where elfutils' client keeps files: DEBUGINFOD_CACHE_PATH, or
// the old location if it exists, or the location of the XDG Base Directory Specification.
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
