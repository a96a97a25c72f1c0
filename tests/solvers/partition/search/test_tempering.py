"""Tempering: replicas are in equilibrium, samples obey the rules, lineages tell descents apart."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import naive
from instances.partitions import free_rules, random_rules, random_weights
from relatum.solvers.partition.search.dense import DenseSearch
from relatum.solvers.partition.search.tempering import TEMPERING, Tempering, TemperingSettings


def singles(search, number):
    return [np.arange(search.n)] * number


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_replicas_visit_partitions_as_often_as_boltzmann_says(seed):
    n = 5
    search = DenseSearch(random_weights(np.random.default_rng(seed), n), free_rules(n))
    ladder = TemperingSettings(coldest=0.3, hottest=0.9)
    tempering = Tempering(search, singles(search, 3), (seed,), ladder)
    seen, places, exchange = [], [], tempering._exchange

    def watched():
        exchange()
        seen.append([replica.value for replica in tempering.replicas])
        places.append([id(replica) for replica in tempering.replicas])

    tempering._exchange = watched
    tempering.run(20_000)
    values = np.array([search.value(np.array(p)) for p in naive.all_partitions(n)])
    for k, temperature in enumerate(search.noise * tempering.temperatures):
        weights = np.exp((values - values.max()) / temperature)
        expected = float(values @ weights / weights.sum())
        spread = float(np.sqrt((values - expected) ** 2 @ weights / weights.sum()))
        assert np.mean(seen, axis=0)[k] == pytest.approx(expected, abs=0.05 * spread)
    assert len({place[0] for place in places}) == 3  # each replica was the coldest once


@pytest.mark.parametrize("kind", range(6))
def test_samples_obey_the_rules_and_their_values_are_true(kind):
    rng = np.random.default_rng(kind)
    rules, cannot, groups = random_rules(rng, 40, kind)
    search = DenseSearch(random_weights(rng, 40), rules)
    tempering = Tempering(search, singles(search, 4), (kind,))
    for _ in range(TEMPERING.fresh + 1):  # sums are made anew once
        for sample in tempering.run(3):
            assert naive.obeys(sample.labels.tolist(), rules.sizes, rules.cap, cannot, groups)
            assert sample.value == search.value(sample.labels)
    for replica in tempering.replicas:
        assert replica.value == pytest.approx(
            search.value(replica.state.labels), rel=1e-5, abs=1e-4
        )


def test_seeds_decide_threads_do_not_and_a_stop_is_heeded():
    weights, stopped = random_weights(np.random.default_rng(7), 60), [False]
    search = DenseSearch(weights, free_rules(60), lambda: stopped[0])

    def samples(seed, executor=None):
        settings = TEMPERING if executor is None else TemperingSettings(shared=0)
        tempering = Tempering(search, singles(search, 4), (seed,), settings)
        return [tuple(sample.labels) for _ in range(5) for sample in tempering.run(2, executor)]

    assert samples(1) == samples(1)
    assert samples(1) != samples(2)
    with ThreadPoolExecutor(2) as executor:
        assert samples(1) == samples(1, executor)
    stopped[0] = True
    tempering = Tempering(search, singles(search, 4), (1,))
    tempering.run(10)
    assert tempering.rounds == 0


def test_a_lineage_ends_at_the_hottest_temperature():
    search = DenseSearch(random_weights(np.random.default_rng(3), 30), free_rules(30))
    tempering = Tempering(search, singles(search, 3), (0,))
    lineage, begun = {}, set()
    for _ in range(300):
        before = [(replica, replica.lineage) for replica in tempering.replicas]
        tempering._exchange()
        for replica, number in before:
            if replica is tempering.replicas[-1]:
                assert replica.lineage > max(n for _, n in before)
                begun.add(replica.lineage)
            else:
                assert replica.lineage == number
        lineage = {replica.lineage for replica in tempering.replicas}
        assert len(lineage) == 3
    assert lineage <= begun  # none is left of those at the start
