"""A search, watched: value and bound meet.

A random order of 32 elements, about as hard as they come. A monitor is told how things stand;
when the two curves meet, no better order exists.
"""

import numpy as np

import relatum as rt

scores = np.random.default_rng(1).normal(size=(32, 32))
reports = []
problem = rt.Problem(scores, rt.LINEAR_ORDERS)
e = rt.infer(problem, prove=True, time_limit=20.0, monitor=reports.append)
print(e.message, f"gap {e.gap:.3f} bits,", rt.verify(problem, e).reason)
axes = rt.plots.progress(reports)
axes.figure.savefig("a_search.png")
