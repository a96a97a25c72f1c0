"""The two parts of the learning problem, D_x and R_sigma, exactly and in bits.

Both models of the paper minimise D_x(theta, y) + R_sigma(theta): D_x is the number of bits that
the measure needs to describe y, R_sigma is minus the log2 of the prior, up to a constant.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from relatum.array_types import Floats

LN2 = math.log(2.0)


def sigmoid2(log_odds: ArrayLike) -> Floats:
    """Probability 1 / (1 + 2^-t) of log2-odds t, without overflow.

    Examples
    --------
    >>> sigmoid2([-1.0, 0.0, 1.0]).round(4).tolist()
    [0.3333, 0.5, 0.6667]
    """
    t = np.asarray(log_odds, dtype=np.float64)
    e = np.exp2(-np.abs(t))
    return np.where(t >= 0, 1.0, e) / (1.0 + e)


def pair_bits(log_odds: ArrayLike, y: ArrayLike) -> Floats:
    """Bits -t y + log2(1 + 2^t) of every pair of log-odds t and target y.

    Examples
    --------
    >>> pair_bits([0.0, 0.0], [0, 1]).tolist()
    [1.0, 1.0]
    """
    t = np.asarray(log_odds, dtype=np.float64)
    return np.logaddexp2(0.0, t) - t * np.asarray(y, dtype=np.float64)


def _scores(theta: ArrayLike, x: Any) -> Floats:
    return np.asarray(x @ np.asarray(theta, dtype=np.float64).T, dtype=np.float64)


def _weighted(bits: Floats, weights: ArrayLike | None) -> Floats:
    if weights is None:
        return bits
    w = np.asarray(weights, dtype=np.float64)
    return bits * (w if w.ndim == bits.ndim else w[:, None])


def logistic_divergence(
    theta: ArrayLike, x: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """D_x of the logistic model: the sum of -<theta, x> y + log2(1 + 2^<theta, x>) over pairs.

    Parameters
    ----------
    theta : array_like of shape (features,) or (labels, features)
    x : array or sparse matrix of shape (rows, features)
    y : array_like of shape (rows,) or (rows, labels)
        01-targets, or probabilities.
    sample_weight : array_like of shape (rows,), optional

    Examples
    --------
    At theta = 0 every pair costs one bit.

    >>> logistic_divergence([0.0, 0.0], np.eye(2), [0, 1])
    2.0
    """
    return float(_weighted(pair_bits(_scores(theta, x), y), sample_weight).sum())


def logistic_regularizer(theta: ArrayLike, inverse_sigma_squared: float) -> float:
    """R_sigma of the logistic model: log2(e) / (2 sigma^2) times |theta|^2."""
    t = np.asarray(theta, dtype=np.float64)
    return float(inverse_sigma_squared / (2.0 * LN2) * np.vdot(t, t))


def logistic_dual(
    duals: Floats,
    theta: Floats,
    inverse_sigma_squared: float,
    sample_weight: Floats,
) -> Floats:
    """Dual objective of every label, in bits: no theta has a smaller D_x + R_sigma.

    Parameters
    ----------
    duals : (labels, rows), with 0 <= |dual| <= weight.
    theta : (labels, features), the point sum_i duals_i x_i (ln 2) sigma^2 that belongs to `duals`.
    inverse_sigma_squared : float
    sample_weight : (rows,)
    """
    prior = inverse_sigma_squared / (2.0 * LN2) * np.einsum("km,km->k", theta, theta)
    return np.asarray(entropy(duals, sample_weight) - prior)


def entropy(duals: Floats, sample_weight: Floats) -> Floats:
    """Sum over rows of weight times the binary entropy of |dual| / weight, for every label."""
    a = np.minimum(np.abs(duals), sample_weight)
    rest = sample_weight - a
    total = xlogy(sample_weight, sample_weight).sum()
    return np.asarray((total - (xlogy(a, a) + xlogy(rest, rest)).sum(axis=1)) / LN2)


def bernoulli_divergence(theta: ArrayLike, related: ArrayLike, unrelated: ArrayLike) -> float:
    """D_x of the Bernoulli model, from the numbers of related and unrelated pairs of each class.

    The paper's sum over pairs depends on y only through these totals m+ and m-: it is the sum
    over classes of -m+ log2(theta) - m- log2(1 - theta).

    Examples
    --------
    >>> bernoulli_divergence([0.5, 0.25], [1, 1], [1, 0])
    4.0
    """
    t = np.asarray(theta, dtype=np.float64)
    plus, minus = np.asarray(related, np.float64), np.asarray(unrelated, np.float64)
    return float(-(xlogy(plus, t) + xlogy(minus, 1.0 - t)).sum() / LN2)


def bernoulli_regularizer(theta: ArrayLike, sigma: float) -> float:
    """R_sigma of the Bernoulli model: (1 - sigma) times the sum of log2(theta (1 - theta))."""
    t = np.asarray(theta, dtype=np.float64)
    s = 1.0 - sigma
    return float((xlogy(s, t) + xlogy(s, 1.0 - t)).sum() / LN2)
