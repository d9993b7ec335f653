# Needs python 3.11, 3.12 or 3.13 and make; everything else is set up in .venv and .venv-tools.

VENV := .venv
TOOLS := .venv-tools
LOAD := .venv-load
PEERS := .venv-peers
BIN := $(VENV)/bin
UV := UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=$(VENV) $(TOOLS)/bin/uv
DATA ?= ../shared/data
OUT ?= docs/evaluation.md
ARGS ?=
MINUTES ?= 30
UV_VERSION := 0.13

.DEFAULT_GOAL := help
.PHONY: help run test lint format types imports openapi openapi-check eval test-export clean
.PHONY: faults bench load growth soak footprint performance

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

run: $(VENV)/.run-stamp ## Set up if needed and start the service (GROUNDKEEPER_* settings apply)
	@exec $(BIN)/groundkeeper serve

test: $(VENV)/.dev-stamp ## Set up if needed and run all tests; ARGS='-k policies' for some
	@$(BIN)/python -m pytest $(ARGS)

faults: $(VENV)/.dev-stamp ## Run the fault tests in their long forms (hours); ARGS='-k disk' for some
	@$(BIN)/python -m pytest tests/faults -m 'faults_long or not faults_long' $(ARGS)

lint: $(VENV)/.dev-stamp ## Check style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(VENV)/.dev-stamp ## Format the code and fix what can be fixed by itself
	@$(BIN)/ruff check --fix --exit-zero .
	@$(BIN)/ruff format .

types: $(VENV)/.dev-stamp ## Check the types
	@$(BIN)/mypy

imports: $(VENV)/.dev-stamp ## Check the direction of imports
	@$(BIN)/lint-imports

openapi: $(VENV)/.dev-stamp ## Write openapi.yaml from the code
	@$(BIN)/groundkeeper openapi --out openapi.yaml

openapi-check: $(VENV)/.dev-stamp ## Check that openapi.yaml is current
	@$(BIN)/groundkeeper openapi --out openapi.yaml --check

bench: $(VENV)/.dev-stamp $(PEERS)/.stamp ## Measure side by side with what could be done alone; ARGS=--quick
	@$(BIN)/python loadtests/bench.py $(ARGS)
	@$(BIN)/python loadtests/audit.py $(filter --quick,$(ARGS))

load: $(VENV)/.dev-stamp $(LOAD)/.stamp ## Put real load on a server of its own
	@$(BIN)/python loadtests/load.py $(ARGS)

growth: $(VENV)/.dev-stamp $(LOAD)/.stamp ## Measure 1,000 to 1,000,000 facts (half an hour or more)
	@$(BIN)/python loadtests/growth.py $(ARGS)

soak: $(VENV)/.dev-stamp $(LOAD)/.stamp ## Run at a steady rate for MINUTES=30, and look for growth
	@$(BIN)/python loadtests/soak.py --minutes $(MINUTES) $(ARGS)

footprint: $(VENV)/.dev-stamp ## Measure time to start and memory, and what holds it
	@$(BIN)/python loadtests/footprint.py $(ARGS)

performance: $(VENV)/.dev-stamp ## Write the results of these into docs/performance.md
	@$(BIN)/python loadtests/document.py

eval: $(VENV)/.dev-stamp ## Measure the gate on data sets; DATA=folder OUT=file
	@$(BIN)/groundkeeper eval --data $(DATA) --out $(OUT)

test-export: $(VENV)/.dev-stamp ## Run the tests of the model export (installs torch)
	@$(UV) sync --frozen --quiet --inexact --extra export
	@$(BIN)/python -m pytest tests/export $(ARGS)

clean: ## Remove what make has set up; data and keys stay
	rm -rf $(VENV) $(TOOLS) $(LOAD) $(PEERS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.run-stamp: pyproject.toml uv.lock | $(TOOLS)/.stamp
	@echo "Installing the service into $(VENV) (once) …"
	@$(UV) sync --frozen --quiet --inexact --no-dev --python $(TOOLS)/bin/python
	@touch $@

$(VENV)/.dev-stamp: pyproject.toml uv.lock | $(TOOLS)/.stamp
	@echo "Installing the service and its test tools into $(VENV) (once) …"
	@$(UV) sync --frozen --quiet --inexact --python $(TOOLS)/bin/python
	@touch $@ $(VENV)/.run-stamp

$(LOAD)/.stamp: loadtests/requirements.txt | $(TOOLS)/.stamp
	@echo "Installing the load tests' tools into $(LOAD) (once) …"
	@$(call separate,$(LOAD),$<)

$(PEERS)/.stamp: loadtests/peers/requirements.txt | $(TOOLS)/.stamp
	@echo "Installing other memory libraries into $(PEERS) (once) …"
	@$(call separate,$(PEERS),$<)

# An environment of its own ($1) with nothing but what a file ($2) lists.
define separate
	$(UV) venv --quiet --clear --python $(TOOLS)/bin/python $1 && echo '*' > $1/.gitignore && \
	$(UV) pip install --quiet --python $1/bin/python -r $2 && touch $1/.stamp
endef

$(TOOLS)/.stamp:
	@set -e; for candidate in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
	  if $$candidate -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' \
	      >/dev/null 2>&1; then found=$$candidate; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "Python 3.11, 3.12 or 3.13 is needed. If it has another name: make PYTHON=/path/to/python" >&2; \
	  exit 1; \
	fi; \
	echo "Setting up with $$found …"; \
	$$found -m venv $(TOOLS); \
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=$(UV_VERSION),<1'
	@echo '*' > $(TOOLS)/.gitignore
	@touch $@
