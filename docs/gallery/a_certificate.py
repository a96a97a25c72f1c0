"""A certificate: why nothing better exists.

The proof is a tree of cases. Each leaf has rows that every clustering satisfies, with
multipliers, from which `rt.verify` computes the bound again, in exact integers and without a
solver.
"""

import numpy as np

import relatum as rt

scores = np.random.default_rng(1).choice([-1.0, 1.0], size=30 * 29 // 2)
problem = rt.Problem(scores, rt.EQUIVALENCES)
e = rt.infer(problem, prove=True)
print(e.certificate.counts())
print(rt.verify(problem, e).reason)
rt.plots.certificate(e).figure.savefig("a_certificate.png")
