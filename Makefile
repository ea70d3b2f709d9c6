# Everything that is done with this project. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Generators and operators' tools are pinned in tools/go.mod, apart from the
# program's own dependencies.
TOOL := go tool -modfile=tools/go.mod
TESTDB := bin/with-databases
GOTEST := $(TOOL) gotestsum --format-hide-empty-pkg
# The race detector watches the tests on SQLite. It leaves out SQLite itself, which is C
# translated to Go: it uses memory that the detector does not watch, and the detector would
# multiply its CPU time.
RACE := -race '-gcflags=modernc.org/...=-race=false'
# The detector waits after the last test of a package for late races, by default for a second.
export GORACE ?= atexit_sleep_ms=50
FUZZTIME ?= 20s
# Packages whose tests mostly wait for other processes: the program itself, Chromium, Node.js.
# The race detector would slow these processes down, and the code of the server runs with it
# in the tests of its packages. The memory of clients/go/standing is read without locks, so
# its tests need the detector. The tests of matching compute, in one goroutine: the detector
# makes them ten times slower, and watches matchers in the tests of the rules.
UNRACED := /((internal/textmatch|test/wordlists|server/cli|clients/compat|docs|test/bench|test/testdb|test/experiments)(/|$$)|clients(/go(/example)?)?$$)
# What make test runs: a package pattern, tests by name, and STORE=tidb for TiDB alone.
PKG ?= ./...
SELECTED = $(if $(RUN),-run '$(RUN)')

.PHONY: help
help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/^([a-z-]+):.*## /\1\t/' | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

.PHONY: build
build: ## Build bin/moderato.
	@# The first build is a fifth shorter without C, without the data for debuggers, which
	@# -s -w leaves out of the program anyway, and with a compiler that collects less garbage.
	CGO_ENABLED=0 GOGC=400 go build -trimpath -ldflags '-s -w' -gcflags all=-dwarf=false -o bin/moderato ./cmd/moderato

.PHONY: release
release: ## Build a release of the commit in bin/release: static binaries for Linux and macOS, their SBOMs, checksums. TARGETS=linux/amd64 for less.
	go build -C tools -o ../bin/build-release ./release
	bin/build-release $(if $(TARGETS),-targets $(TARGETS))

.PHONY: release-check
release-check: ## The same, then a second time in another directory and without a cache; fails if a byte differs.
	go build -C tools -o ../bin/build-release ./release
	bin/build-release -check $(if $(TARGETS),-targets $(TARGETS))

.PHONY: run
run: build ## Serve the demo on an embedded database, and print how to use it.
	bin/moderato serve --demo

.PHONY: $(TESTDB)
$(TESTDB):
	@go build -o $@ ./test/testdb/with-databases

.PHONY: databases
databases: $(TESTDB) ## Install and download MariaDB and MySQL, with which a plain go test then tests too.
	$(TESTDB) --prepare

.PHONY: clients
clients: ## Install Node.js, Python, Chromium, mariadb-dump, libfaketime, HAProxy and the npm packages with which go test tests.
	tools/install-test-tools
	tools/install-packages chromium=chromium mariadb-dump=mariadb-client faketime=faketime haproxy=haproxy
	tools/npm-ci clients/compat
	tools/npm-ci console
	tools/npm-ci test/wordlists/testdata

.PHONY: tidb
tidb: ## Build bin/tidb-server for make test STORE=tidb, from its Go module: 20 minutes. Run it once.
	go build -C test/tidb -p 2 -trimpath -ldflags '-s -w' -gcflags all=-dwarf=false -o ../../bin/tidb-server github.com/pingcap/tidb/cmd/tidb-server

.PHONY: test
test: $(TESTDB) $(if $(STORE),,clients) ## Run every test, on SQLite, MariaDB and MySQL; installs and starts what they need. MODERATO_TEST_ALL=1 runs each on both servers. For less: PKG=./server/domain/moderation RUN=Ban. STORE=tidb: those of the server, on TiDB alone.
ifeq ($(STORE),tidb)
	$(TESTDB) --tidb $(GOTEST) -- -vet=off -count 1 -p 1 -timeout 30m $(SELECTED) $(if $(filter ./...,$(PKG)),./server/...,$(PKG))
else
	@echo '== tests that start other programs, on every store'
	$(call run-tests,-E,$(TESTDB))
	@echo '== MariaDB and MySQL'
	$(call run-tests,-vE,MODERATO_TEST_SQLITE=none $(TESTDB))
	@echo '== SQLite, with the race detector'
	$(call run-tests,-vE,MODERATO_TEST_MYSQL=none,$(RACE))
