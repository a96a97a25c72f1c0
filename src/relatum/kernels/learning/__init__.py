"""Loops over rows of features: sketches, products, dual ascent, counts.

One module per loop; nothing of ours is imported. Begin with `dual_ascent`, which fits logistic
measures.
"""

from relatum.kernels.variants import searched

__path__ = searched("learning")
