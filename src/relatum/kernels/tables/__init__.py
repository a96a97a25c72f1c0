"""Loops over tables of scored pairs: components, places, and many small clusterings."""