endif

# Compiles packages and their tests with the given flags, and runs the tests. The compiler
# collects less garbage, as in make build; the tests collect theirs as usual. make lint runs vet.
define run-tests
packages=$$(go list $(PKG) | grep $(1) '$(UNRACED)' || true); [ -z "$$packages" ] || { \
	GOGC=400 go list -test -export $(3) $$packages >/dev/null; \
	$(2) $(GOTEST) -- -vet=off $(3) $(SELECTED) $$packages; }
endef

.PHONY: console-soak
console-soak: clients ## Watch a busy chat with the console for MINUTES, 10 by default, and print the figures.
	MODERATO_CONSOLE_SOAK=$(or $(MINUTES),10) MODERATO_TEST_MYSQL=none go test -count 1 -timeout 30m -v -run TestConsoleSoak ./clients/compat

.PHONY: test-sqlite
test-sqlite: ## Run the tests on SQLite alone and without the race detector, for a quick look.
	MODERATO_TEST_MYSQL=none $(GOTEST) -- $(SELECTED) $(PKG)

.PHONY: test-tools
test-tools: ## Test the project's own tools.
	go test -C tools ./release

.PHONY: check
check: gen-check lint manifests build test-tools test-sqlite ## Run what CI runs, but the tests on SQLite alone and without the race detector.

.PHONY: hooks
hooks: ## Check formatting and vet before each commit of this clone.
	ln -sf "$(CURDIR)/tools/pre-commit" "$$(git rev-parse --git-path hooks)/pre-commit"

.PHONY: fmt
fmt: ## Format the code and the .proto files.
	git ls-files '*.go' | grep -v '^gen/' | xargs gofmt -w
	$(TOOL) buf format -w --exclude-path proto/google

.PHONY: gen
gen: ## Generate gen/ and ent/ from proto/ and ent/schema/, what docs/ has of them, and the table of internal/textmatch.
	rm -rf gen
	$(TOOL) buf generate
	go build -C tools -o ../bin/generate-ent ./generate-ent
	bin/generate-ent
	$(TOOL) buf build proto -o bin/contract.binpb
	go run ./docs/generate -image bin/contract.binpb
	go run ./internal/textmatch/generate > bin/lookalikes.txt
	mv bin/lookalikes.txt internal/textmatch/lookalikes.txt

.PHONY: gen-clients
gen-clients: ## Generate the operations and types of clients/typescript and clients/python from docs/openapi, and clients/typescript/dist, which servers offer for download.
	tools/install-packages node=nodejs npm=npm python3=python3
	tools/npm-ci clients/typescript
	npm run --silent --prefix clients/typescript generate
	rm -rf clients/typescript/dist
	npm run --silent --prefix clients/typescript build
	python3 clients/python/generate.py

.PHONY: console
console: ## Check the sources of the console, and build console/dist.
	tools/install-packages node=nodejs npm=npm
	tools/npm-ci console
	npm run --silent --prefix console check
	npm run --silent --prefix console build

GENERATED := gen ent console/dist clients/typescript/dist internal/textmatch/lookalikes.txt docs/contract.md docs/errors.md docs/event-types.md docs/feed-reference.md docs/openapi $(addprefix clients/typescript/src/,schema.ts operations.ts) $(addprefix clients/python/moderato/,_types.py _operations.py)
.PHONY: gen-check
gen-check: gen gen-clients console ## Fail if what is generated is not what is committed.
	@test -z "$$(git status --porcelain -- $(GENERATED))" || { git status --short -- $(GENERATED); echo 'generated code is not up to date: run make gen gen-clients console and commit'; exit 1; }

.PHONY: lint
lint: ## Check the code and the .proto files.
	$(TOOL) buf lint
	$(TOOL) buf format --diff --exit-code --exclude-path proto/google
	tools/check-breaking
	go tool -modfile=tools/lint/go.mod golangci-lint run ./...
	go mod tidy -diff

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what is called; asks vuln.go.dev.
	$(TOOL) govulncheck ./...

.PHONY: fuzz
fuzz: ## Fuzz every parser for FUZZTIME each (20s when not given).
	tools/fuzz $(FUZZTIME)

