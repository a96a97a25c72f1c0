"""Loops over rows of features: sketches, products, dual ascent, counts."""
