"""The estimator: results, degenerate problems, errors, time limits and Ctrl-C."""

import os
import pickle
import signal
import threading

import numpy as np
import pytest
from sklearn.base import clone

import relatum as rt
from relatum.errors import DataError, DegenerateWarning, EvidenceError, ProblemError, SolverError

quiet = pytest.mark.filterwarnings(f"ignore::{DegenerateWarning.__module__}.DegenerateWarning")


def noisy_order(n, seed, share=0.3, classes=4):
    """Classes of the pairs a < b that tell, by a chance, which of the two comes first."""
    rng = np.random.default_rng(seed)
    truth = rt.LinearOrder(rng.permutation(n))
    a, b = np.triu_indices(n, 1)
    before = truth.matrix()[a, b]
    says = np.where(rng.random(len(a)) < 0.75, before, ~before)
    given = rng.random(len(a)) < share
    pairs = np.column_stack([a, b])
    known = np.where(before[:, None], pairs, pairs[:, ::-1])[given]
    return rng.integers(0, classes, len(a)) * 2 + says, rt.evidence(related=known), truth


def test_fitted_attributes_and_verification():
    classes, known, _ = noisy_order(8, 0)
    joint = rt.JointEstimator(rt.BernoulliMeasure(), rt.LINEAR_ORDERS, known, exact=True)
    joint.fit(classes)
    assert joint.objective_ == joint.history_[-1]
    assert joint.bound_ <= joint.objective_ <= joint.bound_ + 1e-3
    assert rt.LINEAR_ORDERS.contains(joint.estimate_.relation)
    assert rt.verify(joint.result_.problem, joint.estimate_)
    # learning from the relation alone gives the measure
    again = rt.BernoulliMeasure().fit(
        classes, joint.estimate_.relation.matrix()[np.triu_indices(8, 1)].astype(int)
    )
    assert joint.measure_.theta(classes) == pytest.approx(again.theta(classes))
    assert joint.objective_ == pytest.approx(again.objective_)


def test_clone_and_pickle():
    classes, known, _ = noisy_order(6, 1)
    joint = clone(rt.JointEstimator(rt.BernoulliMeasure(3.0), rt.LINEAR_ORDERS, known))
    assert joint.measure.sigma == 3.0
    joint.fit(classes)
    copy = pickle.loads(pickle.dumps(joint))
    assert copy.estimate_.relation == joint.estimate_.relation
    assert copy.objective_ == joint.objective_


def test_no_weight_on_unknown_pairs_is_learning_then_inference():
    classes, known, _ = noisy_order(8, 2)
    result = rt.joint_estimate(classes, rt.LINEAR_ORDERS, evidence=known, unknown_weight=0.0)
    a, b = np.triu_indices(8, 1)
    reach = rt.infer(rt.Problem(np.zeros((8, 8)), rt.LINEAR_ORDERS & known)).relation  # feasible
    y = np.full(len(a), -1)
    closed = {tuple(p) for p in known.evidence.related.tolist()}
    while True:  # what follows from the evidence is known, too
        more = {(p, s) for p, q in closed for r, s in closed if q == r} - closed
        if not more:
            break
        closed |= more
    for k, pair in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        y[k] = 1 if pair in closed else 0 if pair[::-1] in closed else -1
    measure = rt.BernoulliMeasure().fit(classes[y >= 0], y[y >= 0])
    scores = np.zeros((8, 8))
    scores[a, b] = measure.log_odds(classes)
    plain = rt.infer(rt.Problem(scores, rt.LINEAR_ORDERS & known), prove=True)
    assert reach.shape == (8, 8)
    assert result.estimate.value == pytest.approx(plain.value)
    assert result.measure.theta(classes) == pytest.approx(measure.theta(classes))


def test_labels_of_maps_semi_supervised():
    rng = np.random.default_rng(3)
    centres = np.array([[3.0, 0.0], [-3.0, 3.0], [-3.0, -3.0]])
    truth = rng.integers(0, 3, 60)
    x = centres[truth] + rng.normal(size=(60, 2))
    labels = np.where(np.arange(60) < 9, truth, -1)
    labels[:3], x[:3], truth[:3] = [0, 1, 2], centres, [0, 1, 2]
    known = rt.partial_evidence(labels, rt.MAPS)
    measure = rt.LogisticMeasure(0.1, fit_intercept=True)
    result = rt.joint_estimate(x, rt.MAPS, measure=measure, evidence=known)
    assert np.mean(result.estimate.relation.labels == truth) > 0.95
    assert result.measure.predict(centres).tolist() == [0, 1, 2]
    assert (np.diff(result.history) <= 0).all()
    with pytest.raises(SolverError, match="too many parameters"):
        rt.joint_estimate(x, rt.MAPS, measure=measure, evidence=known, exact=True)


@pytest.mark.parametrize(
    ("feasible", "why"),
    [
        (rt.EQUIVALENCES, "relating everything"),
        (rt.LINEAR_ORDERS, "its reverse"),
        (rt.MAPS, "exchange of the labels"),
    ],
)
def test_no_evidence_is_refused_with_reason_and_remedy(feasible, why):
    with pytest.raises(EvidenceError, match=why) as caught:
        rt.joint_estimate(np.zeros((3, 3), int), feasible)
    assert "evidence=relatum.evidence" in str(caught.value)


