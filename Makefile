# The commands of the project. `make` lists them.

.DEFAULT_GOAL := help

# Query data is checked in under .sqlx: building needs no database, whatever DATABASE_URL says.
export SQLX_OFFLINE = true

.PHONY: help
help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## Set up what is missing, build, serve, and on the first start load the sample handbook
	@scripts/run

.PHONY: test
test: ## Run every test
	@scripts/test

.PHONY: cluster-test
cluster-test: ## Run the tests on a database that is split up over several servers by Citus, which is built from CITED_CITUS=path if it is missing
	@scripts/cluster-test

.PHONY: clients
clients: ## Ask with the SDKs and the official clients of OpenAI, MCP and others, fuzz the contract, and hold the scripted model server against the clients of models; needs Python and Node
	@scripts/test-clients

.PHONY: fmt
fmt: ## Format the code
	cargo fmt --all

.PHONY: lint
lint: ## Format check, lints, licences and unused dependencies
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	scripts/check-dependencies
	@if command -v cargo-deny >/dev/null 2>&1; then cargo deny check; \
	else echo "cargo-deny is not installed: advisories were not checked"; fi

.PHONY: check
check: lint test ## Everything that must hold before a commit: lint and test

.PHONY: openapi
openapi: ## Write openapi/openapi.json anew from the code
	@mkdir -p openapi
	cargo run --quiet --locked -- openapi > openapi/openapi.json.new
	@mv openapi/openapi.json.new openapi/openapi.json

.PHONY: sdk
sdk: ## Make the SDKs anew from openapi/openapi.json, after a change of it; needs Python and Node
	@scripts/sdk

.PHONY: web
web: ## Build the web page anew into assets/web; needs Node 20.19 or newer
	cd web && npm ci --no-audit --no-fund && npm run build

.PHONY: web-check
web-check: ## Check that assets/web is what web/ builds, if Node is installed
	@scripts/web-check

.PHONY: web-test
web-test: ## Test the web page in Chromium (CHROMIUM=path), on services of its own
	cargo build --locked --bin cited
	@scripts/ensure-postgres $(or $(CARGO_TARGET_DIR),target)/debug/cited
	cd web && npm ci --no-audit --no-fund && npm test

.PHONY: sqlx-prepare
sqlx-prepare: ## Write .sqlx anew, after a change of SQL
	@scripts/sqlx-prepare

.PHONY: release
release: ## Build for speed, and see to a Postgres that it finds
	cargo build --release --locked --bin cited
	@scripts/ensure-postgres $(or $(CARGO_TARGET_DIR),target)/release/cited

.PHONY: eval
eval: ## Measure quality as in docs/quality.md: make eval DATA="path/to/scifact …" (OFF_CORPUS=path, LIMIT=n)
	@test -n "$(DATA)" || { echo 'Name the folders: make eval DATA="path/to/scifact"' >&2; exit 2; }
	@$(MAKE) --no-print-directory release
	@OFF_CORPUS="$(OFF_CORPUS)" LIMIT="$(LIMIT)" scripts/eval $(or $(CARGO_TARGET_DIR),target)/release/cited $(DATA)

.PHONY: bench
bench: release ## Measure ingest and ask of a release build, about ten minutes
	cargo run --release --locked -p cited-bench

.PHONY: bench-size
bench-size: release ## Measure search over 10,000, 100,000 and 1,000,000 chunks, about an hour
	cargo run --release --locked -p cited-bench -- size

.PHONY: bench-ingest
bench-ingest: release ## Measure bulk ingest of 20,000, 100,000 and 500,000 chunks beside raw COPY, about an hour
	cargo run --release --locked -p cited-bench -- ingest

.PHONY: bench-bulk
bench-bulk: release ## Stream 1.1 GB into the service and watch its memory, some minutes
	cargo run --release --locked -p cited-bench -- bulk

.PHONY: image
image: ## Build the container image
	docker build --tag cited .

.PHONY: clean
clean: ## Remove what was built; data and fetched binaries stay
	cargo clean
