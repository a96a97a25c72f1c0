"""How many relations there are: log2 of n!, of Bell's numbers, and of what evidence leaves."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from relatum.array_types import Flags, Index
from relatum.kernels.probability.permutations import Placing, order_sums
from relatum.probability.exact.weights import split
from relatum.solvers.reductions import connected

COUNTED = 16  # elements that evidence connects, whose orders are counted one set after the other


def log2_factorial(n: int) -> float:
    """Return the log2 of n!, in bits."""
    return float(gammaln(n + 1)) / math.log(2)


def log2_orders(before: Flags) -> float | None:
    """Return the log2 of the number of linear orders in which pairs are in order.

    Parameters
    ----------
    before : (n, n) bool array
        Which elements come before which; transitive.

    Returns
    -------
    float or None
        None if evidence connects so many elements that their orders are not counted.

    Examples
    --------
    >>> round(2 ** log2_orders(np.zeros((4, 4), bool)))
    24
    """
    n = len(before)
    i, j = np.nonzero(before)
    part = connected(n, [(i, j)])
    bits = log2_factorial(n)
    for number in np.unique(part[i]):
        own = np.flatnonzero(part == number)
        if len(own) > COUNTED:
            return None
        allowed = ~before[np.ix_(own, own)].T
        forward, places = order_sums(Placing(*split(np.zeros(allowed.shape), allowed)), None)[:2]
        if forward[-1] <= 0:
            return None
        bits += math.log2(forward[-1]) + int(places[-1]) - log2_factorial(len(own))
    return bits


def log2_bell(n: int) -> float:
    """Return the log2 of the number of partitions of n elements (Dobinski's sum).

    Examples
    --------
    >>> round(2 ** log2_bell(10))
    115975
    """
    if n == 0:
        return 0.0
    k = np.arange(1.0, 2 * n + 60)
    terms = n * np.log2(k) - gammaln(k + 1) / math.log(2)
    top = float(terms.max())
    return top + math.log2(float(np.exp2(terms - top).sum())) - 1 / math.log(2)


def log2_partitions(sizes: Index, cap: int) -> float | None:
    """Return the log2 of the number of partitions none of whose sets is larger than a cap.

    None if elements have different sizes, so that a cap makes this another problem.

    Examples
    --------
    >>> round(2 ** log2_partitions(np.ones(4, int), 2))
    10
    """
    n = len(sizes)
    if cap >= int(sizes.sum()):
        return log2_bell(n)
    if (sizes != sizes[0]).any():
        return None
    most = min(n, cap // int(sizes[0]))
    ln_factorial = gammaln(np.arange(n + 1) + 1.0)
    # by the size j of the set of the last of m elements: choose its j - 1 others
    found = np.zeros(n + 1)
    for m in range(1, n + 1):
        j = np.arange(1, min(m, most) + 1)
        choose = ln_factorial[m - 1] - ln_factorial[j - 1] - ln_factorial[m - j]
        found[m] = np.logaddexp.reduce(choose + found[m - j])
    return float(found[n]) / math.log(2)
