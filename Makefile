# Needs python 3.11, 3.12 or 3.13 and make; everything else is set up in .venv and .venv-tools.

VENV := .venv
TOOLS := .venv-tools
BIN := $(VENV)/bin
UV := UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=$(VENV) $(TOOLS)/bin/uv
DATA ?= ../shared/data
OUT ?= docs/evaluation.md
ARGS ?=
UV_VERSION := 0.13

.DEFAULT_GOAL := help
.PHONY: help run test lint format types imports openapi openapi-check bench load eval test-export clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

run: $(VENV)/.run-stamp ## Set up if needed and start the service (GROUNDKEEPER_* settings apply)
	@exec $(BIN)/groundkeeper serve

test: $(VENV)/.dev-stamp ## Set up if needed and run all tests; ARGS='-k policies' for some
	@$(BIN)/python -m pytest $(ARGS)

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

bench: $(VENV)/.dev-stamp ## Measure recall on a store of its own, then a running service under load
	@$(BIN)/python loadtests/recall.py
	@$(BIN)/python loadtests/parallel.py $(ARGS)

load: $(VENV)/.dev-stamp ## Measure a running service: one client beside 32
	@$(BIN)/python loadtests/parallel.py $(ARGS)

eval: $(VENV)/.dev-stamp ## Measure the gate on data sets; DATA=folder OUT=file
	@$(BIN)/groundkeeper eval --data $(DATA) --out $(OUT)

test-export: $(VENV)/.dev-stamp ## Run the tests of the model export (installs torch)
	@$(UV) sync --frozen --quiet --inexact --extra export
	@$(BIN)/python -m pytest tests/export $(ARGS)

clean: ## Remove what make has set up; data and keys stay
	rm -rf $(VENV) $(TOOLS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.run-stamp: pyproject.toml uv.lock | $(TOOLS)/.stamp
	@echo "Installing the service into $(VENV) (once) …"
	@$(UV) sync --frozen --quiet --inexact --no-dev --python $(TOOLS)/bin/python
	@touch $@

$(VENV)/.dev-stamp: pyproject.toml uv.lock | $(TOOLS)/.stamp
	@echo "Installing the service and its test tools into $(VENV) (once) …"
	@$(UV) sync --frozen --quiet --inexact --python $(TOOLS)/bin/python
	@touch $@ $(VENV)/.run-stamp

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
