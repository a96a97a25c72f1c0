"""The checker: it computes bounds from the rows and multipliers of a certificate, and nothing else.

A *view* writes a problem as an array of unknowns, the way its certificate counts them: dense,
sparse, as sets with prices, or as an order; `view` is what these share. Nothing here imports a
solver or an engine for linear programs. Begin with `verification`.
"""

from relatum.proof.checker.dense import dense_view
from relatum.proof.checker.sets import best_by_partners, excess_margin, largest_per_owner
from relatum.proof.checker.sparse import view_for
from relatum.proof.checker.verification import Verification, verify

__all__ = [
    "Verification",
    "best_by_partners",
    "dense_view",
    "excess_margin",
    "largest_per_owner",
    "verify",
    "view_for",
]
