"""Brute force over measures and relations together."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np

from naive.partition.enumeration import all_partitions


def matrices_of(kind, n, m=None):
    """Matrices of all equivalence relations or linear orders on n, or of all maps from n to m."""
    if kind == "equivalences":
        every = np.array(all_partitions(n))
        return every[:, :, None] == every[:, None, :]
    if kind == "orders":
        every = np.array(list(permutations(range(n))))
        return every[:, :, None] <= every[:, None, :]
    every = np.array(list(product(range(m), repeat=n)))
    return every[:, :, None] == np.arange(m)


def bernoulli_joint_bits(theta, classes, y, weights, sigma):
    """D_x + R_sigma of the Bernoulli model, one pair after the other, as printed."""
    total = (1 - sigma) * sum(math.log2(t * (1 - t)) for t in theta)
    for j, target, weight in zip(classes, y, weights, strict=True):
        if j >= 0:
            total += weight * math.log2((1 - theta[j]) / theta[j]) * target
            total -= weight * math.log2(1 - theta[j])
    return total


def bernoulli_best_bits(classes, ys, weights, sigma):
    """Least D_x + R_sigma over theta, for every row of ys; classes are numbered 0 ... K - 1."""
    total = np.zeros(len(ys))
    for j in range(max(classes) + 1):
        own = np.asarray(classes) == j
        plus = (ys[:, own] * weights[own]).sum(axis=1)
        size = weights[own].sum()
        t = (plus + sigma - 1) / (size + 2 * sigma - 2)
        total -= (plus + sigma - 1) * np.log2(t) + (size - plus + sigma - 1) * np.log2(1 - t)
    return total


def logistic_best_bits(x, ys, weights, strength, steps=60):
    """Least D_x + R_sigma over theta, for every row of ys, by gradient steps made Newton's."""
    x, ys = np.asarray(x, dtype=float), np.asarray(ys, dtype=float)
    theta = np.zeros((len(ys), x.shape[1]))
    lam = strength / math.log(2)

    def bits(theta):
        t = theta @ x.T
        d = np.logaddexp(0, t * math.log(2)) / math.log(2) - t * ys
        return d @ weights + lam / 2 * (theta**2).sum(axis=1)

    value = bits(theta)
    for _ in range(steps):
        p = 1 / (1 + np.exp2(-(theta @ x.T)))
        g = ((p - ys) * weights) @ x + lam * theta
        curvature = np.einsum("ip,pk,pl->ikl", p * (1 - p) * weights * math.log(2), x, x)
        step = np.linalg.solve(curvature + lam * np.eye(x.shape[1]), g[:, :, None])[:, :, 0]
        size = np.ones(len(ys))
        for _ in range(30):
            trial = theta - size[:, None] * step
            worse = bits(trial) > value + 1e-13
            if not worse.any():
                break
            size[worse] /= 2
        theta = np.where(worse[:, None], theta, trial)
        value = bits(theta)
    return value
