"""Memetic search: starts are kept, threads do not matter, more effort is not worse."""

from __future__ import annotations

import numpy as np

from partitions import random_weights
from relatum.kernels.partition_rules import free_rules
from relatum.solvers.partition_dense_search import DenseSearch
from relatum.solvers.partition_memetic import Effort, evolve

SMALL = Effort(pool=4, sweeps=20, patience=2, epochs=0)


def search(n=60, seed=0, stop=lambda: False):
    return DenseSearch(random_weights(np.random.default_rng(seed), n), free_rules(n), stop)


def test_threads_do_not_matter_and_seeds_do():
    found = [
        evolve(search(), SMALL, seed, [], threads=t)[0] for seed, t in ((1, 1), (1, 2), (1, 3))
    ]
    assert len({tuple(member.labels) for member in found}) == 1
    counts = {evolve(search(), SMALL, seed, [])[1] for seed in range(6)}
    assert len(counts) > 1  # different seeds take different ways


def test_a_start_is_never_lost_even_if_stopped_at_once():
    s = search()
    best = evolve(s, Effort(pool=8, sweeps=100), 0, [])[0]
    again, _ = evolve(search(stop=lambda: True), SMALL, 5, [best.labels])
    assert again.value >= best.value - 1e-9


def test_a_champion_is_never_lost():
    s = search()
    best = evolve(s, Effort(pool=8, sweeps=100), 0, [])[0]
    for effort in (SMALL, Effort(pool=4, sweeps=20, patience=2, epochs=2)):
        again, count = evolve(s, effort, 5, [], champion=best.labels)
        assert again.value >= best.value
        assert (count > 0) == (effort.epochs > 0)


def test_values_are_true_and_reports_rise():
    s, reports = search(), []
    member, _ = evolve(s, SMALL, 2, [], reports.append)
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
