# Only Go is needed; see README.md. Modules are fetched by the go command. Tests
# that ask Z3 are skipped where scripts/z3.sh cannot install it.
SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
GO          ?= go
TOOLS       := ../shared/tools

# No target finds, or leaves, anything in a cache.
export BFVERIFYCACHE := off

.PHONY: help build demo test check score clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1: /p' Makefile

build: ## build bin/bfverify
	CGO_ENABLED=0 $(GO) build -o bin/bfverify ./cmd/bfverify

demo: build ## prove and refute the example programs
	@$(GO) run ./scripts/demo bin/bfverify examples

test: check ## run all tests and print the slowest
	@scripts/z3.sh
	@$(GO) test -json -timeout 40m ./... | $(GO) run ./scripts/slowest

check: ## go version, gofmt and go vet
	@command -v $(GO) >/dev/null || { echo "Go is missing: install it from https://go.dev/dl, then: make test"; exit 2; }
	@$(GO) mod download
	@unformatted=$$(find . -name '*.go' -not -path '*/testdata/*' -not -path './.git/*' -print0 | xargs -0 gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted (run gofmt -w on them):"; echo "$$unformatted"; exit 1; fi
	@$(GO) vet ./...

score: build ## score against the programs with known answers, where they are
	@if [ ! -d $(TOOLS) ]; then echo "$(TOOLS) is not here: nothing to score"; exit 0; fi; \
	status=0; bin=$$PWD/bin/bfverify; cd $(TOOLS); \
	$(GO) run ./score -bfverify $$bin cases ../cases || status=1; \
	$(GO) run ./score -bfverify $$bin suite ../racesuite.tsv || status=1; \
	exit $$status

clean: ## remove what build made
	rm -rf bin
