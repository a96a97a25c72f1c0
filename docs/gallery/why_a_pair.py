"""Why two elements are together though they are unlike.

The chain of pairs that decides, and what the opposite would cost.
"""

import numpy as np

import relatum as rt

rng = np.random.default_rng(4)
truth = np.repeat([0, 1, 2], 6)
scores = np.where(truth[:, None] == truth, 1.2, -1.2) + rng.normal(scale=1.5, size=(18, 18))
problem = rt.Problem(scores[np.triu_indices(18, 1)], rt.EQUIVALENCES)
e = rt.infer(problem, prove=True)

labels, bits = e.relation.labels, problem.dense()
i, j = np.triu_indices(18, 1)
together = labels[i] == labels[j]
least = np.argmin(bits[i[together], j[together]])
why = rt.explain(problem, e, int(i[together][least]), int(j[together][least]))
print(why.sentence)
rt.plots.explanation(why).figure.savefig("why_a_pair.png")
