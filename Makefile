# Everything a developer runs. `make` alone lists the targets.

GO      ?= go
TOOLS   := $(CURDIR)/.tools
LINT    := $(TOOLS)/golangci-lint
LINTVER := v2.15.0
STAT    := $(TOOLS)/benchstat
STATVER := v0.0.0-20260908200009-22c9c6c9d4da
FUZZ    ?= 60s
ROUNDS  ?= 20

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## merge real pull requests in a throw-away git repository
	$(GO) run ./cmd/pawl demo

.PHONY: test
test: ## run the tests; needs Go and git, nothing else
	$(GO) test ./...

.PHONY: build
build: ## build bin/pawl
	$(GO) build -trimpath -o bin/pawl ./cmd/pawl

.PHONY: check
check: tidy fmt vet lint race fuzz ## all that CI checks beside `make test` and `make drill`

.PHONY: tidy
tidy: ## go.mod has what the code imports, no more
	$(GO) mod tidy -diff

.PHONY: fmt
fmt: $(LINT) ## the code is formatted (make format mends it)
	$(LINT) fmt --diff

.PHONY: format
format: $(LINT) ## format the code
	$(LINT) fmt

.PHONY: vet
vet: ## go vet
	$(GO) vet ./...

.PHONY: lint
lint: $(LINT) ## golangci-lint
	$(LINT) run ./...

.PHONY: race
race: ## the tests under the race detector, shuffled; needs a C compiler
	@if CGO_ENABLED=1 $(GO) env CC | xargs which >/dev/null 2>&1; then \
		CGO_ENABLED=1 $(GO) test -race -shuffle=on ./...; \
	else echo "race: skipped, there is no C compiler"; fi

.PHONY: fuzz
fuzz: ## each fuzz target for a while (FUZZ=60s)
	@set -e; for pkg in $$($(GO) list ./...); do \
		dir=$$($(GO) list -f '{{.Dir}}' $$pkg); \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go 2>/dev/null | sed 's/func //'); do \
			echo "fuzz $$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ) -fuzzminimizetime 10x $$pkg; \
		done; \
	done

.PHONY: drill
drill: ## kill real processes at random moments and count merges (ROUNDS=20)
	PAWL_DRILL_ROUNDS=$(ROUNDS) $(GO) test -count=1 -v -run 'Drill' ./cmd/...

.PHONY: bench
bench: ## the benchmarks, with ratios to hand-written loops
	$(GO) test -run '^$$' -bench . -benchtime 5x ./engine/... ./store/...

.PHONY: stat
stat: $(STAT) ## compare two outputs of `make bench`: make stat OLD=a.txt NEW=b.txt
	$(STAT) $(OLD) $(NEW)

.PHONY: golden
golden: ## rewrite the golden files; read the diff
	PAWL_UPDATE=1 $(GO) test ./...

$(LINT):
	GOBIN=$(TOOLS) GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINTVER)

$(STAT):
	GOBIN=$(TOOLS) GOFLAGS= $(GO) install golang.org/x/perf/cmd/benchstat@$(STATVER)
