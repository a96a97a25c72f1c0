"""A hash table in two arrays: keys, -1 where a slot is free, and the values that belong to them.

Lengths are powers of two, and never all slots are taken. Keys are integers from 0 on. A set
has no values; where a function wants these, the keys are given once more. The loops are in
``hashing.pxd``, for kernels to inline.
"""


def table_length(least: int) -> int:
    """Return the least power of two that is not below a number, and not below two."""
    return 1 << max(1, (least - 1).bit_length())
