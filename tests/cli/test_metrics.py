"""`relatum metrics` prints what counting pairs by hand gives, and refuses what does not match."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from relatum.cli.metrics import run
from relatum.errors import DataError


def _write(path, heading, rows):
    path.write_text("\n".join([heading, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def test_partitions_by_counting_pairs(tmp_path, capsys):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, (2, 12))
    first = _write(tmp_path / "a.csv", "element,set", enumerate(a))
    shuffled = [(k, b[k]) for k in rng.permutation(12)]  # rows come in any order
    second = _write(tmp_path / "b.csv", "element,set", shuffled)
    run(first, second, True)
    found = json.loads(capsys.readouterr().out)
    pairs = [(a[u] == a[v], b[u] == b[v]) for u, v in combinations(range(12), 2)]
    both = sum(p and q for p, q in pairs)
    precision, recall = both / sum(q for _, q in pairs), both / sum(p for p, _ in pairs)
    assert found["rand_error"] == pytest.approx(sum(p != q for p, q in pairs) / len(pairs))
    assert found["pair_precision"] == pytest.approx(precision)
    assert found["pair_recall"] == pytest.approx(recall)
    assert found["pair_f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    run(first, second, False)
    lines = capsys.readouterr().out.splitlines()
    shown = dict(line.split() for line in lines)
    assert {name: float(number) for name, number in shown.items()} == pytest.approx(found, abs=1e-6)


def test_orders_by_counting_inversions(tmp_path, capsys):
    first = _write(tmp_path / "a.csv", "rank,element", enumerate("dabc"))
    second = _write(tmp_path / "b.csv", "rank,element", enumerate("abcd"))
    run(first, second, True)
    assert json.loads(capsys.readouterr().out)["kendall"] == 3 / 6  # d is behind a, b and c


@pytest.mark.parametrize(
    ("heading", "rows", "message"),
    [
        ("rank,element", [(0, "x")], "both are partitions"),
        ("element,set", [("x", 0), ("x", 1)], "lists the element 'x' twice"),
        ("element,set", [], "nothing to compare"),
        ("element,set", [("y", 0)], "'x' is only in one of them"),
    ],
)
def test_files_that_do_not_match(tmp_path, heading, rows, message):
    good = _write(tmp_path / "a.csv", "element,set", [("x", 0)])
    with pytest.raises(DataError, match=message):
        run(good, _write(tmp_path / "b.csv", heading, rows), False)
