"""How sure: the probability of every pair.

Left the scores, right how probable it is that two elements belong together, over *all*
clusterings of the eighteen elements, 682,076,806,159 of them, exactly.
"""

import numpy as np

import relatum as rt

rng = np.random.default_rng(2)
truth = np.repeat([0, 1, 2], 6)
i, j = np.triu_indices(18, 1)
scores = np.where(truth[i] == truth[j], 1.0, -1.0) + rng.normal(scale=1.6, size=len(i))
problem = rt.Problem(scores, rt.EQUIVALENCES)
e = rt.infer(problem, prove=True)
known = rt.probabilities(problem)
print(f"the best clustering has probability {2 ** (e.value - known.log2_normalizer):.3f}")
asked = rt.questions(problem, 1)[0]
print(f"ask about {asked.i} and {asked.j}: {asked.probability:.2f}")
left, right = rt.plots.probabilities(known, e)
left.figure.savefig("how_sure.png")
