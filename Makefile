# Every target works from a clean clone with Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Modules are compiled when they are first imported, most that pip installs never are; and kept,
# whatever the environment says, for the tests start many processes.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
# Two workers; tests/conftest.py says which tests stay together and which come first.
PYTEST := $(BIN)/pytest -n 2

.PHONY: demo check test lint types contracts quick unit bench docs clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("relatum needs Python 3.11 or newer; set PYTHON=") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[plots]'
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[dev]'
	touch $(VENV)/.base $@

$(VENV)/.docs: $(VENV)/.dev
	$(PIP) -e '.[docs]'
	touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) -e '.[bench]'
	touch $@

demo: $(VENV)/.base
	$(BIN)/relatum demo

# While working: everything but the tests that take long.
check: lint types contracts quick

# The gate.
test: lint types contracts unit

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

quick: $(VENV)/.dev
	$(PYTEST) -q -m "not slow" tests

unit: $(VENV)/.dev
	$(PYTEST) --doctest-modules

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
