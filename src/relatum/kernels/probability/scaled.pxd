"""Positive numbers as mantissa in [1/2, 1) and exponent; zero has the mantissa 0 and `NEVER`.

A sum is kept as (sum of mantissas, largest exponent so far): what comes is moved down to it, or
moves it. Numbers 2^1023 times as small as another are lost in a sum with it.
"""

from libc.math cimport frexp
from libc.stdint cimport int64_t, uint64_t

cdef enum:
    NEVER = -(1 << 30)  # exponent of zero: others are at most 2^28 in size
    FARTHEST = 1023  # places by which a number is moved down and not lost

cdef union Bits:
    double number
    uint64_t bits


cdef inline double down(int64_t places) noexcept nogil:
    """Return 2^-places, for places from 0 on; 0 from 1023 on."""
    cdef Bits word
    word.bits = <uint64_t>(FARTHEST - min(places, FARTHEST)) << 52
    return word.number


cdef inline double times(double a, double b, int64_t *exponent) noexcept nogil:
    """Return the mantissa of a product of two, and lower the exponent's sum where it has to be."""
    cdef double product = a * b
    if product < 0.5 and product > 0.0:
        product = product * 2.0
        exponent[0] = exponent[0] - 1
    return product


cdef inline double plus(
    double total, int64_t *top, double mantissa, int64_t exponent
) noexcept nogil:
    """Add a number to a sum of any mantissa: return the mantissa, and raise the exponent."""
    cdef int64_t places = top[0] - exponent
    if places >= 0:
        return total + mantissa * down(places)
    top[0] = exponent
    return total * down(-places) + mantissa


cdef inline double settle(double total, int64_t *top) noexcept nogil:
    """Return the mantissa in [1/2, 1) of a sum, and its exponent."""
    cdef int places = 0
    if total <= 0.0:
        top[0] = NEVER
        return 0.0
    total = frexp(total, &places)
    top[0] = top[0] + places
    return total


cdef inline double ratio(double a, int64_t a_top, double b, int64_t b_top) noexcept nogil:
    """Return a / b as a float, of numbers whose quotient is not above some thousands."""
    cdef int64_t places = b_top - a_top
    if a <= 0.0:
        return 0.0
    if places >= 0:
        return a / b * down(places)
    return a / b / down(-places)
