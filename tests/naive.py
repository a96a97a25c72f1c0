"""Plain, slow twins of every kernel, and brute force over whole feasible sets.

Written for reading: loops and definitions, no shared code with the library.
"""
