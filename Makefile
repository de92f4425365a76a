# `make help` lists what there is. Needs git, make and Python >= 3.11, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.installed-base
DEV := $(VENV)/.installed-dev
PIP := $(BIN)/python -m pip --disable-pip-version-check
CODE := $(wildcard src tests benchmarks examples tools)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup test demo lint format types docs docs-check study bench requirements clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(DEV) ## create .venv with everything needed to develop and test

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "Assay needs Python 3.11 or newer, and '$(PYTHON)' was not found: install it or name one, as in 'make setup PYTHON=python3.12'." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Assay needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) -V 2>&1): name a newer one, as in 'make setup PYTHON=python3.12'." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "'$(PYTHON)' cannot create virtual environments because its venv or ensurepip module is missing: install it (on Debian and Ubuntu: 'apt-get install python3-venv')." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "'$(PYTHON) -m venv $(VENV)' failed for the reason above: mend it or name another Python, as in 'make setup PYTHON=python3.12'." >&2; exit 1; }

# What is needed to run assay: the pinned packages, then this tree itself, editable.
$(BASE): requirements.txt pyproject.toml | $(BIN)/python
	$(PIP) install --quiet -r requirements.txt
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements-dev.txt $(BASE)
	$(PIP) install --quiet -r requirements-dev.txt
	@touch $@

test: setup lint types ## lint, types, then all tests but the studies
	$(BIN)/python -m pytest -n auto

demo: $(BASE) ## judge a small corpus with planted faults and write its report
	$(BIN)/assay demo

lint: setup ## check style and form, change nothing
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

format: setup ## rewrite the sources in the one format
	$(BIN)/ruff check --fix-only --quiet $(CODE)
	$(BIN)/ruff format $(CODE)

types: setup ## strict type check of src
	$(BIN)/mypy

docs: setup ## generate the pages of gates, readers, CLI and schema
	$(BIN)/python -m assay.docs

docs-check: setup ## which generated pages are stale (a test says so too)
	$(BIN)/python -m assay.docs --check

study: setup ## the long measurements: detection power per gate and dose, into docs/power
	$(BIN)/python -m benchmarks.power
	$(BIN)/python -m pytest -n auto -m study --timeout 0

bench: setup ## measure speed and memory
	$(BIN)/python -m benchmarks

# The header and annotations name no machine: options and indexes of the caller stay out of the files.
COMPILE := CUSTOM_COMPILE_COMMAND='make requirements' $(BIN)/pip-compile --quiet --allow-unsafe --strip-extras \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options --resolver backtracking
DEV_GROUP := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"], sep="\n")

requirements: ## pin again from pyproject.toml (run with the oldest supported Python)
	@test -x $(BIN)/pip-compile || { $(PYTHON) -m venv $(VENV) && $(PIP) install --quiet pip-tools; }
	@$(COMPILE) --build-deps-for editable --output-file requirements.txt pyproject.toml
	@$(BIN)/python -c '$(DEV_GROUP)' > dev-group.in
	@$(COMPILE) --constraint requirements.txt --extra ros --extra physics \
		--output-file requirements-dev.txt pyproject.toml dev-group.in; \
		status=$$?; rm -f dev-group.in; exit $$status
	@sed -i.bak 's/-r dev-group.in/dev group (pyproject.toml)/' requirements-dev.txt && rm -f requirements-dev.txt.bak

clean: ## remove what was built; the virtual environment goes too
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +
