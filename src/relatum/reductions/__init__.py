"""Lossless reductions: accepts, apply, invert."""
