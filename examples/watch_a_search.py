"""A search that reports how it goes, and one that is stopped by a monitor."""

import numpy as np

import relatum as rt

rng = np.random.default_rng(3)
ranks = rng.permutation(30)
scores = np.where(ranks[:, None] <= ranks[None, :], 1.0, -1.0) + 1.8 * rng.normal(size=(30, 30))
problem = rt.Problem(scores, rt.PARTIAL_ORDERS)
reports = []
e = rt.infer(problem, solver="branch_and_cut", prove=True, time_limit=20.0, monitor=reports.append)
for r in reports[:: max(1, len(reports) // 6)]:
    print(f"{r.seconds:6.2f} s  value {r.value:8.3f}  bound {r.bound:8.3f}  nodes {r.nodes}")
print(e, "verified" if rt.verify(problem, e) else "NOT VERIFIED")


def good_enough(report):
    return bool(report.bound - report.value < 0.02 * report.value)


e = rt.infer(problem, solver="branch_and_cut", monitor=good_enough)
print(f"stopped at a gap of {e.gap:.2f} bits, {100 * e.gap / e.value:.2f} % of the value")
