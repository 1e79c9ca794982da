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

.PHONY: fmt
fmt: ## Format the code
	cargo fmt --all

.PHONY: lint
lint: ## Format check, lints, licences and unused dependencies
	cargo fmt --all --check
	cargo clippy --all-targets --locked -- -D warnings
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

.PHONY: sqlx-prepare
sqlx-prepare: ## Write .sqlx anew, after a change of SQL
	@scripts/sqlx-prepare

.PHONY: eval
eval: ## Measure quality on folders in the BEIR layout: make eval DATA="path/to/scifact …"
	@test -n "$(DATA)" || { echo 'Name the folders: make eval DATA="path/to/scifact"' >&2; exit 2; }
	cargo run --quiet --release --locked -- eval $(DATA)

.PHONY: bench
bench: ## Measure the speed of the built-in embedding model against onnxruntime
	@scripts/bench --threads 1 2

.PHONY: image
image: ## Build the container image
	docker build --tag cited .

.PHONY: clean
clean: ## Remove what was built; data and fetched binaries stay
	cargo clean
