"""A binary heap in two arrays, least key first: the keys and the items that belong to them."""

from numba import njit


@njit(cache=True, nogil=True)
def push(keys, items, size, key, item):
    """Enter an item into a heap that has ``size`` entries before."""
    i = size
    while i > 0:
        p = (i - 1) // 2
        if keys[p] <= key:
            break
        keys[i], items[i] = keys[p], items[p]
        i = p
    keys[i], items[i] = key, item


@njit(cache=True, nogil=True)
def drop_top(keys, items, size):
    """Remove the first entry of a heap that has ``size`` entries afterwards."""
    key, item = keys[size], items[size]
    i = 0
    while True:
        c = 2 * i + 1
        if c >= size:
            break
        if c + 1 < size and keys[c + 1] < keys[c]:
            c += 1
        if keys[c] >= key:
            break
        keys[i], items[i] = keys[c], items[c]
        i = c
    keys[i], items[i] = key, item
