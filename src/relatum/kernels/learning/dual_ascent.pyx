"""Dual coordinate ascent for logistic regression inside one block of rows."""

import numpy as np

from libc.math cimport exp, log, log1p
from libc.stdint cimport int64_t, uint8_t


cpdef double optimal_logit(
    double margin, double dual, double weight, double curvature
) noexcept nogil:
    """Root u of u + margin + (weight * s(u) - dual) * curvature, with s the logistic function.

    The function is increasing with slope at least 1, so the root is unique and lies between
    -margin - (weight - dual) * curvature and -margin + dual * curvature. Newton's method, with
    bisection whenever it leaves the interval known to hold the root.
    """
    cdef double low = -margin - (weight - dual) * curvature
    cdef double high = -margin + dual * curvature
    cdef double u = 0.0, e, s, value, step, new
    cdef int64_t _
    if 0.0 < dual < weight:
        u = log(dual / (weight - dual))
    if not low < u < high:
        u = 0.5 * (low + high)
    for _ in range(60):
        e = exp(-abs(u))
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


cdef void _ascend_block(
    double[:, ::1] scores, const double[:, ::1] gram, const uint8_t[:, ::1] related,
    const double[::1] weights, double[:, ::1] duals, double inverse_lambda,
    const int64_t[::1] order, double[::1] gaps
) noexcept nogil:
    cdef int64_t v, i, j, k
    cdef double weight, curvature, sign, margin, dual, loss, share, u, e, s, change
    for v in range(order.shape[0]):
        i = order[v]
        weight = weights[i]
        if weight <= 0.0:
            continue
        curvature = gram[i, i] * inverse_lambda
        for k in range(scores.shape[0]):
            sign = 1.0 if related[k, i] else -1.0
            margin = sign * scores[k, i]
            dual = min(max(sign * duals[k, i], 0.0), weight)
            loss = log1p(exp(-abs(margin))) - min(margin, 0.0)
            gaps[k] += weight * loss + dual * margin
            share = dual / weight
            if 0.0 < share < 1.0:
                gaps[k] += weight * (share * log(share) + (1.0 - share) * log1p(-share))
            u = optimal_logit(margin, dual, weight, curvature)
            e = exp(-abs(u))
            s = 1.0 / (1.0 + e)
            if u < 0.0:
                s = e * s
            change = sign * (weight * s - dual)
            duals[k, i] = sign * weight * s
            change *= inverse_lambda
            for j in range(scores.shape[1]):
                scores[k, j] += change * gram[i, j]


def ascend_block(
    double[:, ::1] scores, const double[:, ::1] gram, related, const double[::1] weights,
    double[:, ::1] duals, double inverse_lambda, const int64_t[::1] order
):
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
    gaps = np.zeros(scores.shape[0])
    cdef const uint8_t[:, ::1] targets = related.view(np.uint8)
    cdef double[::1] out = gaps
    with nogil:
        _ascend_block(scores, gram, targets, weights, duals, inverse_lambda, order, out)
    return gaps
