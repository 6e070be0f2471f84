# Most targets first install the packages of package-lock.json; see scripts/install.

BUN := node_modules/.bin/bun

.DEFAULT_GOAL := help
.PHONY: help install test flaky e2e e2e-all parts fuzz soak lint format generate pictures build image bench bench-operator bench-world demo demo-real world world-status world-down clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo '  T=PATH            with test: only that file or folder, as T=src/cli/version.test.ts'
	@echo '  T=NAME            with e2e: only that scenario, a file e2e/NAME.test.ts'
	@echo '  UPDATE_TIMINGS=1  with test: record the duration of each file; later runs start the slowest files first'
	@echo '  E2E=auto          with e2e: skip the tests, with the reason, if they cannot run on this machine'
	@echo '  SECONDS=60        with fuzz: duration'
	@echo '  MINUTES=2         with soak: duration'
	@echo '  QUICK=1           with bench: under three minutes; PEERS=a,b CASES=a,b SNICKET=PROGRAM select what runs (docs/bench.md)'
	@echo '  IMAGE=NAME:TAG    with image: name of the image; default snicket.dev/snicket:VERSION'
	@echo '  ONCE=1            with demo and demo-real: exit when the demo is complete; default without a terminal'
	@echo '  KEEP=1            with world: keep it running; remove it with world/world down ID'

install:
	@sh scripts/install

test: install ## Run the tests that need only npm, in about two minutes on two idle cores; report in build/test.xml
	$(BUN) scripts/test/run.ts $(if $(UPDATE_TIMINGS),--update-timings) $(T)

flaky: install ## Run suites repeatedly under CPU load and with paused processes: RUNS=10 SUITES="test e2e"
	$(BUN) scripts/flaky/run.ts $(if $(RUNS),--runs=$(RUNS)) $(if $(SEED),--seed=$(SEED)) $(SUITES)

e2e: install ## Run the end-to-end tests on real Kubernetes components; builds them on first use
	$(BUN) e2e/run.ts $(T)

e2e-all: install ## Run e2e and the optional scenarios: edges, envoy-edges, providers, providers-exposed
	$(BUN) e2e/run.ts --all $(if $(OPTIONAL_BEFORE),--optional-before=$(OPTIONAL_BEFORE))

parts: install ## Build everything that e2e-all needs into the cache, at low priority
	world/world build --all

fuzz: install ## Compare the parsers with simple reference parsers on mutated inputs
	$(BUN) fuzz/run.ts $(SECONDS)

soak: install ## Load each engine with connections, and check memory and file descriptors
	$(BUN) soak/run.ts $(MINUTES)

lint: install ## Check format, lint rules and types
	node_modules/.bin/oxfmt --check
	node_modules/.bin/oxlint
	node_modules/.bin/tsc

format: install ## Format the code as lint checks it
	node_modules/.bin/oxfmt

generate: install ## Generate deploy/crds and docs/reference from src/api
	$(BUN) scripts/crds.ts

pictures: install ## Draw docs/images from a run of the demo
	$(BUN) scripts/docs/pictures.ts

# The program of a gateway's thread is a separate entry point. With --splitting, a command loads only the code that it uses,
# which saves 1 to 2 MB of memory. With --bytecode, loaded code is not compiled in memory, which saves another 1 MB for 5 MB
# of disk.
build: install ## Build dist/snicket, one file that contains its runtime
	$(BUN) build --compile --splitting --minify --bytecode --format=esm --no-compile-autoload-dotenv --no-compile-autoload-bunfig \
	  src/main.ts src/gateway/thread/thread-program.ts --outfile dist/snicket
	@du -h dist/snicket

image: build ## Write dist/snicket-image.tar, an OCI image; needs no container engine
	$(BUN) image/build.ts $(if $(IMAGE),'$(IMAGE)')

bench: build ## Compare gateway and proxy with HAProxy, nginx, Go and C; takes 15 minutes
	$(BUN) bench/run.ts $(if $(QUICK),--quick) $(if $(PEERS),--peers '$(PEERS)') $(if $(CASES),--cases '$(CASES)')

bench-operator: build ## Measure the operator with TENANTS=1000 simulated tenants: start, idle, reactions
	$(BUN) bench/operator/run.ts --tenants $(or $(TENANTS),1000)

bench-world: install ## Measure start, memory and removal of a world
	$(BUN) bench/world.ts

demo: install ## Show two control planes behind one address, with commands to try; npm only, no root
	@$(BUN) demo/run.ts

demo-real: install ## Show the same with real Kubernetes: API servers, workers, pods; needs root and Go
	@$(BUN) demo/real.ts

world: install ## Start a management cluster and two tenants with workers; Ctrl-C removes it
	world/world up $(if $(KEEP),--keep)

world-status: install ## Show the status of the worlds on this machine
	world/world status

world-down: install ## Remove kept and dead worlds
	world/world down

clean: ## Remove the output of build and tests
	rm -rf build dist
