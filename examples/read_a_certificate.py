"""What a certificate holds, how it is checked, and how a forged one is caught."""

from dataclasses import replace

import numpy as np

import relatum as rt

rng = np.random.default_rng(5)
problem = rt.Problem(rng.normal(size=(14, 14)), rt.EQUIVALENCES)
e = rt.infer(problem, prove=True)
print(e)
print("the proof in numbers:", e.certificate.counts())
print(rt.verify(problem, e).reason)

forged = replace(e, certificate=rt.Certificate(e.bound - 1.0, e.certificate.proof))
print(rt.verify(problem, forged).reason)
other = rt.Partition(np.arange(14))
print(rt.verify(problem, replace(e, relation=other)).reason)
