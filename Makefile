# Every target first brings node_modules to what package-lock.json says; see scripts/install.

BUN := node_modules/.bin/bun

.DEFAULT_GOAL := help
.PHONY: help install test flaky e2e e2e-all parts fuzz soak lint format generate build image bench bench-operator bench-world demo demo-real world world-status world-down clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo '  T=PATH            with test: only that file or folder, as T=src/cli/version.test.ts'
	@echo '  T=NAME            with e2e: only that scenario, a file e2e/NAME.test.ts'
	@echo '  UPDATE_TIMINGS=1  with test: record how long each file takes, for the order in which they start'
	@echo '  E2E=auto          with e2e: succeed, saying why, where the tests cannot run'
	@echo '  SECONDS=60        with fuzz: how long'
	@echo '  MINUTES=2         with soak: how long'
	@echo '  QUICK=1           with bench: under three minutes; PEERS=a,b, CASES=a,b, SNICKET=program choose (docs/bench.md)'
	@echo '  IMAGE=NAME:TAG    with image: its name; default snicket.dev/snicket and the version'
	@echo '  ONCE=1            with demo and demo-real: end when all is shown; default without a terminal'
	@echo '  KEEP=1            with world: leave it running until make world-down'

install:
	@sh scripts/install

test: install ## the tests that need npm only, two minutes on two quiet cores; report in build/test.xml
	$(BUN) scripts/test/run.ts $(if $(UPDATE_TIMINGS),--update-timings) $(T)

flaky: install ## run suites again and again while CPUs are stolen and processes paused: RUNS=10 SUITES="test e2e"
	$(BUN) scripts/flaky/run.ts $(if $(RUNS),--runs=$(RUNS)) $(if $(SEED),--seed=$(SEED)) $(SUITES)

e2e: install ## end-to-end tests on real Kubernetes parts; builds them on first use
	$(BUN) e2e/run.ts $(T)

e2e-all: install ## the same and the optional scenarios: edges, envoy-edges, providers, providers-exposed
	$(BUN) e2e/run.ts --all $(if $(OPTIONAL_BEFORE),--optional-before=$(OPTIONAL_BEFORE))

parts: install ## build everything that e2e-all needs into the cache, at low priority
	world/world build --all

fuzz: install ## compare the parsers with slow, plain ones on mutated inputs
	$(BUN) fuzz/run.ts $(SECONDS)

soak: install ## storms of connections through each engine, with memory and descriptors watched
	$(BUN) soak/run.ts $(MINUTES)

lint: install ## check format, lint rules and types
	node_modules/.bin/oxfmt --check
	node_modules/.bin/oxlint
	node_modules/.bin/tsc

format: install ## write the format that lint checks
	node_modules/.bin/oxfmt

generate: install ## write deploy/crds and docs/reference from src/api
	$(BUN) scripts/crds.ts

# The program of a gateway's thread is an entry point of its own. With --splitting, what a command does not use is not
# loaded: 1 to 2 MB of memory. With --bytecode, what is loaded need not be compiled into memory: 1 MB more, for 5 MB of disk.
build: install ## dist/snicket, one file with its runtime inside
	$(BUN) build --compile --splitting --minify --bytecode --format=esm --no-compile-autoload-dotenv --no-compile-autoload-bunfig \
	  src/main.ts src/gateway/thread/engine-thread.ts --outfile dist/snicket
	@du -h dist/snicket

image: build ## dist/snicket-image.tar, an OCI image; needs no container engine
	$(BUN) image/build.ts $(if $(IMAGE),'$(IMAGE)')

bench: build ## compare gateway and proxy with HAProxy, nginx, Go and C; a quarter of an hour
	$(BUN) bench/run.ts $(if $(QUICK),--quick) $(if $(PEERS),--peers '$(PEERS)') $(if $(CASES),--cases '$(CASES)')

bench-operator: build ## measure the operator with TENANTS=1000 simulated tenants: start, rest, reactions
	$(BUN) bench/operator/run.ts --tenants $(or $(TENANTS),1000)

bench-world: install ## measure what a world costs: start, memory, end
	$(BUN) bench/world.ts

demo: install ## two control planes behind one address, pods that get through, commands to try; npm only, no root
	@$(BUN) demo/run.ts

demo-real: install ## the same with real Kubernetes: API servers, workers, pods; needs root and Go
	@$(BUN) demo/real.ts

world: install ## start a management cluster and two tenants with workers; Ctrl-C ends it
	world/world up $(if $(KEEP),--keep)

world-status: install ## say what of the world is running
	world/world status

world-down: install ## end kept worlds and remove what dead ones left
	world/world down

clean: ## remove what build and the tests wrote
	rm -rf build dist
