"""Inference algorithms, one module each, listed in the registry."""
