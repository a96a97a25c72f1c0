"""Benchmarks: each script measures ratios, side by side with peers, in one run."""
