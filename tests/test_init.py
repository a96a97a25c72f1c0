"""The top level re-exports lazily."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import relatum


def test_every_public_name_resolves():
    for name in relatum.__all__:
        assert getattr(relatum, name) is not None
        assert name in dir(relatum)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = relatum.nonsense


def test_importing_relatum_imports_no_scikit_learn():
    code = "import sys, relatum; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "heavy"),
    [
        ("Partition", "relatum.kernels"),
        ("metrics", "relatum.kernels"),
        ("Problem", "relatum.kernels"),
        ("io", "scipy.sparse"),
        ("plots", "scipy.sparse"),
    ],
)
def test_names_that_compute_little_import_little(name, heavy):
    code = f"import sys, relatum; relatum.{name}; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_relatum_can_be_imported_from_a_zip_archive(tmp_path):
    package = Path(relatum.__file__).parent
    archive = tmp_path / "relatum.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for file in [*package.rglob("*.py"), *package.rglob("*.pyi")]:
            out.write(file, file.relative_to(package.parent))
    code = "import relatum as rt; print(rt.__file__, rt.metrics.kendall([0, 1, 2], [2, 1, 0]))"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == [str(archive / "relatum" / "__init__.py"), "3"]


# What only learning, other engines, tables, pictures and the command line need.
HEAVY = {
    *("sklearn", "joblib", "highspy", "pyscipopt", "pandas", "pyarrow", "duckdb", "matplotlib"),
    *("click", "rich", "multiprocessing", "asyncio"),
    *("scipy.optimize", "scipy.special", "scipy.stats", "scipy.spatial"),
    *("scipy.sparse.csgraph", "scipy.sparse.linalg"),
}
FOUR = "import relatum as rt; p = rt.Problem([4.0, 3.0, -6.0, -1.0, -5.0, 1.0], rt.EQUIVALENCES)"
ORDER = (
    "import numpy as np, relatum as rt; c = np.random.default_rng(30).integers(0, 10, (30, 30)); "
    "p = rt.Problem(c.astype(float), rt.LINEAR_ORDERS)"
)


def imported_by(code: str) -> set[str]:
    """Run code in a process of its own; return the modules that it imported."""
    code += "\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(found.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        f"{FOUR}; rt.infer(p)",
        f"{FOUR}; rt.infer(p, prove=True)",
        f"{FOUR}; rt.infer(rt.Problem(p.dense()[:2], rt.MAPS))",
        f"{ORDER}; rt.infer(p)",
        f"{ORDER}; rt.infer(p, prove=True)",
        "import relatum as rt; rt.consensus(rt.Votes.from_rankings([[0, 1, 2], [1, 0, 2]]))",
    ],
    ids=["clusters", "proved clusters", "map", "order", "proved order", "consensus"],
)
def test_inference_imports_what_it_uses(code):
    assert not HEAVY & imported_by(code)


@pytest.mark.slow
def test_clusters_of_many_elements_import_what_they_use():
    # 80 elements: a proof for up to 64 of them may need the linear programs of HiGHS
    code = (
        "import numpy as np, relatum as rt; c = np.random.default_rng(0).normal(size=3160); "
        "p = rt.Problem(c, rt.EQUIVALENCES); rt.infer(p); rt.infer(p, prove=True, time_limit=1)"
    )
    assert not HEAVY & imported_by(code)


@pytest.mark.slow
def test_learning_imports_neither_engines_nor_models_of_others():
    names = "rt.PartitionClustering, rt.MapClassifier, rt.LinearRanker, rt.LogisticMeasure"
    unused = {"highspy", "duckdb", "matplotlib", "click"}
    linear = {"sklearn.linear_model", "sklearn.decomposition"}  # liftings and Newton's method
    assert not (unused | linear) & imported_by(f"import relatum as rt; {names}")
    code = (
        "import relatum as rt; x = [[0.0], [0.1], [1.0], [1.1]]; "
        "rt.PartitionClustering().fit(x, [0, 0, 1, 1])"
    )
    assert not unused & imported_by(code)


@pytest.mark.slow
def test_a_table_of_pairs_is_clustered_without_scikit_learn_and_pandas(tmp_path):
    pytest.importorskip("duckdb")
    table = tmp_path / "pairs.csv"
    table.write_text("unique_id_l,unique_id_r,match_weight\n1,2,3.5\n2,3,-1.5\n")
    code = f"import relatum as rt; rt.cluster_pairs({str(table)!r})"
    # pyarrow is what the engine hands tables on with
    unused = (HEAVY - {"pyarrow", "duckdb"}) | {"scipy.sparse"}
    assert not unused & imported_by(code)
