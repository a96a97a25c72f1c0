"""Dual coordinate ascent for logistic regression inside one block of rows."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def optimal_logit(margin, dual, weight, curvature):
    """Root u of u + margin + (weight * s(u) - dual) * curvature, with s the logistic function.

    The function is increasing with slope at least 1, so the root is unique and lies between
    -margin - (weight - dual) * curvature and -margin + dual * curvature. Newton's method, with
    bisection whenever it leaves the interval known to hold the root.
    """
    low = -margin - (weight - dual) * curvature
    high = -margin + dual * curvature
    u = 0.0
    if 0.0 < dual < weight:
        u = math.log(dual / (weight - dual))
    if not low < u < high:
        u = 0.5 * (low + high)
    for _ in range(60):
        e = math.exp(-abs(u))
        s = 1.0 / (1.0 + e)
        if u < 0.0:
            s = e * s
        value = u + margin + (weight * s - dual) * curvature
        if value > 0.0:
            high = u
        else:
            low = u
        step = value / (1.0 + weight * curvature * s * (1.0 - s))
        new = u - step
        if not low <= new <= high:
            new = 0.5 * (low + high)
        step = abs(new - u)
        u = new
        if step <= 1e-9 * (1.0 + abs(u)):
            break
    return u


@njit(cache=True)
def ascend_block(scores, gram, related, weights, duals, inverse_lambda, order):
    """Maximise the dual over the variables of one block, row by row, all labels on each visit.

    Exactly sequential dual coordinate ascent: `gram` holds the inner products of the block's
    rows, so that a change of one dual variable is carried to the scores of the others without
    touching the features.

    Parameters
    ----------
    scores : (labels, rows) float64, <w_k, x_i>; updated in place.
    gram : (rows, rows) float64, <x_i, x_j>.
    related : (labels, rows) bool, the targets y.
    weights : (rows,) float64, non-negative.
    duals : (labels, rows) float64, signed: w = sum_i duals_i x_i / lambda; updated in place.
    inverse_lambda : float
    order : (rows,) int64, the order of visits.

    Returns
    -------
    (labels,) float64: duality gap of the block's variables, each taken just before its visit.
    """
    labels, rows = scores.shape
    gaps = np.zeros(labels)
    for i in order:
        weight = weights[i]
        if weight <= 0.0:
            continue
        curvature = gram[i, i] * inverse_lambda
        for k in range(labels):
            sign = 1.0 if related[k, i] else -1.0
            margin = sign * scores[k, i]
            dual = min(max(sign * duals[k, i], 0.0), weight)
            loss = math.log1p(math.exp(-abs(margin))) - min(margin, 0.0)
            gaps[k] += weight * loss + dual * margin
            share = dual / weight
            if 0.0 < share < 1.0:
                gaps[k] += weight * (share * math.log(share) + (1 - share) * math.log1p(-share))
            u = optimal_logit(margin, dual, weight, curvature)
            e = math.exp(-abs(u))
            s = 1.0 / (1.0 + e)
            if u < 0.0:
                s = e * s
            change = sign * (weight * s - dual)
            duals[k, i] = sign * weight * s
            change *= inverse_lambda
            for j in range(rows):
                scores[k, j] += change * gram[i, j]
    return gaps
