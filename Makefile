# `make preview` is the first command, `make test` the one test command. Everything either needs, it installs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export UV_CACHE_DIR ?= $(HOME)/.cache/gpufleet/uv
SOURCES := __main__.py benchmarks cli components fleet preview rehearsal tests

.PHONY: preview rehearse test setup setup-dev check lint types unit engine format lock golden bench clean

preview: setup
	./gpufleet preview

rehearse: setup
	./gpufleet rehearse

test: check unit

setup: $(VENV)/.installed

setup-dev: $(VENV)/.installed-dev

check: lint types

lint: setup-dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: setup-dev
	$(BIN)/pyright

unit: setup-dev
	$(BIN)/pytest -n auto --dist loadgroup

engine: setup-dev
	$(BIN)/pytest -m engine -v

format: setup-dev
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

# Renews the resolved, hashed copies of what requirements*.in name.
lock: setup-dev
	$(BIN)/uv pip compile -q --generate-hashes --python-version 3.11 --universal requirements.in -o requirements.txt
	$(BIN)/uv pip compile -q --generate-hashes --python-version 3.11 --universal requirements-dev.in -o requirements-dev.txt

# Rewrites goldens and schemas from what the program says now; read the difference before committing it.
golden: setup-dev
	GPUFLEET_UPDATE_GOLDEN=1 $(BIN)/pytest -q tests/golden tests/catalogue tests/fleet

bench: setup-dev
	$(BIN)/python benchmarks/preview_scale.py

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis

$(VENV)/.uv:
	scripts/make-venv $(PYTHON) $(VENV)
	touch $@

$(VENV)/.installed: $(VENV)/.uv requirements.txt
	@echo "Installing the provider SDKs (1 GB, one to three minutes the first time) ..."
	$(BIN)/uv pip install --require-hashes --compile-bytecode -r requirements.txt
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.txt
	$(BIN)/uv pip install --require-hashes --compile-bytecode -r requirements-dev.txt
	touch $@
