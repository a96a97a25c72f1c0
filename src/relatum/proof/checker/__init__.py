"""The checker: it computes bounds from the rows and multipliers of a certificate, and nothing else.

A *view* writes a problem as an array of unknowns, the way its certificate counts them: dense,
sparse, as sets with prices, or as an order; `view` is what these share, `numbers` the exact
integers that all of them count in. Nothing here imports a solver, a kernel of solvers or an
engine for linear programs, and no solver imports anything of it. Begin with `verification`.
"""

from relatum.proof.checker.verification import Verification, check_certificate, verify

__all__ = ["Verification", "check_certificate", "verify"]
