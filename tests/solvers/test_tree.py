"""The best-first tree against enumeration, and what it claims when it is stopped."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from relatum.solvers.control import Control
from relatum.solvers.incumbent import Incumbent
from relatum.solvers.tree import Tree


@dataclass
class Choice:
    """Items decided so far; the bound takes every open item that gains, ignoring the limit."""

    gain: np.ndarray
    weight: np.ndarray
    room: float
    taken: tuple[bool, ...] = ()

    @property
    def bound(self) -> float:
        k = len(self.taken)
        taken = np.array(self.taken, dtype=bool)
        if self.weight[:k][taken].sum() > self.room:
            return -np.inf
        return float(self.gain[:k][taken].sum() + np.maximum(self.gain[k:], 0).sum())


def knapsack(seed, n=9):
    rng = np.random.default_rng(seed)
    return Choice(rng.integers(-5, 20, n).astype(float), rng.integers(1, 9, n), 15.0)


def best_of(root):
    values = [
        Choice(root.gain, root.weight, root.room, taken).bound
        for taken in product((False, True), repeat=len(root.gain))
    ]
    return max(values)


def searched(root, control, most_nodes=np.inf):
    incumbent = Incumbent(0.0, grid=1.0)  # nothing is taken
    tree = Tree(incumbent, control, most_nodes)
    seen = []

    def expand(node):
        seen.append(node.bound)
        tree.report(node.bound, len(seen), 0)
        if len(node.taken) == len(node.gain):
            incumbent.value = max(incumbent.value, node.bound)
            return ()
        return [
            Choice(node.gain, node.weight, node.room, (*node.taken, take)) for take in (True, False)
        ]

    tree.push(root)
    tree.run(expand)
    return incumbent, tree, seen


@pytest.mark.parametrize("seed", range(6))
def test_the_best_is_found_and_proved_best_bounds_first(seed):
    root = knapsack(seed)
    incumbent, tree, seen = searched(root, Control())
    assert incumbent.value == best_of(root)
    assert incumbent.claim(tree.bound) == incumbent.value
    assert seen == sorted(seen, reverse=True)


@pytest.mark.parametrize("most", [1, 4, 11])
def test_a_search_cut_short_claims_what_is_open(most):
    root = knapsack(3)
    incumbent, tree, seen = searched(root, Control(), most)
    assert len(seen) <= most
    assert tree.bound >= best_of(root) >= incumbent.value


def test_a_monitor_hears_falling_bounds_and_can_stop():
    heard = []

    def stop(progress):
        heard.append(progress.bound)
        return len(heard) == 5

    root = knapsack(1)
    _, tree, seen = searched(root, Control(monitor=stop))
    assert len(seen) == len(heard) == 5
    assert heard == sorted(heard, reverse=True)
    assert tree.bound >= best_of(root)


def test_what_is_left_stays_in_the_bound():
    tree = Tree(Incumbent(1.0), Control())
    assert tree.bound == -np.inf
    tree.leave(9.0)
    assert tree.bound == 9.0


def test_a_bound_known_from_elsewhere_is_told_until_the_tree_has_a_better_one():
    heard = []
    tree = Tree(Incumbent(1.0), Control(monitor=heard.append))
    tree.ceiling = 5.0
    for bound in (9.0, 4.0, 0.0):
        tree.report(bound, 0, 0)
    assert [progress.bound for progress in heard] == [5.0, 4.0, 1.0]
