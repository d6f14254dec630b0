package dap

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// TestVSCodeClient has the client that VS Code's adapters are tested with drive
// the server: see testdata/client.
func TestVSCodeClient(t *testing.T) {
	t.Parallel()
	fixture.Need(t, "node")
	dir := fixture.Root() + "/dap/testdata/client"
	if _, err := os.Stat(dir + "/node_modules/@vscode/debugadapter-testsupport"); err != nil {
		const why = "the client is not installed: npm ci --prefix dap/testdata/client"
		if os.Getenv("CI") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	exe, source := tour(t)
	args, err := json.Marshal(object{"program": exe, "source": source, "body": line(t, "loop-body"), "add": line(t, "add-body"), "main": line(t, "main-first")})
	if err != nil {
		t.Fatal(err)
	}
	for _, scenario := range []string{"breakpoint", "entry", "pause", "crash", "badLaunch"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), deadline)
			defer cancel()
			w := make(addressWriter, 1)
			served := make(chan error, 1)
			go func() { served <- ListenAndServe(ctx, "127.0.0.1:0", Options{Stderr: w}) }()
			address := strings.TrimSpace(<-w)
			port := address[strings.LastIndexByte(address, ':')+1:]
			out, err := exec.CommandContext(ctx, "node", dir+"/client.js", port, scenario, string(args)).CombinedOutput()
			if err != nil {
				cancel()
				t.Errorf("%v\n%s", err, out)
			}
			if err := <-served; err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
}
