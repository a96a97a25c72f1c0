"""Weak orders: rankings in which elements may tie."""

import numpy as np

import relatum as rt

# log-odds that row is at least as good as column: clear between classes, level within them
quality = np.array([3, 3, 2, 2, 2, 0])
names = ["a", "b", "c", "d", "e", "f"]
rng = np.random.default_rng(0)
scores = np.where(quality[:, None] >= quality[None, :], 1.5, -1.5)
scores += rng.normal(scale=0.7, size=scores.shape)

for name, feasible in (("weak order", rt.WEAK_ORDERS), ("linear order", rt.LINEAR_ORDERS)):
    e = rt.infer(rt.Problem(scores, feasible), prove=True)
    classes = [" = ".join(names[k] for k in tied) for tied in e.relation.classes()]
    print(f"{name:13} {' < '.join(classes):26} value {e.value:6.2f} bits, {e.status.name}")
