"""Measures: from features to log2-odds that a pair is related."""
