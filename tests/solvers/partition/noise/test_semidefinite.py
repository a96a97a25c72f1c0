"""The semidefinite bound, against all partitions, and against the checkers."""

from __future__ import annotations

import math

import numpy as np
from threadpoolctl import threadpool_limits

import relatum as rt
from naive.partition.enumeration import all_partitions
from relatum.proof import Certificate, plain
from relatum.proof.checker import check_certificate
from relatum.solvers.control import Control
from relatum.solvers.partition.noise.semidefinite import (
    QUICK,
    THOROUGH,
    effort_for,
    is_noise,
    least_of_triangles,
    semidefinite_bound,
    steps_of,
)


def noise(n, seed, kind="normal"):
    rng = np.random.default_rng(seed)
    made = rng.normal(size=(n, n)) if kind == "normal" else rng.choice([-1.0, 1.0], (n, n))
    return np.triu(made, 1)


def test_it_is_not_below_the_best_partition():
    for seed in range(12):
        facts = rt.evidence(unrelated=[(0, 1)]) if seed % 3 == 0 else rt.evidence()
        problem = rt.Problem(noise(6, seed, ("normal", "signs")[seed % 2]), rt.EQUIVALENCES & facts)
        found = semidefinite_bound(problem, -math.inf, Control())
        if found is None:
            continue
        values = [
            problem.value(relation)
            for relation in map(rt.Partition, all_partitions(6))
            if problem.feasible.contains(relation)
        ]
        assert max(values) <= float(found[0]) + 1e-9 <= max(values) * 1.3 + 1.0
        check_certificate(problem, Certificate(math.nextafter(float(found[0]), math.inf), found[1]))


def test_the_default_uses_it_for_noise_and_both_checkers_agree(tmp_path):
    problem = rt.Problem(noise(60, 1), rt.EQUIVALENCES)
    e = rt.infer(problem)
    assert "square" in e.certificate.counts()
    assert e.gap <= 0.2 * e.value
    assert rt.verify(problem, e)
    rt.io.save_estimate(tmp_path / "e.npz", problem, e)
    assert plain.check(str(tmp_path / "e.npz"))[0] == 0


def test_monitors_hear_of_values_and_bounds_with_the_diagonal():
    heard, diagonal = [], 1000.0
    scores = noise(50, 4) + diagonal * np.eye(50)
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    value = rt.infer(problem, solver="partition_local_search").value
    bound, _ = semidefinite_bound(problem, value, Control(monitor=heard.append))
    assert value > 50 * diagonal
    assert len(heard) > 2
    for progress in heard:
        assert progress.value == value
        # a bound of the whole value, and near the one that is returned in the end
        assert float(bound) <= progress.bound + 1e-3 <= float(bound) + 0.5 * (value - 50 * diagonal)


def test_threads_change_nothing():
    problem = rt.Problem(noise(50, 2), rt.EQUIVALENCES)
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads, user_api="blas"):
            found.append(semidefinite_bound(problem, -math.inf, Control()))
    assert found[0][0] == found[1][0]


def test_without_time_or_with_too_many_elements_there_is_none():
    problem = rt.Problem(noise(50, 3), rt.EQUIVALENCES)
    assert semidefinite_bound(problem, -math.inf, Control(time_limit=1e-3)) is None
    assert steps_of(QUICK.most_elements, QUICK) == QUICK.least_steps
    assert steps_of(QUICK.most_elements + 1, QUICK) == 0


def test_time_that_runs_out_leaves_the_bound_of_fewer_steps():
    class Slow:  # a clock on which a step takes a tenth of a second, whatever it does
        now = 0.0

        def __call__(self):
            self.now += 0.01
            return self.now

    problem = rt.Problem(noise(60, 5), rt.EQUIVALENCES)
    control = Control(time_limit=3.0, clock=Slow())
    bound, proof = semidefinite_bound(problem, -math.inf, control)
    assert control.seconds() < 3.2
    best = semidefinite_bound(problem, -math.inf, Control())[0]
    assert best < bound < 2 * best
    check_certificate(problem, Certificate(math.nextafter(float(bound), math.inf), proof))


def test_more_time_means_more_steps_up_to_a_point():
    steps = [steps_of(500, effort_for(seconds)) for seconds in (0.0, 1.0, 2.0, 50.0, math.inf)]
    assert steps[0] == steps_of(500, QUICK)
    assert steps == sorted(steps)
    assert steps[0] < steps[1] < steps[-1] == steps_of(500, THOROUGH)


def test_noise_is_what_triangles_cannot_bound():
    flat = rt.Problem(noise(60, 6), rt.EQUIVALENCES)
    value = rt.infer(flat).value
    assert is_noise(flat, value, least_of_triangles(flat))
    # as many elements are apart as together: everything is proved by signs
    told = np.where(np.equal.outer(np.arange(60) % 6, np.arange(60) % 6), 1.0, -1.0)
    clear = rt.Problem(np.triu(told, 1), rt.EQUIVALENCES)
    value = rt.infer(clear).value
    assert 2 * least_of_triangles(clear) == value
    assert not is_noise(clear, value, least_of_triangles(clear))
    # nor is a partition of which nobody expects much a reason to say so
    assert not is_noise(flat, 0.1, least_of_triangles(flat))
    capped = flat.with_feasible(rt.EQUIVALENCES & rt.at_most(3))
    assert not is_noise(capped, 1.0, least_of_triangles(capped))
