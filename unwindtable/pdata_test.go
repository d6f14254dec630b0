package unwindtable

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// TestPData prints the function table of a DLL in each form.
func TestPData(t *testing.T) {
	file := fixture.PE(t, "amd64", []string{"macho/shapes.c", "pe/support.c"}, "-O2")
	print := func(o Options) string {
		var b bytes.Buffer
		o.Source = "pdata"
		if err := Print(context.Background(), &b, file, o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := print(Options{Func: "run"})
	if !strings.HasPrefix(text, "run 0x") || !strings.Contains(text, "  pdata  (entry 0x") || !strings.Contains(text, "cfa") || !strings.Contains(text, "rsp+8") {
		t.Errorf("text: %s", text)
	}
	var o struct {
		Function, Source string
		Rows             []struct{ PC, CFA, RA string }
	}
	if err := json.Unmarshal([]byte(print(Options{Func: "run", JSON: true})), &o); err != nil {
		t.Fatal(err)
	}
	if o.Function != "run" || o.Source != "pdata" || len(o.Rows) < 5 || o.Rows[0].CFA != "rsp+8" || o.Rows[0].RA != "c-8" {
		t.Errorf("JSON: %+v", o)
	}
	raw := print(Options{Func: "run", Raw: true})
	if !strings.HasPrefix(raw, "UnwindInformation [\n  RuntimeFunction {\n") || strings.Count(raw, "RuntimeFunction {") != 1 {
		t.Errorf("raw: %s", raw)
	}
	var b bytes.Buffer
	if err := Print(context.Background(), &b, file, Options{Source: "compact"}); err == nil {
		t.Error("a PE file has a compact table")
	}
}
