# `make` lists what there is. The two commands of the README need no make.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
RELEASE := -trimpath -tags nomsgpack -ldflags "-s -w -X main.version=$(VERSION)"
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ax/bin
TEMPL := go tool templ

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

##—— while one works

# It watches all folders, and so writes other file names into the generated
# code than gen does; gen puts them right at the end.
dev: ## serve the embedded default at :7331, built again at each change
	@trap '$(MAKE) --no-print-directory gen' EXIT; $(TEMPL) generate -watch -proxy=http://127.0.0.1:8080 -cmd="go run ."

gen: ## write the generated files
	$(TEMPL) fmt views
	$(TEMPL) generate -path views
	cp "$$(go env GOROOT)/lib/time/zoneinfo.zip" app/cron/zoneinfo.zip

gallery: ## serve all pages in all states at :8099
	go test ./views -run ServeTheGallery -serve 127.0.0.1:8099 -v -timeout 0

demo: ## serve a throw-away installation with live tasks
	go run . demo

##—— before a change is sent

test: ## run the tests; real servers are used when they are installed
	go test ./...

test-slow: ## run the tests tagged slow: crashes, kills, thousands of delays
	@.ci/tagged slow

pages: ## hold what the pages say of 20,000 instances against SQL, two workers killed midway
	AX_TEST_INSTANCES=20000 go test -count=1 -tags slow,pages -timeout 30m -run '^TestThePagesSayWhatTheLedgerSays$$' .

test-failpoint: ## run the tests tagged failpoint: an error in the middle of each transaction
	@.ci/tagged failpoint

cronlib: ## hold app/cron to a published library, L, W, # and years too
	cd bench/cronlib && go run .

model: ## visit every state of small configurations of the protocol (5–10 minutes)
	cd bench/model && nice go run .

faults: ## attack ax: every scenario with ten seeds, written into docs/reliability.md (100 minutes)
	cd bench/faults && go run . -out ../../docs/reliability.md

faults-smoke: ## attack ax with the smoke set, and prove the checks (4 minutes)
	cd bench/faults && go vet . && go test . && go run . -smoke

soak: ## attack ax for 30 minutes on end, and watch what it holds
	cd bench/faults && go run . -soak 30m

guards: ## take out one guard of the protocol at a time: the attack must notice each
	cd bench/faults && go run . -guards

check: fmt-check vet gen-check tidy-check lengths lint ## check all that needs no running

fmt-check: ## see that the Go and templ files are formatted
	@bad=$$(git ls-files '*.go' | grep -v _templ.go | xargs gofmt -l); [ -z "$$bad" ] || { echo "not formatted:" $$bad; exit 1; }
	@.ci/templ-fmt

vet: ## go vet, with each build tag
	go vet ./...
	go vet -tags slow,failpoint ./...

gen-check: ## see that the generated files are those of their sources
	@$(TEMPL) generate -check -path views -log-level error

tidy-check: ## see that go.mod names what is needed, and no more
	go mod tidy -diff
	@for m in bench/*/go.mod; do go -C "$$(dirname $$m)" mod tidy -diff || exit 1; done
	go mod verify

lengths: ## see that no file is longer than 400 lines
	@.ci/lengths

lint: $(TOOLS)/golangci-lint ## run the linters of .golangci.yml
	$(TOOLS)/golangci-lint run ./...

# The linter is built once per version; its own go.mod keeps its dependencies
# out of ax's.
$(TOOLS)/golangci-lint: tools/go.mod tools/go.sum
	GOBIN=$(TOOLS) GOFLAGS=-buildvcs=false go -C tools install tool
	@touch $@

axe: tools/node_modules/axe-core/axe.min.js ## fetch axe-core, for the browser tests
tools/node_modules/axe-core/axe.min.js: tools/package-lock.json
	npm ci --prefix tools --ignore-scripts --no-audit --no-fund
	@touch $@

##—— what comes out

build: ## build the static program ./ax
	CGO_ENABLED=0 go build $(RELEASE) -o ax .

docker: ## build the image ax:VERSION
	docker build --build-arg VERSION=$(VERSION) -t ax:$(VERSION) .

bench: ## measure engine, schedules and alerts, write docs/benchmarks.md (an hour)
	go run ./bench/engine -out docs/benchmarks.md
	go run ./bench/engine -kinds -append docs/benchmarks.md
	go run ./bench/schedules -append docs/benchmarks.md
	go run ./bench/alerts -append docs/benchmarks.md
	go run ./bench/mq -append docs/benchmarks.md

shots: ## write pictures of all pages of the demo to shots/
	@.ci/shots shots

.PHONY: help dev gen gallery demo test test-slow pages test-failpoint cronlib model faults faults-smoke soak guards check fmt-check vet gen-check tidy-check lengths lint axe build docker bench shots
