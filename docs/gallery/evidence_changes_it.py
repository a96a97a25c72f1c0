"""What one fact changes.

A clustering, and the same after somebody said that two elements are not the same: the most
probable clustering of those in which they are apart.
"""

import numpy as np
from matplotlib.figure import Figure

import relatum as rt

rng = np.random.default_rng(1)
truth = np.repeat([0, 1, 2, 3], 7)
scores = np.where(truth[:, None] == truth, 1.0, -1.0) + rng.normal(scale=1.9, size=(28, 28))
before = rt.Problem(scores, rt.EQUIVALENCES)
first = rt.infer(before, prove=True)
a, b = first.relation.sets()[0][:2].tolist()
after = rt.Problem(scores, rt.EQUIVALENCES & rt.evidence(unrelated=[(a, b)]))
second = rt.infer(after, prove=True)
changed = first.relation.matrix() != second.relation.matrix()
print(f"That {a} and {b} differ costs {first.value - second.value:.1f} bits", end=" ")
print(f"and changes {int(changed.sum()) // 2} pairs.")

figure = Figure(figsize=(9, 3.8), layout="constrained")
left, right = figure.subplots(1, 2)
rt.plots.relation(before, first, left, names=range(28))
rt.plots.relation(after, second, right, names=range(28))
left.set_title("before")
right.set_title(f"{a} and {b} are known to differ")
figure.savefig("evidence_changes_it.png")
