"""Kernels: arrays in, arrays out; each has a plain twin in ``tests/naive`` that it must equal.

The hot loops of the library and nothing else, each room of kernels beside the algorithms that
it serves. Kernels import nothing of ours but other kernels. Begin with `partition.dense`.
"""
