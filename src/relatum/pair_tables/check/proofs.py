"""Parts whose bound needs a proof of its own: each is a bundle, as of any other estimate."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from relatum.array_types import Index
from relatum.errors import CertificateError, RelatumError
from relatum.io import load_estimate, save_estimate
from relatum.problem import Partition, Problem, float_up
from relatum.proof import Certificate, Estimate, Status, verify


def _estimate(problem: Problem, labels: Index, certificate: Certificate) -> Estimate:
    relation = Partition(labels)
    bound = certificate.bound
    return Estimate(
        Status.FEASIBLE, relation, problem.value(relation), bound, certificate, "cluster_pairs"
    )


def write_proof(
    path: Path, problem: Problem, labels: Index, certificate: Certificate
) -> float | None:
    """Write the proof of a part's bound; return the gap it proves, None if it proves nothing.

    Parameters
    ----------
    path : Path
    problem : Problem
        The part alone.
    labels : int64 array (n,)
        Its clusters.
    certificate : Certificate
    """
    value = problem.exact_value(Partition(labels))
    bound = max(certificate.bound, float_up(value))  # a weaker claim has the same proof
    estimate = _estimate(problem, labels, Certificate(bound, certificate.proof))
    if not verify(problem, estimate):
        return None
    save_estimate(path, problem, estimate)
    return float_up(Fraction(bound) - value)


def check_stored(path: Path, problem: Problem, labels: Index, gap: float) -> None:
    """Raise `CertificateError` unless a bundle proves the gap of a part."""
    try:
        certificate = load_estimate(path, problem).certificate
    except RelatumError as error:
        told = str(error).replace(str(path), "it")
        raise CertificateError(f"its proof cannot be read: {told}") from None
    if certificate is None:
        raise CertificateError("its proof is empty")
    answer = verify(problem, _estimate(problem, labels, certificate))
    if not answer:
        raise CertificateError(answer.reason)
    value = problem.exact_value(Partition(labels))
    if Fraction(certificate.bound) > value + Fraction(gap):
        raise CertificateError(
            f"its proof is about the bound {certificate.bound!r}, and its clusters are worth "
            f"{float(value)!r}: that is more than the gap of {gap!r} bits"
        )
