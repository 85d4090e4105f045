# corewise: see `make help`. Works on a fresh Debian 12 with Go; what else a target needs, it installs.
SHELL := /bin/bash
PREFIX ?= /usr/local
GO ?= go
BIN := bin/corewise
TOOLS := $(GO) tool -modfile=.ci/tools.mod
export CGO_ENABLED ?= 0

.PHONY: run build test test-go lint generate generate-check bench lab install help deps-test clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

build: ## build bin/corewise (static)
	$(GO) build -trimpath -o $(BIN) ./cmd/corewise

run: build ## build, then run a benchmark under the probes and explain it: sockperf when it is installed, else the built-in ping-pong
	@.ci/demo.sh $(BIN)

test: deps-test lint generate-check test-go lab ## everything: linters, generated code, unit and golden tests, probes on this kernel, the virtual lab

# One package after another: the tests of probes and of the ping-pong measure what runs on the machine's CPUs.
test-go: build
	$(GO) test -p 1 $$($(GO) list ./... | grep -v '/bpf$$')
	.ci/test-probes.sh

lint: ## gofmt, go vet, staticcheck, misspell
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -d $$(git ls-files '*.go') | head -50; exit 1; }
	$(GO) vet ./...
	$(TOOLS) staticcheck ./...
	$(TOOLS) misspell -error -i whn $$(git ls-files '*.go' '*.md' '*.yaml' | grep -v testdata)

generate: ## rebuild the eBPF objects (needs clang and llvm-strip)
	$(GO) generate ./bpf

generate-check: generate ## the committed eBPF objects are what the sources give
	git diff --exit-code -- bpf

bench: build ## measure: cost of the probes, sockperf with and without them, analysis speed; ratios within one run
	.ci/bench.sh $(BIN)

lab: build ## boot the virtual lab and run its scenarios
	$(GO) test -count=1 -timeout 20m ./testdata/lab/...
	COREWISE_LAB=1 $(GO) test -count=1 -timeout 20m -run 'TestKernelTakesThePlan|TestLiveInLab' ./advisor/plan ./advisor/remedy

install: build ## install to $(PREFIX)/bin
	install -D -m 0755 $(BIN) $(DESTDIR)$(PREFIX)/bin/corewise

deps-test:
	@.ci/deps.sh

clean:
	rm -rf bin
