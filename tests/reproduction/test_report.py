"""The report shows the numbers, beside the paper's where there are any, and judges them."""

from __future__ import annotations

import copy
import itertools

import pytest

from instances.reproduction import TINY
from relatum.measures.objective import LN2
from relatum.reproduction import PARTS
from relatum.reproduction.report import checks, findings, markdown


@pytest.fixture
def results(tiny):
    return {part: tiny.results(part) for part in PARTS}


def test_tables_hold_the_numbers(results):
    text = markdown(TINY, results, [])
    best = min(fit["test_error"] for fit in results["maps"]["d1"])
    assert f"{100 * best:.2f} at" in text
    line = results["equivalences"]["bilinear"]["summary"][0]
    assert f"{100 * LN2 * line['objective_per_pair']:.2f}" in text
    assert f"{results['orders']['embedded']['random']['kendall']:.3f}" in text


def test_every_row_of_a_table_has_all_columns(results):
    lines = markdown(TINY, results, []).splitlines()
    for before, line in itertools.pairwise(lines):
        if before.startswith("|") and line.startswith("|"):
            assert before.count("|") == line.count("|")


def test_an_unproven_row_is_noticed(results):
    assert all(holds for claim, holds in checks(TINY, results) if "exact" in claim)
    worse = copy.deepcopy(results)
    worse["equivalences"]["stratified"]["summary"][0]["optimal"] = 0
    failed = [claim for claim, holds in checks(TINY, worse) if not holds and "exact" in claim]
    assert len(failed) == 1
    assert failed[0].startswith("stratified")


def test_an_order_no_better_than_random_is_noticed(results):
    worse = copy.deepcopy(results)
    worse["orders"]["embedded"]["by_sigma"][0]["kendall"] = 0.5
    failed = [claim for claim, holds in checks(TINY, worse) if not holds]
    assert any("better than random" in claim for claim in failed)


@pytest.mark.parametrize("part", PARTS)
def test_every_part_says_what_it_found(tiny, part):
    found = tiny.results(part)
    sentence = findings(TINY, part, found)
    assert f"{part}: {sentence}" in tiny.lines
    assert len(sentence) < 400
    if part == "maps":
        least = min(fit["test_error"] for fits in found.values() for fit in fits)
        assert f"{100 * least:.2f} %" in sentence


def test_cells_are_named_and_not_recited(tiny):
    steps = [line for line in tiny.lines if line.startswith("[")]
    assert steps
    assert all(len(line) < 90 for line in steps)
