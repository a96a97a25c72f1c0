"""Exact probabilities: closed forms, dynamic programs over subsets, and enumeration.

One module for each kind of feasible set; each has `refusal(task)`, which says why not, and
`posterior(task, control)`. `families` says which kind takes which set. These modules import
`problem`, `proof`, `solvers` (their controls) and kernels. Begin with `families`, then
`clusterings`.
"""

from relatum.probability.exact.families import exact_posterior, exact_refusal

__all__ = ["exact_posterior", "exact_refusal"]
