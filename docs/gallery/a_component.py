"""A larger component of a table, from the side of one element.

Left all scores, arranged by cluster; right the strong pairs as a graph. Pairs that the clusters
cut, although they speak for being together, are the doubts to look at first.
"""

import numpy as np

import relatum as rt

rng = np.random.default_rng(5)
truth = np.repeat(np.arange(5), 5)
i, j = np.triu_indices(25, 1)
same = truth[i] == truth[j]
kept = same | (rng.random(len(i)) < 0.3)
scores = np.where(same, 3.0, -3.0) + rng.normal(scale=2.6, size=len(i))
problem = rt.Problem.from_pairs(
    i[kept], j[kept], scores[kept], n=25, background=-0.5, feasible=rt.EQUIVALENCES
)
e = rt.infer(problem, prove=True)
print(e.message, [s.tolist() for s in e.relation.sets()])
rt.plots.component(problem, e, element=0).savefig("a_component.png")
