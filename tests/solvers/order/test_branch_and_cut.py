"""The tree with forced settings: what it may claim, and when it looks for further cuts."""

from dataclasses import replace

import numpy as np
import pytest

from relatum.proof.certificate import SubsetOrder
from relatum.solvers.control import Control
from relatum.solvers.order.branch_and_cut import BOUND, BranchAndCut, Settings, bound_settings
from relatum.solvers.order.relaxation import OrderIncumbent, OrderRelaxation


def _tree(n, settings, control=None):
    squares = {k * k % n for k in range(1, n)}  # the Paley tournament: a wide root gap
    d = np.array([[1.0 if (b - a) % n in squares else -1.0 for b in range(n)] for a in range(n)])
    np.fill_diagonal(d, 0.0)
    incumbent = OrderIncumbent(d, np.arange(n))
    return BranchAndCut(OrderRelaxation(d), incumbent, control or Control(prove=True), settings)


def test_cuts_in_the_tree_change_the_work_and_not_the_result():
    found = {}
    for rounds in (0, 3):
        tree = _tree(11, Settings(half_rounds=0, node_half_rounds=rounds, states=0))
        bound, _ = tree.run()
        found[rounds] = bound, tree.incumbent.value, tree.stats["half_cuts"]
    assert found[0][:2] == found[3][:2]
    assert found[0][0] == found[0][1]
    assert found[0][2] == 0 < found[3][2]


@pytest.mark.parametrize("fixed", [0.0, 0.9])
def test_no_cuts_are_sought_where_most_pairs_are_fixed(fixed):
    tree = _tree(11, Settings(half_rounds=7, node_half_rounds=2))
    relaxation = tree.root.relaxation
    columns = np.arange(int(fixed * relaxation.lp.objective.size))
    relaxation.lp.fix(columns, np.ones(len(columns)))
    assert tree._half_rounds(relaxation, True) == (7 if fixed < 1 - Settings().few_open else 0)
    assert tree._half_rounds(relaxation, False) == 2


def test_a_monitor_stops_the_tree_with_a_valid_bound():
    heard = []

    def stop(progress):
        heard.append(progress)
        return len(heard) > 3

    tree = _tree(19, Settings(), Control(prove=True, monitor=stop))
    bound, _ = tree.run()
    assert len(heard) == 4
    assert bound >= tree.incumbent.value


@pytest.mark.parametrize("states", [0, 6, 10_000])
def test_what_is_left_is_ordered_outright_where_that_takes_few_states(states):
    tree = _tree(11, Settings(states=states))
    bound, proof = tree.run()
    assert bound == tree.incumbent.value
    outright = states == 10_000
    assert isinstance(proof, SubsetOrder) == outright
    assert (tree.stats["rounds"] == 0) == outright


def test_bounds_of_many_elements_may_take_more_work_and_of_too_many_not():
    few, many, most = (bound_settings(n).work for n in (100, 1_000, 5_000))
    assert few == BOUND.work == most
    assert many > 20 * few


def test_a_bound_of_many_elements_is_better_for_the_work():
    rng = np.random.default_rng(0)
    d = rng.integers(-9, 10, (160, 160)).astype(float)
    d = np.triu(d, 1) - np.triu(d, 1).T
    order = np.argsort(-d.sum(axis=1))
    bounds = []
    for work in (2e6, 2e7):
        relaxation = OrderRelaxation(d)
        relaxation.start_from_packing()
        settings = replace(bound_settings(160), work=work)
        tree = BranchAndCut(relaxation, OrderIncumbent(d, order), Control(), settings)
        bounds.append(tree.run()[0])
    assert tree.incumbent.value < bounds[1] < bounds[0]
