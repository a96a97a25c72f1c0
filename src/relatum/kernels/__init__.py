"""Numba kernels: arrays in, arrays out; each has a plain twin in ``tests/naive.py``."""
