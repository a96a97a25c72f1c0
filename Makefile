# Every target works from a clean clone with Python 3.11 or newer, make and, for the kernels, a C
# compiler; where there is none, pip brings one (the package ziglang).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Modules are compiled when they are first imported, most that pip installs never are; and kept,
# whatever the environment says, for the tests start many processes.
unexport PYTHONDONTWRITEBYTECODE
# The tools that build the kernels are pinned like all others (two names: one for older pip).
# Relative: pip splits these at spaces, and the folder may have some in its name.
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# Two workers; tests/conftest.py says which tests stay together and which come first.
PYTEST := $(BIN)/pytest -n 2

KERNELS := $(shell find src/relatum/kernels -name '*.pyx' -o -name '*.pxd')

.NOTPARALLEL:
.PHONY: demo check test lint types contracts quick unit kernels check-bounds bench docs first-hour clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("relatum needs Python 3.11 or newer; set PYTHON=") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

# pip compiles the kernels, which it does not say. What the demo imports is imported once, so that
# its first run finds bytecode.
define announce
	@$(PYTHON) build_kernels.py --announce
endef

$(VENV)/.base: pyproject.toml constraints.txt build_kernels.py $(KERNELS) | $(BIN)/python
	$(announce)
	$(PIP) -e '.[plots]'
	$(BIN)/python -c 'import relatum.cli.demo, relatum.cli.page, relatum.plots, matplotlib.pyplot'
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(announce)
	$(PIP) -e '.[dev]'
	@$(BIN)/python build_kernels.py --has-compiler || $(PIP) ziglang
	touch $(VENV)/.base $@

$(VENV)/.docs: $(VENV)/.dev
	$(PIP) -e '.[docs]'
	touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) -e '.[bench]'
	touch $@

# Kernels that changed since they were compiled; always asked for, because that takes a second, and
# no stamp sees a file that was renamed or removed.
kernels: $(VENV)/.dev
	$(BIN)/python build_kernels.py

# The tests of the kernels once more, with every index checked.
check-bounds: kernels
	$(BIN)/python build_kernels.py --checked
	RELATUM_KERNELS=checked $(PYTEST) -q tests/kernels

demo: $(VENV)/.base
	$(BIN)/relatum demo

# While working: everything but the tests that take long.
check: lint types contracts quick

# The gate.
test: lint types contracts unit check-bounds

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint src/relatum/kernels

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

quick: kernels
	$(PYTEST) -q -m "not slow" tests

unit: kernels
	$(PYTEST) --doctest-modules

bench: $(VENV)/.bench kernels
	$(BIN)/python -m benchmarks

docs: $(VENV)/.docs kernels
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# README and Quickstart, followed literally in a fresh environment; takes minutes.
first-hour:
	$(PYTHON) docs/first_hour.py

clean:
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	rm -rf .hypothesis relatum-demo.html src/relatum/kernels/_v3 src/relatum/kernels/_checked
	find src tests benchmarks docs -name __pycache__ -prune -exec rm -rf {} +
	find src/relatum/kernels \( -name '*.so' -o -name '*.new' -o -name '*.pyd' \) -delete
