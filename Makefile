# The commands of the project. Everything else is Go's own.
GO ?= go
export CGO_ENABLED = 0
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 3s
TIMEOUT ?= 20m

.PHONY: all test test-all tools check unit fuzz bench demo-binary

all:
	$(GO) build -trimpath -ldflags='-s -w' -o dbg ./cmd/dbg

# test is the one test command: tools, static checks, tests, a little fuzzing. The checks run while packages are installed.
test:
	@$(MAKE) --no-print-directory -j2 tools check
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory fuzz

# test-all runs the sweeps too: every file of the machine, all seeds, all builds, and half an hour of fuzzing. It takes hours.
test-all: export DBG_ALL = 1
test-all: export FUZZTIME = 2m
test-all: export TIMEOUT = 6h
test-all: test

# tools installs what the tests need where it can, or says what is missing.
tools:
	@sh scripts/tools.sh

check:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# Those that take longest come first, so that both processors are busy until the end. check has vetted all.
unit:
	$(GO) test -vet=off -timeout $(TIMEOUT) ./unwindcheck ./session ./symbols ./target/ptrace ./frames ./... ./testdata/demo

fuzz:
	@sh scripts/fuzz.sh $(FUZZTIME)

# bench holds dbg against gdb and lldb, side by side in one run.
bench:
	@dpkg -s libunwind-dev > /dev/null 2>&1 || apt-get install -y -qq libunwind-dev || echo 'libunwind-dev is missing: no comparison with libunwind'
	$(GO) run ./internal/bench
	$(GO) run ./internal/bench/unwind
	$(GO) run ./internal/bench/control

demo-binary:
	sh testdata/demo/build.sh
