# Every target works from a clean clone with Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint types contracts unit bench docs clean

$(VENV)/.base: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("relatum needs Python 3.11 or newer; set PYTHON=") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[plots]'
	touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) -e '.[dev]'
	touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) -e '.[bench]'
	touch $@

demo: $(VENV)/.base
	$(BIN)/relatum demo

test: lint types contracts unit

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

# Two workers; each test module stays on one worker so that compiled kernels are shared.
unit: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist loadfile --doctest-modules

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .pytest_cache