def test_without_evidence_the_trivial_relation_is_an_optimum():
    # what the refusal says: all related costs no more than any other equivalence relation
    from naive import all_partitions, bernoulli_best_bits

    rng = np.random.default_rng(4)
    a, b = np.triu_indices(5, 1)
    classes = np.unique(rng.integers(0, 3, 10), return_inverse=True)[1]
    every = np.array(all_partitions(5))
    ys = (every[:, a] == every[:, b]).astype(float)
    costs = bernoulli_best_bits(classes, ys, np.ones(10), 2.0)
    assert costs[ys.all(axis=1)][0] == pytest.approx(costs.min())


def test_degenerate_results_are_warned_of():
    classes = np.array([0, 0, 1, 1, 0, 1])
    one, all_related = r"names related pairs only.* Add evidence", "estimated to be related"
    with (
        pytest.warns(DegenerateWarning, match=one),
        pytest.warns(DegenerateWarning, match=all_related),
    ):
        rt.joint_estimate(classes, rt.EQUIVALENCES, evidence=rt.evidence(related=[(0, 1)]))
    known = rt.evidence(related=[(0, 1)], unrelated=[(2, 3), (2, 4), (2, 5), (0, 2)])
    with pytest.warns(DegenerateWarning, match=r"Every unknown pair .* Lower unknown_weight"):
        rt.joint_estimate(np.zeros((6, 6), int), rt.EQUIVALENCES, evidence=known, exact=True)


def test_bad_input_is_refused():
    known = rt.evidence(related=[(0, 1)])
    classes = np.zeros((3, 3), int)
    cases = [
        (DataError, "feasible must be", {"feasible": "orders"}),
        (DataError, "evidence must be", {"evidence": [(0, 1)]}),
        (DataError, "unknown_weight", {"unknown_weight": -1.0}),
        (DataError, "balance", {"balance": "by class"}),
        (DataError, "n_starts", {"n_starts": 0}),
        (DataError, "time_limit", {"time_limit": 0.0}),
        (DataError, "larger than 1", {"measure": rt.BernoulliMeasure(1.0)}),
        (DataError, "LogisticMeasure or", {"measure": rt.BernoulliMeasure}),
        (DataError, "are integers", {"x": np.zeros((3, 3))}),
        (DataError, "numbered from 0", {"x": np.full((3, 3), -1)}),
        (DataError, "finite", {"x": np.full((3, 3, 1), np.nan), "measure": rt.LogisticMeasure()}),
        (ProblemError, "axes of pairs", {"x": np.zeros(3, int), "feasible": rt.PREORDERS}),
        (EvidenceError, "forbidden", {"evidence": known & rt.evidence(related=[(1, 0)])}),
    ]
    for error, message, change in cases:
        arguments = {"x": classes, "feasible": rt.LINEAR_ORDERS, "evidence": known} | change
        if change.get("evidence") is not None and error is EvidenceError:
            message = "No relation is feasible"
        x, feasible = arguments.pop("x"), arguments.pop("feasible")
        with pytest.raises(error, match=message):
            rt.joint_estimate(x, feasible, **arguments)


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    classes, known, _ = noisy_order(5, 5)
    joint = rt.JointEstimator(rt.BernoulliMeasure(), rt.LINEAR_ORDERS, known).fit(classes)
    before = joint.objective_
    with pytest.raises(DataError):
        joint.fit(classes * 0.5)
    assert joint.objective_ == before


def _check_stopped(result, feasible):
    assert feasible.contains(result.estimate.relation)
    assert np.isfinite(result.bound)
    assert result.bound <= result.objective
    assert result.measure is not None


@quiet
def test_time_limit_returns_a_pair_and_a_bound_that_holds():
    classes, known, _ = noisy_order(9, 6, share=0.1)
    short = rt.joint_estimate(
        classes, rt.LINEAR_ORDERS, evidence=known, exact=True, time_limit=0.02
    )
    long = rt.joint_estimate(classes, rt.LINEAR_ORDERS, evidence=known, exact=True)
    _check_stopped(short, rt.LINEAR_ORDERS)
    assert long.optimal
    assert short.bound <= long.objective + 1e-9
    assert short.objective >= long.bound - 1e-9


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("model", ["bernoulli", "logistic"])
def test_interrupt_returns_a_pair_and_a_bound(model):
    n = 26
    classes, known, _ = noisy_order(n, 7, share=0.02, classes=12)
    measure = rt.BernoulliMeasure(1.1)
    if model == "logistic":
        measure = rt.LogisticMeasure(0.01)
        classes = np.random.default_rng(0).normal(size=(len(classes), 6))
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        result = rt.joint_estimate(
            classes,
            rt.LINEAR_ORDERS,
            measure=measure,
            evidence=known,
            exact=True,
            time_limit=300.0,
        )
    finally:
        timer.cancel()
    _check_stopped(result, rt.LINEAR_ORDERS)
    assert result.stats["stopped"]
    assert result.stats["seconds"] < 150.0
    assert not result.optimal
