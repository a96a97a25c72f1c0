"""Doors to the small loops that other kernels inline, so that tests can walk through them."""

from libc.stdint cimport int64_t, uint64_t

from relatum.kernels cimport condensed, hashing, heap, lanes, randomness, watch


def place(int64_t a, int64_t b, int64_t n):
    """See ``condensed.pxd``."""
    return condensed.place(a, b, n)


def find(const int64_t[::1] keys, int64_t key):
    """See ``hashing.pxd``."""
    return hashing.find(keys, key)


def remove(int64_t[::1] keys, hashing.value_t[::1] values, int64_t i):
    """See ``hashing.pxd``."""
    hashing.remove(keys, values, i)


def push(double[::1] keys, heap.item_t[::1] items, int64_t size, double key, heap.item_t item):
    """See ``heap.pxd``."""
    heap.push(keys, items, size, key, item)


def drop_top(double[::1] keys, heap.item_t[::1] items, int64_t size):
    """See ``heap.pxd``."""
    heap.drop_top(keys, items, size)


def next_word(uint64_t[::1] state):
    """See ``randomness.pxd``."""
    return randomness.next_word(state)


def next_uniform(uint64_t[::1] state):
    """See ``randomness.pxd``."""
    return randomness.next_uniform(state)


def next_below(uint64_t[::1] state, int64_t n):
    """See ``randomness.pxd``."""
    return randomness.next_below(state, n)


def full_lanes(int64_t n):
    """See ``lanes.pxd``."""
    return lanes.full_lanes(n)


def largest_lane(const double[::1] numbers):
    """See ``lanes.pxd``; there is one number for each lane."""
    if numbers.shape[0] != lanes.LANES:
        raise ValueError(f"there are {lanes.LANES} lanes, and {numbers.shape[0]} numbers")
    return lanes.largest_lane(&numbers[0])


def least_lane(const double[::1] numbers):
    """See ``lanes.pxd``; there is one number for each lane."""
    if numbers.shape[0] != lanes.LANES:
        raise ValueError(f"there are {lanes.LANES} lanes, and {numbers.shape[0]} numbers")
    return lanes.least_lane(&numbers[0])


def is_over(watch.Watch given, int64_t work):
    """See ``watch.pxd``."""
    return watch.is_over(given, work)
