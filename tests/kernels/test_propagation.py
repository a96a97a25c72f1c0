"""Closing fixed pairs equals unit propagation over all rows, with a reason for every step."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.propagation import close_lines, complete, propagate

FAMILIES = (
    "transitive", "symmetric", "antisymmetric", "connex", "has_image", "at_most", "has_preimage",
    "unique_preimage",
)  # fmt: skip


def close(state, names, cap):
    """All fixed pairs as given lines, then the kernels, as the library calls them."""
    state = state.copy()
    rules = np.array([f in names for f in FAMILIES])
    rules[FAMILIES.index("at_most")] = cap is not None
    fixed = np.argwhere(state >= 0)
    log = np.full((2 * state.size + 1, 7), -1, dtype=np.int64)
    log[: len(fixed), :2] = fixed
    log[: len(fixed), 2] = state[fixed[:, 0], fixed[:, 1]]
    count = close_lines(state, log, len(fixed), rules, cap or 1)
    if count >= 0:
        count = propagate(state, log, 0, count, rules, cap or 1)
    return state, log, count, len(fixed)


def random_case(rng, square):
    names = [f for f in FAMILIES if f != "at_most" and rng.random() < 0.35]
    shape = (int(rng.integers(1, 6)),) * 2
    if not square:
        names = [f for f in names if f in ("has_image", "has_preimage", "unique_preimage")]
        shape = (shape[0], int(rng.integers(1, 6)))
    cap = int(rng.integers(1, 4)) if rng.random() < 0.3 else None
    fixed = rng.random(shape) < rng.random() * 0.5
    state = np.where(fixed, rng.integers(0, 2, shape), -1).astype(np.int8)
    return names, cap, state


@pytest.mark.parametrize("square", [True, False])
def test_closed_states_equal_unit_propagation(square):
    rng = np.random.default_rng(8)
    conflicts = 0
    for _ in range(1500):
        names, cap, state = random_case(rng, square)
        rows = naive.all_rows(names, *state.shape, cap=cap)
        expected = naive.propagated(state.tolist(), rows)
        closed, log, count, given = close(state, names, cap)
        if expected is None:
            conflicts += 1
            assert count < 0, (names, cap, state)
        else:
            assert count >= 0, (names, cap, state)
            assert closed.tolist() == expected
        check_reasons(state, log[given : count if count >= 0 else -count], rows)
    assert 100 < conflicts < 1400


def check_reasons(state, lines, rows):
    """Every line follows from its row and the lines before it."""
    terms_of = {(family, index): (terms, rhs) for family, index, terms, rhs in rows}
    now = state.astype(int).copy()
    for a, b, value, family, *index in lines.tolist():
        name = FAMILIES[family]
        key = tuple(k for k in index if k >= 0)
        if name in ("antisymmetric", "connex"):
            key = tuple(sorted(key))
        terms, rhs = terms_of[name, key]
        least = 0
        for (p, q), k in terms.items():
            s = 1 - value if (p, q) == (a, b) else now[p, q]
            least += k * s if s >= 0 else min(0, k)
        assert least > rhs, (name, key)
        now[a, b] = value


@pytest.mark.parametrize("square", [True, False])
def test_completion_is_a_member_and_keeps_what_is_fixed(square):
    rng = np.random.default_rng(9)
    done = 0
    for _ in range(600):
        names, cap, state = random_case(rng, square)
        closed, _, count, _ = close(state, names, cap)
        if count < 0:
            continue
        rules = np.array([f in names for f in FAMILIES])
        rules[FAMILIES.index("at_most")] = cap is not None
        preferred = rng.random(state.shape) < 0.5
        full = closed.copy()
        order = rng.permutation(state.size)
        same = closed.copy()
        settled = complete(same, order, np.asfortranarray(preferred), rules, cap or 1)
        assert settled == complete(full, order, preferred, rules, cap or 1)
        assert np.array_equal(same, full)
        if settled:
            done += 1
            assert (full >= 0).all()
            assert (full[closed >= 0] == closed[closed >= 0]).all()
            assert naive.propagated(full.tolist(), naive.all_rows(names, *state.shape, cap=cap))
    assert done > 200
