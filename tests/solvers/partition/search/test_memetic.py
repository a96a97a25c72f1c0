"""Memetic search: starts are kept, threads do not matter, more effort is not worse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from instances.partitions import free_rules, random_weights
from relatum.solvers.partition.search.dense import DenseSearch
from relatum.solvers.partition.search.effort import Effort
from relatum.solvers.partition.search.memetic import Member, _Epoch, evolve
from relatum.solvers.partition.search.tempering import Sample

SMALL = Effort(pool=4, sweeps=20, patience=2, epochs=0)
TEMPERED = replace(SMALL, replicas=3)


def search(n=60, seed=0, stop=lambda: False):
    return DenseSearch(random_weights(np.random.default_rng(seed), n), free_rules(n), stop)


@pytest.mark.slow
@pytest.mark.parametrize("effort", [SMALL, TEMPERED, replace(TEMPERED, epochs=2)])
def test_threads_do_not_matter_and_seeds_do(effort):
    found = [evolve(search(), effort, 1, [], threads=threads) for threads in (1, 2, 3)]
    assert len({(tuple(member.labels), count) for member, count in found}) == 1
    counts = {evolve(search(), effort, seed, [])[1] for seed in range(6)}
    assert len(counts) > 1  # different seeds take different ways


@pytest.mark.slow
def test_a_start_is_never_lost_even_if_stopped_at_once():
    s = search()
    best = evolve(s, Effort(pool=8, sweeps=100), 0, [])[0]
    again, _ = evolve(search(stop=lambda: True), SMALL, 5, [best.labels])
    assert again.value >= best.value - 1e-9


@pytest.mark.slow
def test_a_champion_is_never_lost():
    s = search()
    best = evolve(s, Effort(pool=8, sweeps=100), 0, [])[0]
    for effort in (SMALL, Effort(pool=4, sweeps=20, patience=2, epochs=2)):
        again, count = evolve(s, effort, 5, [], champion=best.labels)
        assert again.value >= best.value
        assert (count > 0) == (effort.epochs > 0)


def test_a_member_takes_the_place_of_the_worst_or_of_the_one_it_comes_from():
    s = search(n=4)
    epoch = _Epoch(s, replace(SMALL, pool=3), (0,))
    low, middle, high = (Member(value, np.zeros(4, np.int64)) for value in (1.0, 2.0, 3.0))
    assert all(epoch.admit(member) for member in (low, high, middle))
    assert not epoch.admit(Member(2.0, middle.labels))  # nothing twice
    assert not epoch.admit(Member(2.5, middle.labels), high)  # not better than its mother
    better = Member(3.5, high.labels)
    assert epoch.admit(better, high)
    assert epoch.pool == [low, better, middle]
    assert epoch.admit(Member(2.5, low.labels), high)  # who is gone: the worst goes
    assert low not in epoch.pool


def test_a_lineage_of_replicas_has_one_member():
    epoch = _Epoch(search(n=4), replace(SMALL, pool=3), (0,))
    labels = np.zeros(4, np.int64)
    samples = [(1.0, 5, True), (2.0, 6, True), (3.0, 5, True), (2.5, 5, False), (2.2, 7, True)]
    for value, lineage, admitted in samples:
        assert epoch.show(Sample(value, labels, lineage)) == admitted
    assert sorted(member.value for member in epoch.pool) == [2.0, 2.2, 3.0]


@pytest.mark.parametrize("effort", [SMALL, TEMPERED])
def test_values_are_true_and_reports_rise(effort):
    s, reports = search(), []
    member, _ = evolve(s, effort, 2, [], reports.append)
    assert member.value == s.value(member.labels)
    assert reports == sorted(reports)
    assert reports[-1] == member.value


def test_finds_the_planted_partition_of_a_noisy_matrix():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 4, 80)
    w = np.where(np.equal.outer(truth, truth), 1.0, -1.0) + np.triu(rng.normal(size=(80, 80)), 1)
    w = np.triu(w, 1)
    found, _ = evolve(DenseSearch(w + w.T, free_rules(80)), SMALL, 0, [])
    assert (np.equal.outer(found.labels, found.labels) == np.equal.outer(truth, truth)).all()
