"""The checker: it computes bounds from the rows and multipliers of a certificate, and nothing else.

A *view* writes a problem as an array of unknowns, the way its certificate counts them: dense,
sparse, as sets with prices, or as an order. Nothing here imports a solver or an engine for
linear programs. Begin with `verification`.
"""

from relatum.proof.checker.dense import view_of
from relatum.proof.checker.sets import best_by_halves, excess_margin, largest_of_each
from relatum.proof.checker.sparse import view_for
from relatum.proof.checker.verification import Verification, verify

__all__ = [
    "Verification",
    "best_by_halves",
    "excess_margin",
    "largest_of_each",
    "verify",
    "view_for",
    "view_of",
]
