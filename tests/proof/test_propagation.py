"""The propagator: closures that carry proofs."""

from __future__ import annotations

import math

import numpy as np

import naive
import relatum as rt
from relatum.proof.certificate import Certificate, Imply, Leaf
from relatum.proof.checker.verification import check_certificate
from relatum.proof.propagation import Propagator

SETS = {name: getattr(rt, name) for name in naive.NAMED}


def random_evidence(rng, shape, facts):
    pairs = [(int(rng.integers(shape[0])), int(rng.integers(shape[1]))) for _ in range(facts)]
    split = int(rng.integers(facts + 1))
    return pairs[:split], pairs[split:]


def test_closures_are_sound_and_their_proofs_verify():
    """Every implied pair holds in every member; a conflict means that there is none."""
    rng = np.random.default_rng(2)
    implied = conflicts = 0
    for number in range(600):
        name = list(SETS)[number % len(SETS)]
        shape = (3, 3)
        related, unrelated = random_evidence(rng, shape, int(rng.integers(1, 5)))
        if set(related) & set(unrelated):
            continue
        problem = rt.Problem(np.zeros(shape), SETS[name] & rt.evidence(related, unrelated))
        if problem.contradicts_itself:
            continue
        closure = Propagator(problem.feasible).close_all(problem.state)
        ys = naive.feasible(naive.NAMED[name], shape, related, unrelated)
        if closure.conflict is not None:
            conflicts += 1
            assert len(ys) == 0
            check_certificate(problem, Certificate(-math.inf, closure.proof(Leaf())))
            continue
        fixed = closure.state >= 0
        assert all((y[fixed] == (closure.state[fixed] == 1)).all() for y in ys)
        proof = closure.proof(Leaf())
        check_certificate(problem, Certificate(0.0, proof))
        implied += len(proof.pairs) if isinstance(proof, Imply) else 0
    assert implied > 300
    assert conflicts > 30


def test_closing_in_steps_is_closing_at_once():
    rng = np.random.default_rng(3)
    for _ in range(200):
        feasible = (rt.PREORDERS, rt.EQUIVALENCES, rt.LINEAR_ORDERS)[rng.integers(3)]
        propagator = Propagator(feasible)
        problem = rt.Problem(np.zeros((5, 5)), feasible)
        state = propagator.close_all(problem.state).state
        pairs, values = rng.integers(0, 5, (4, 2)), rng.integers(0, 2, 4)
        once = propagator.close(state, pairs, values)
        for pair, value in zip(pairs, values, strict=True):
            step = propagator.close(state, pair[None], value[None])
            state = step.state
            if step.conflict is not None:
                break
        assert (step.conflict is None) == (once.conflict is None)
        if once.conflict is None:
            assert np.array_equal(state, once.state)


def test_the_given_state_is_not_changed():
    propagator = Propagator(rt.EQUIVALENCES)
    state = propagator.close_all(rt.Problem(np.zeros((3, 3)), rt.EQUIVALENCES).state).state
    before = state.copy()
    propagator.close(state, np.array([[0, 1], [1, 2]]), np.array([1, 1]))
    propagator.complete(state, np.arange(9), np.ones((3, 3), bool))
    assert np.array_equal(state, before)


def test_completion_respects_preferences_where_it_can():
    propagator = Propagator(rt.EQUIVALENCES)
    state = propagator.close_all(rt.Problem(np.zeros((3, 3)), rt.EQUIVALENCES).state).state
    preferred = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=bool)
    assert np.array_equal(propagator.complete(state, np.arange(9), preferred), preferred)


def test_what_is_open_when_time_is_up_is_decided_at_once():
    """A member of the set, with all that is known, wherever there is one."""
    rng = np.random.default_rng(3)
    nothing, found = np.empty(0, np.int64), dict.fromkeys(SETS, 0)
    for number in range(30 * len(SETS)):
        name = list(SETS)[number % len(SETS)]
        related, unrelated = random_evidence(rng, (3, 3), int(rng.integers(0, 4)))
        problem = rt.Problem(np.zeros((3, 3)), SETS[name] & rt.evidence(related, unrelated))
        propagator = Propagator(problem.feasible)
        closure = propagator.close_all(problem.state)
        if problem.contradicts_itself or closure.conflict is not None:
            continue
        matrix = propagator.complete(closure.state, nothing, np.zeros((3, 3), bool))
        ys = naive.feasible(naive.NAMED[name], (3, 3), related, unrelated)
        if matrix is None:
            assert len(ys) == 0, name
        else:
            assert any(np.array_equal(matrix, y) for y in ys), name
            found[name] += 1
    assert min(found.values()) > 0
