"""Loops that add up the probabilities of all relations of a kind: dynamic programs over subsets.

Numbers are kept as mantissa and exponent, apart, so that nothing overflows and no logarithm is
taken in a loop; `scaled` says how. Of ours, only `watch` is imported. Begin with
`set_partitions`.
"""

from relatum.kernels.variants import searched

__path__ = searched("probability")
