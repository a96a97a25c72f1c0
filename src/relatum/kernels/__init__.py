"""Kernels: arrays in, arrays out; each has a plain twin in ``tests/naive`` that it must equal.

The hot loops of the library and nothing else, compiled ahead of time, each room of kernels beside
the algorithms that it serves. Small loops that others inline are in ``.pxd`` files. Kernels import
nothing of ours but other kernels. Begin with `partition.dense`.
"""

from relatum.kernels.variants import searched

__path__ = searched("")
