"""Loops over orders: dynamic programs, local search, violated rows."""
