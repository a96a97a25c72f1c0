"""What bounds share: raised totals that verify, and when to go on."""

from __future__ import annotations

import numpy as np

import relatum as rt
from instances.partitions import proved
from relatum.proof import OPTIMAL_GAP
from relatum.proof.certificate import Branch, Cuts, Leaf
from relatum.solvers.partition.bounds.known import Known, cuts_of, is_closed, pays, raised


def test_a_raised_total_is_proved_by_its_rows():
    problem = rt.Problem([2.0, 2.0, -1.0], rt.EQUIVALENCES)  # pairs 01, 02, 12
    cuts = [Cuts("transitive", np.array([[1, 0, 2]]), np.ones(1))]
    bound, proof = raised(3.0, 5.0, cuts)
    assert 3.0 < bound <= 3.0 + 1e-8
    assert cuts_of(proof) == (cuts[0],)
    assert proved(problem, bound, proof)
    assert not proved(problem, *raised(2.9, 5.0, cuts))
    assert cuts_of(Branch((0, 1), proof, proof)) == ()


def test_it_pays_while_a_hundredth_of_the_gap_is_closed_in_time():
    assert pays([5.0, 5.0, 5.0], 3, 1.0)  # too early to tell
    assert pays([5.0, 5.0, 5.0, 4.98], 3, 1.0)
    assert not pays([9.0, 5.0, 5.0, 5.0, 4.991], 3, 1.0)


def test_a_gap_is_closed_well_below_what_optimal_means():
    assert is_closed(0.0)
    assert is_closed(OPTIMAL_GAP / 10)
    assert not is_closed(OPTIMAL_GAP)


def test_labels_are_those_of_the_partition():
    assert Known().labels is None
    labels = Known(rt.Partition([4, 2, 4])).labels
    assert labels.dtype == np.int64
    assert labels.tolist() == [0, 1, 0]
    assert Known().proof.cuts == Leaf().cuts == ()
