package symbols

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dbg/image"
	"dbg/internal/fixture"
)

// manyUnits is a program of several units, so that what is read of a section is its beginning first.
func manyUnits(t *testing.T, compiler string, flags ...string) string {
	t.Helper()
	fixture.Need(t, compiler)
	dir := t.TempDir()
	exe := filepath.Join(dir, "prog")
	args := append([]string{"-O1", "-o", exe}, flags...)
	for i := range 8 {
		var b strings.Builder
		for k := range 250 {
			fmt.Fprintf(&b, "struct s%d_%d { int a[%d]; struct s%d_%d *next; double x%d; };\nint f%d_%d(struct s%d_%d *p, int n) { int v = n * %d; return p->a[n] + v; }\n", i, k, k+1, i, k, k, i, k, i, k, k)
		}
		if i == 0 {
			b.WriteString("int main(void) { return 0; }\n")
		}
		path := filepath.Join(dir, fmt.Sprintf("u%d.c", i))
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	command(t, compiler, args...)
	return exe
}

// exerciseUnits asks what is in the first units before what is in the last ones, and then for a name that needs all of them.
func exerciseUnits(data []byte) {
	f, err := image.FromMemory("damaged", data)
	if err != nil {
		return
	}
	m := Load(f, Options{DebugDirs: []string{}})
	defer m.Close()
	for i := range 8 {
		for _, fn := range m.FunctionsByName(fmt.Sprintf("f%d_3", i)) {
			m.LineAt(fn.Lo)
			for _, c := range m.CallsAt(fn.Lo) {
				for _, v := range m.LocalsOf(&c, fn.Lo) {
					exerciseVariable(v, fn.Lo)
				}
			}
		}
	}
	exercise(m)
}

// TestDamagedCompressed flips single bits of compressed debug sections: what can't be inflated is an error, wherever it is found out.
func TestDamagedCompressed(t *testing.T) {
	t.Parallel()
	rounds := 30
	if fixture.All() {
		rounds = 1000
	}
	for flag, compiler := range map[string]string{"-gz=zlib": "gcc", "-gz=zlib-gnu": "gcc", "-gz=zstd": "clang-19"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			path := manyUnits(t, compiler, "-g", flag, "-fuse-ld="+map[string]string{"gcc": "bfd", "clang-19": "lld"}[compiler])
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := image.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r := rand.New(rand.NewPCG(3, 4))
			for _, s := range f.Sections() {
				if !strings.Contains(s.Name, "debug_") || s.Offset == 0 {
					continue
				}
				size := uint64(len(data)) - s.Offset // the compressed size is less
				for range rounds {
					at := s.Offset + r.Uint64N(min(size, max(64, s.Size/3)))
					bit := byte(1) << r.IntN(8)
					data[at] ^= bit
					start := time.Now()
					exerciseUnits(data)
					if d := time.Since(start); d > 10*time.Second {
						t.Errorf("bit %d at 0x%x of %s: %v", bit, at, s.Name, d)
					}
					data[at] ^= bit
				}
			}
		})
	}
}

// TestDamagedHeaders overwrites the headers of a file: of the file itself, its segments and its sections.
func TestDamagedHeaders(t *testing.T) {
	t.Parallel()
	rounds := 200
	if fixture.All() {
		rounds = 3000
	}
	path := manyUnits(t, "gcc", "-g")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	sections := int(uint64(data[40]) | uint64(data[41])<<8 | uint64(data[42])<<16 | uint64(data[43])<<24) // e_shoff
	for range rounds {
		copied := append([]byte(nil), data...)
		for range 1 + r.IntN(6) {
			at := 4 + r.IntN(60)
			switch r.IntN(3) {
			case 1:
				at = 64 + r.IntN(13*56) // program headers
			case 2:
				at = sections + r.IntN(len(data)-sections)
			}
			switch r.IntN(3) {
			case 0:
				copied[at] = byte(r.Uint32())
			case 1:
				copied[at] ^= 1 << r.IntN(8)
			default:
				for i := at; i < min(at+8, len(copied)); i++ {
					copied[i] = 0xff
				}
			}
		}
		start := time.Now()
		exerciseUnits(copied)
		if d := time.Since(start); d > 10*time.Second {
			t.Fatalf("a file with damaged headers took %v", d)
		}
	}
}
