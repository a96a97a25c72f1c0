"""Clusterings: subsets as described, exact ones never worse, summaries that add up."""

from __future__ import annotations

import numpy as np
import pytest

from instances.reproduction import TINY
from relatum.reproduction.clustering import subset, summary

LABELS = np.repeat(np.arange(10), 30)


def test_stratified_subsets_have_as_many_of_each():
    chosen = subset(LABELS, 43, True, seed=1)
    counts = np.bincount(LABELS[chosen])
    assert counts.sum() == 43
    assert set(counts) == {4, 5}


def test_subsets_differ_by_seed_and_have_no_repetitions():
    first, second = (subset(LABELS, 40, False, seed) for seed in (0, 1))
    assert len(set(first)) == 40
    assert set(first) != set(second)


@pytest.mark.parametrize("name", ["stratified", "unstratified", "bilinear"])
def test_exact_is_proven_and_never_worse(tiny, name):
    rows = tiny.results("equivalences")[name]["rows"]
    exact = [r for r in rows if r["method"] == "exact"]
    quick = [r for r in rows if r["method"] == "kl" and r["n"] in TINY.sizes]
    assert len(exact) == len(quick) == len(TINY.sizes) * TINY.subsets
    for e, k in zip(exact, quick, strict=True):
        assert e["verified"]
        assert e["value"] >= k["value"] - 1e-9
        assert e["bound"] == pytest.approx(e["value"], abs=1e-5)
        assert e["objective_per_pair"] == pytest.approx(-2 * e["value"] / e["n"] / (e["n"] - 1))
        assert k["bound"] >= e["value"] - 1e-6


def test_summary_gives_means_and_deviations(tiny):
    found = tiny.results("equivalences")["stratified"]
    for line in summary(found["rows"]):
        some = [r for r in found["rows"] if (r["method"], r["n"]) == (line["method"], line["n"])]
        assert line["subsets"] == len(some)
        assert line["rand_error"] == pytest.approx(np.mean([r["rand_error"] for r in some]))
        if len(some) > 1:
            spread = np.std([r["sets"] for r in some], ddof=1)
            assert line["sets_sd"] == pytest.approx(spread)
    assert {line["n"] for line in found["summary"]} == {*TINY.sizes, 797}
