# Every target sets up what it needs. `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help demo test check bench fmt sqlx db clean-demo prepare

# Where `make demo` keeps its Postgres; see crates/cli/src/private_postgres.
DEMO_POSTGRES := .plumbline/postgres
RUN := cargo run --quiet -p plumbline --
ARGS ?=

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: prepare ## Run a sample job, everything included (ARGS="--document FILE" for your own)
	@.ci/build
	@$(RUN) dev $(ARGS)

test: prepare ## Run all tests, on a Postgres of their own (PLUMBLINE_TEST_DATABASE_URL names another)
	@.ci/build
	@if [ -n "$$PLUMBLINE_TEST_DATABASE_URL" ]; then \
		DATABASE_URL="$$PLUMBLINE_TEST_DATABASE_URL" cargo test --workspace --no-fail-fast $(ARGS); \
	else \
		$(RUN) __with-postgres -- cargo test --workspace --no-fail-fast $(ARGS); \
	fi

check: prepare ## Format, lints, documentation and licences, without changing anything
	@.ci/prepare lints
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet
	.ci/licences

bench: prepare ## Measure, on a Postgres whose commits reach the disk
	@.ci/build
	@$(RUN) __with-postgres --durable -- cargo bench --workspace $(ARGS)

fmt: ## Format the sources
	@.ci/prepare lints
	cargo fmt --all

sqlx: prepare ## Regenerate .sqlx, the checked SQL statements, after a change of a query or a migration
	@.ci/sqlx-data .sqlx

db: prepare ## Open psql on the demo's Postgres
	@.ci/build
	@$(RUN) __with-postgres --data $(DEMO_POSTGRES) -- sh -c 'exec psql "$$DATABASE_URL"'

clean-demo: ## Delete the demo's Postgres and its files
	@.ci/clean-demo $(DEMO_POSTGRES)

prepare:
	@.ci/prepare
