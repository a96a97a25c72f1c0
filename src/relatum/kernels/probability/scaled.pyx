"""Doors to the arithmetic of scaled numbers, so that tests can walk through them."""

from libc.stdint cimport int64_t


def scaled_sum(const double[::1] mantissas, const int64_t[::1] exponents):
    """Return the sum of scaled numbers as (mantissa, exponent)."""
    cdef double total = 0.0
    cdef int64_t top = 4 * <int64_t>NEVER, k
    for k in range(mantissas.shape[0]):
        total = plus(total, &top, mantissas[k], exponents[k])
    total = settle(total, &top)
    return total, top


def scaled_product(const double[::1] mantissas, const int64_t[::1] exponents):
    """Return the product of scaled numbers as (mantissa, exponent)."""
    cdef double product = 0.5
    cdef int64_t top = 1, k
    for k in range(mantissas.shape[0]):
        top += exponents[k]
        product = times(product, mantissas[k], &top)
    return product, top


def scaled_ratio(double a, int64_t a_top, double b, int64_t b_top):
    """Return the quotient of two scaled numbers as a float."""
    return ratio(a, a_top, b, b_top)
