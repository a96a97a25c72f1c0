"""Loops over partitions: local search, packing of conflicts, violated rows, sets with prices."""
