"""Say why two elements are together, and what it would cost to part them."""

import numpy as np

import relatum as rt

rng = np.random.default_rng(1)
truth = np.repeat([0, 1, 2], 7)
same = truth[:, None] == truth[None, :]
scores = np.where(same, 0.8, -0.8) + rng.normal(size=(21, 21))
problem = rt.Problem(scores, rt.EQUIVALENCES)
estimate = rt.infer(problem, prove=True)
labels = estimate.relation.labels

both = scores + scores.T
together = (labels[:, None] == labels[None, :]) & ~np.eye(21, dtype=bool)
a, b = (int(k) for k in np.unravel_index(np.where(together, both, np.inf).argmin(), both.shape))
print(rt.explain(problem, estimate, a, b))
apart = labels[:, None] != labels[None, :]
c, d = (int(k) for k in np.unravel_index(np.where(apart, both, -np.inf).argmax(), both.shape))
print(rt.explain(problem, estimate, c, d))
