"""Typed errors: each names the thing, the rule, what was got and the way out."""

from __future__ import annotations

__all__ = [
    "BlockingWarning",
    "CalibrationWarning",
    "CertificateError",
    "DataError",
    "DegenerateWarning",
    "EvidenceError",
    "FeasibleSetError",
    "MissingDependencyError",
    "NotFittedError",
    "ProblemError",
    "RelationError",
    "RelatumError",
    "SolverError",
]


class RelatumError(Exception):
    """Base class of every error that relatum raises on purpose: what it says is one line."""

    def __init__(self, *arguments: object) -> None:
        lines = [" ".join(a.split("\n")) if isinstance(a, str) else a for a in arguments]
        super().__init__(*lines)


class RelationError(RelatumError, ValueError):
    """A matrix or label vector is not the relation it was said to be."""


class FeasibleSetError(RelatumError, ValueError):
    """A property or an intersection of properties makes no sense as written."""


class EvidenceError(FeasibleSetError):
    """Evidence names pairs that do not exist or says both yes and no of one pair."""


class ProblemError(RelatumError, ValueError):
    """Log-odds have the wrong shape, type or content for the feasible set."""


class SolverError(RelatumError, ValueError):
    """No solver fits, or a named solver refuses the problem."""


class CertificateError(RelatumError, ValueError):
    """A certificate is malformed or does not prove what it claims."""


class DataError(RelatumError, ValueError):
    """Training or input data break a rule of a feature map or measure."""


class NotFittedError(RelatumError, ValueError, AttributeError):
    """A measure or estimator is used before it was fitted."""


class MissingDependencyError(RelatumError, ImportError):
    """An optional package is needed; the message names the extra that installs it."""


class DegenerateWarning(UserWarning):
    """The optimum of a problem says nothing about the data; the message tells the way out."""


class BlockingWarning(UserWarning):
    """Many true pairs were never scored, so that a background says the wrong thing of them."""


class CalibrationWarning(UserWarning):
    """What labels say of scores runs away, or too little: the message tells what was done."""
