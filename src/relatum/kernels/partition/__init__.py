"""Loops over partitions: local search, packing of conflicts, violated rows, sets with prices.

Searches work on a matrix (`dense`, `anneal`, `polish`) or on listed pairs (`sparse`, `greedy`),
and `rules` says what a set may hold. Of ours, only the small kernels beside this room are
imported: hash table, heap, condensed index, random generator. Begin with `dense`.
"""

from relatum.kernels.variants import searched

__path__ = searched("partition")
