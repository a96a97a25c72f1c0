"""Random joint problems, small enough to try every relation."""

import numpy as np

import relatum as rt
from naive import bernoulli_best_bits, logistic_best_bits, matrices_of

SETS = {"equivalences": rt.EQUIVALENCES, "orders": rt.LINEAR_ORDERS, "maps": rt.MAPS}


def random_problem(kind, model, rng, largest=6):
    """Arguments of `joint_estimate` and the smallest objective of all, by trying every y."""
    n = int(rng.integers(3, largest + 1))
    m = int(rng.integers(2, 4)) if kind == "maps" else n
    every = matrices_of(kind, n, m)
    truth = every[rng.integers(len(every))]
    triangle = kind != "maps" and bool(rng.integers(2))
    a, b = np.triu_indices(n, 1) if triangle else np.divmod(np.arange(n * m), m)
    if model == "bernoulli":
        x = rng.integers(0, int(rng.integers(2, 5)), len(a))
        x = np.unique(x, return_inverse=True)[1]
        given = x if triangle else x.reshape(n, m)
        measure = rt.BernoulliMeasure(sigma=float(rng.choice([1.1, 1.5, 2.0, 4.0])))
    else:
        k = int(rng.integers(1, 4))
        x = rng.integers(0, 2, (len(a), k)).astype(float)
        if rng.integers(2):
            x = rng.normal(size=(len(a), k)).round(1)
        given = x if triangle else x.reshape(n, m, k)
        measure = rt.LogisticMeasure(float(rng.choice([0.05, 0.5, 2.0])))
    known, members = _evidence(kind, truth, every, rng)
    weight = float(rng.choice([1.0, 1.0, 0.3]))
    arguments = {"measure": measure, "evidence": known, "unknown_weight": weight}
    ys = members[:, a, b].astype(float)
    # a pair is known if all members agree on it: the strongest reading of evidence
    fixed = (ys == ys[0]).all(axis=0)
    weights = np.where(fixed, 1.0, weight)
    if model == "bernoulli":
        best = bernoulli_best_bits(x, ys, weights, measure.sigma)
    else:
        best = logistic_best_bits(x, ys, weights, measure.inverse_sigma_squared)
    return (given, SETS[kind], arguments), members, best


def _evidence(kind, truth, every, rng):
    """Evidence of a few true pairs (at least one), and the relations that agree with it."""
    n, m = truth.shape
    pairs = [(a, b) for a in range(n) for b in range(m) if kind == "maps" or a < b]
    count = int(rng.integers(1, max(2, len(pairs) // 3) + 1))
    chosen = [pairs[k] for k in rng.choice(len(pairs), count, replace=False)]
    if kind == "maps":
        chosen = [(a, int(np.flatnonzero(truth[a])[0])) for a, _ in chosen]
    yes = [p for p in chosen if truth[p]]
    no = [p for p in chosen if not truth[p]]
    members = every
    for a, b in chosen:
        members = members[members[:, a, b] == truth[a, b]]
    return rt.evidence(related=yes, unrelated=no), members
