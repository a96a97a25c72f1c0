"""Bounds of clusterings from the cheap to the dear; `choose` says which one fits the time left."""
