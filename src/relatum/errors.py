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
    """Base class of every error that relatum raises on purpose: what it says is one line.

    Examples
    --------
    >>> import relatum as rt
    >>> try:
    ...     rt.Partition([0, "a"])
    ... except rt.errors.RelatumError as error:
    ...     print(error)
    The labels of a partition must be integers, got dtype <U21.
    """

    def __init__(self, *arguments: object) -> None:
        lines = [" ".join(a.split("\n")) if isinstance(a, str) else a for a in arguments]
        super().__init__(*lines)


class RelationError(RelatumError, ValueError):
    """A matrix or label vector is not the relation it was said to be.

    Examples
    --------
    >>> import relatum as rt
    >>> try:
    ...     rt.LinearOrder([0, 0, 1])
    ... except rt.errors.RelationError as error:
    ...     print(error)
    A linear order has no ties, but elements [0 1] share a rank; use WeakOrder for rankings with
    ties.
    """


class FeasibleSetError(RelatumError, ValueError):
    """A property or an intersection of properties makes no sense as written.

    Examples
    --------
    >>> import relatum as rt
    >>> try:
    ...     rt.at_most(0)
    ... except rt.errors.FeasibleSetError as error:
    ...     print(error)
    at_most(k) allows at least one image per element: k is a whole number from 1 to 2147483648, got
    0.
    """


class EvidenceError(FeasibleSetError):
    """Evidence names pairs that do not exist or says both yes and no of one pair.

    Examples
    --------
    >>> import relatum as rt
    >>> try:
    ...     rt.Problem([1.0], rt.EQUIVALENCES & rt.evidence(related=[(0, 5)]))
    ... except rt.errors.EvidenceError as error:
    ...     print(error)
    Evidence 'related' names the pair (0, 5), but there are only |A| = 2 and |B| = 2 elements,
    numbered from 0.
    """


class ProblemError(RelatumError, ValueError):
    """Log-odds have the wrong shape, type or content for the feasible set.

    Examples
    --------
    >>> import relatum as rt
    >>> try:
    ...     rt.Problem([1.0, 2.0], rt.EQUIVALENCES)
    ... except rt.errors.ProblemError as error:
    ...     print(error)
    A condensed upper triangle has n (n - 1) / 2 entries (1, 3, 6, ...), got 2.
    """


class SolverError(RelatumError, ValueError):
    """No solver fits, or a named solver refuses the problem.

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([1.0], rt.EQUIVALENCES)
    >>> try:
    ...     rt.infer(problem, solver="nobody")
    ... except rt.errors.SolverError as error:
    ...     print(error)
    There is no solver named 'nobody'; there are "auto", argmax, assignment, ...
    """


class CertificateError(RelatumError, ValueError):
    """A certificate is malformed or does not prove what it claims.

    Examples
    --------
    >>> import relatum as rt
    >>> from dataclasses import replace
    >>> problem = rt.Problem([1.0], rt.EQUIVALENCES)
    >>> forged = replace(rt.infer(problem, prove=True), value=2.0)
    >>> try:
    ...     rt.verify(problem, forged).raise_if_wrong()
    ... except rt.errors.CertificateError as error:
    ...     print(error)
    The relation's value is 1.0 bits, but 2.0 is claimed.
    """


class DataError(RelatumError, ValueError):
    """Training or input data break a rule of a feature map or measure.

    Examples
    --------
    >>> import relatum as rt
    >>> try:
    ...     rt.metrics.rand_error([0, 1], [0, 1, 2])
    ... except rt.errors.DataError as error:
    ...     print(error)
    Both partitions are of the same elements, got 2 and 3 labels.
    """


class NotFittedError(RelatumError, ValueError, AttributeError):
    """A measure or estimator is used before it was fitted.

    Examples
    --------
    >>> import relatum as rt
    >>> try:
    ...     rt.LogisticMeasure().log_odds([[1.0]])
    ... except rt.errors.NotFittedError as error:
    ...     print(error)
    This LogisticMeasure is not fitted yet: call its fit method first.
    """


class MissingDependencyError(RelatumError, ImportError):
    """An optional package is needed; the message names the extra that installs it.

    Examples
    --------
    >>> import relatum as rt
    >>> issubclass(rt.errors.MissingDependencyError, ImportError)
    True
    """


class DegenerateWarning(UserWarning):
    """The optimum of a problem says nothing about the data; the message tells the way out.

    Examples
    --------
    >>> import warnings
    >>> import relatum as rt
    >>> warnings.simplefilter("error", rt.errors.DegenerateWarning)  # doctest: +SKIP
    """


class BlockingWarning(UserWarning):
    """Many true pairs were never scored, so that a background says the wrong thing of them.

    Examples
    --------
    >>> import warnings
    >>> import relatum as rt
    >>> warnings.simplefilter("error", rt.errors.BlockingWarning)  # doctest: +SKIP
    """


class CalibrationWarning(UserWarning):
    """What labels say of scores runs away, or too little: the message tells what was done.

    Examples
    --------
    >>> import warnings
    >>> import relatum as rt
    >>> warnings.simplefilter("error", rt.errors.CalibrationWarning)  # doctest: +SKIP
    """
