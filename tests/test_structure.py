"""Every module has its test, every solver its documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

import relatum
from relatum.solvers import SOLVERS

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "relatum"
MODULES = sorted(
    path.relative_to(SOURCE).with_suffix("")
    for path in SOURCE.rglob("*.py")
    if not path.name.startswith("__")
)
# Parts of one algorithm, tested through the module that puts them together.
TESTED_WITH = {
    "cli/metrics": "cli/test_cli.py",
    "cli/output": "cli/test_terminal.py",
    "cli/page": "cli/test_cli.py",
    "errors": "test_structure.py",
    "features/_validate": "features/test_binary.py",
    "io/cplib": "io/test_problems.py",
    "io/listed_pairs": "io/test_problems.py",
    "io/matrices": "io/test_round_trips.py",
    "io/multicut": "io/test_problems.py",
    "io/pace": "io/test_problems.py",
    "io/scored_pairs": "io/test_problems.py",
    "io/signed_graph": "io/test_problems.py",
    "joint/conjugate": "joint/test_logistic_exact.py",
    "joint/inputs": "joint/test_alternation.py",
    "pair_tables/on_duckdb/engine": "pair_tables/test_api.py",
    "pair_tables/on_duckdb/work": "pair_tables/test_api.py",
    "pair_tables/engines": "pair_tables/test_api.py",
    "pair_tables/on_duckdb/known": "pair_tables/test_api.py",
    "pair_tables/result": "pair_tables/test_api.py",
    "pair_tables/on_duckdb/reuse": "pair_tables/test_api.py",
    "pair_tables/on_spark/known": "pair_tables/on_spark/test_engine.py",
    "solvers/partition/exact/opening": "solvers/partition/exact/test_opening.py",
    "solvers/partition/exact/node": "solvers/partition/exact/test_branch_and_cut.py",
    "solvers/partition/exact/relaxation": "solvers/partition/exact/test_branch_and_cut.py",
    "solvers/partition/exact/prices": "solvers/partition/exact/test_capped.py",
    "solvers/order/preorder_relaxation": "solvers/order/test_preorders.py",
    "solvers/order/preorder_search": "solvers/order/test_preorders.py",
}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_has_a_test_file(module):
    if module.as_posix() in TESTED_WITH:
        assert (ROOT / "tests" / TESTED_WITH[module.as_posix()]).is_file()
        return
    folder = ROOT / "tests" / module.parent
    found = list(folder.glob(f"test_{module.name}*.py"))
    assert found, f"src/relatum/{module}.py has no test file in tests/{module.parent}"


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_every_solver_is_documented(name):
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")]
    assert any(f"`{name}`" in page for page in pages), f"no page of docs/ names `{name}`"
    assert SOLVERS[name].summary.endswith(".")


def test_every_solver_module_registers_itself():
    """A module under solvers/ that calls register() is imported by the package."""
    for path in (SOURCE / "solvers").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "\nregister(" in text:
            names = [line.split('"')[1] for line in text.splitlines() if 'name="' in line]
            assert names, path
            assert set(names) <= set(SOLVERS), f"{path.name} is not imported by relatum.solvers"


def test_every_error_is_a_relatum_error():
    for name in relatum.errors.__all__:
        kind = getattr(relatum.errors, name)
        assert issubclass(kind, relatum.errors.RelatumError | Warning)
    assert issubclass(relatum.errors.EvidenceError, ValueError)
    assert issubclass(relatum.errors.MissingDependencyError, ImportError)