.PHONY: soak
soak: $(TESTDB) ## Overload servers, and the experiments of docs/reliability.md, at full scale on every kind of store: seven hours and 5 GB. FOR=10m shortens the soak itself, ARGS='-run TestNetwork' selects.
	tools/install-packages faketime=faketime haproxy=haproxy
	$(TESTDB) env MODERATO_SOAK=1 go test -count=1 -p 1 -parallel 1 -timeout 2h -v ./test/abuse ./test/experiments/requests $(ARGS)
	$(TESTDB) env MODERATO_SOAK=1 MODERATO_TEST_ALL=1 go test -count=1 -parallel 1 -timeout 12h -v ./test/experiments $(if $(FOR),-for $(FOR)) $(ARGS)

.PHONY: histories
histories: $(TESTDB) ## Check 200 concurrent histories of bans, mutes, batches and posts for linearizability, and 200 with servers that are killed, on every kind of store.
	MODERATO_TEST_HISTORIES=200 MODERATO_TEST_ALL=1 $(TESTDB) go test -count=1 -timeout 1h -v ./server/domain/moderation/histories -artifacts

.PHONY: bot-soak
bot-soak: ## Kill and restart the server of a documented bot for ten minutes (FOR=3m for less); the bot must miss no event.
	tools/install-test-tools
	MODERATO_TEST_MYSQL=none go test -count=1 -timeout 2h -v -run '^TestBotSoak$$' ./server/cli -bot-soak $(or $(FOR),10m)

.PHONY: failover
failover: $(TESTDB) ## Kill the primary of a MySQL replication group ten times under load, isolate it five times and suspend it twice: a quarter of an hour. KILLS=1 PARTITIONS=1 PAUSES=0 for less.
	$(TESTDB) --prepare
	@# Members are cut off from each other with network namespaces, which root may create, and
	@# every user in a user namespace.
	unshare --map-root-user --net go test -count=1 -timeout 2h -v -run '^TestFailoverExperiment$$' ./server/cli \
		-failover-kills $(or $(KILLS),10) -failover-partitions $(or $(PARTITIONS),5) -failover-pauses $(or $(PAUSES),2)

.PHONY: failover-galera
failover-galera: $(TESTDB) ## Kill the Galera node that servers write to ten times under load, and suspend it ten times, and have two servers write to different nodes: seven minutes. KILLS=1 PAUSES=1 CONFLICTS=20s for less. Installs galera-4.
	$(TESTDB) --prepare
	go test -count=1 -timeout 1h -v -run '^TestGalera' ./server/cli -galera-kills $(or $(KILLS),10) -galera-pauses $(or $(PAUSES),10) -galera-conflicts $(or $(CONFLICTS),2m)

.PHONY: manifests
manifests: ## Check the Kubernetes manifests, the Compose file and the Dockerfile of deploy/.
	@go build -C tools/manifests -o ../../bin/manifests .
	bin/manifests deploy

.PHONY: image-check
image-check: ## Build the image of deploy/Dockerfile with buildah, without a registry, and run it: three minutes, as root.
	tools/check-image

.PHONY: deploy-check
deploy-check: manifests ## The same, and check deploy/ with Prometheus (its rules, their tests, each query against a server) and with systemd (the exposure of the unit).
	command -v systemd-analyze >/dev/null || apt-get install -y -qq systemd
	systemd-analyze security --offline=true --no-pager --threshold=12 deploy/systemd/moderato.service >/dev/null
	mkdir -p bin/prometheus
	[ -x bin/prometheus/usr/bin/promtool ] || (cd bin/prometheus && apt-get download -qq prometheus && dpkg -x prometheus_*.deb .)
	PATH="$(CURDIR)/bin/prometheus/usr/bin:$$PATH" MODERATO_TEST_MYSQL=none go test -count=1 -timeout 5m -v ./deploy

.PHONY: bench
bench: ## Measure against the floors; keeps its data in test/bench/.data. ARGS='-only followers' for less.
	tools/install-bench-tools
	go run ./test/bench $(ARGS)

.PHONY: microbench
microbench: ## Benchmark JSON, cursors, tokens and queries, six times each, for benchstat.
	go test -run '^$$' -bench . -benchmem -count 6 ./internal/jsonapi ./server/store/cursor ./server/rpc/authn ./gateway

.PHONY: migration
migration: $(TESTDB) ## Propose migrations for a changed ent/schema: make migration NAME=add_followers
	@test -n "$(NAME)" || { echo 'say what it does: make migration NAME=add_followers'; exit 1; }
	$(TESTDB) tools/migration $(NAME)

.PHONY: clean
clean: ## Remove what was built, and the demo's database.
	rm -rf bin moderato.db moderato.db-shm moderato.db-wal moderato.db.migrate.lock
