"""Probabilities by random walks, for clusterings and linear orders too large for exact sums.

`method` says what is taken, `cluster_walks` and `order_walks` run those of their kind,
`neighbours` lists the scores of a clustering by element, `chains` runs several walks and judges
them, `ladder` lets them exchange relations with hotter ones, `normalizer` and `counting` find
log2 Z, `drawn` turns draws into probabilities with standard errors. These modules import
`inference`, `problem`, `solvers` and kernels, and of this package the exact sums of small parts.
Begin with `method`, then `chains`.
"""

from relatum.probability.sampling.method import sampling_posterior, sampling_refusal

__all__ = ["sampling_posterior", "sampling_refusal"]
