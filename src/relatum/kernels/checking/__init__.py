"""Loops of the checker, in integers: it shares none with the solvers whose proofs it checks.

`sets` looks for sets above the prices of their elements, `part_bounds` bounds the parts of a table
of pairs. Nothing of ours is imported, no other kernel either. Begin with `sets`.
"""

from relatum.kernels.variants import searched

__path__ = searched("checking")
