"""The relation of least expected loss, which is again an inference."""

from __future__ import annotations

from typing import Any, Literal

from relatum.errors import ProblemError
from relatum.inference import infer
from relatum.probability.answer import Probabilities
from relatum.problem import Problem, SparseScores, shown
from relatum.proof import Estimate


def decide(
    probabilities: Probabilities, loss: Literal["pairs", "kendall"] = "pairs", **arguments: Any
) -> Estimate:
    """Return the feasible relation of least expected loss.

    The expected number of pairs in which a relation differs from the true one is, up to a
    constant, minus the sum of p - 1/2 over its related pairs; so the best one is found by `infer`
    with these as scores. It is better than the most probable relation where the measure is
    right, and need not be where it is not.

    Parameters
    ----------
    probabilities : Probabilities
    loss : "pairs" or "kendall"
        The number of pairs that differ; or, for orders, the number of pairs in the wrong order,
        half of them if they are tied: scores p_ab - p_ba.
    **arguments
        Passed on to `infer`.

    Returns
    -------
    Estimate
        Its value is in pairs, not in bits: by how much the expected loss is less than that of the
        relation without pairs.

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([2.0, 2.0, -3.5], rt.EQUIVALENCES)
    >>> known = rt.probabilities(problem)
    >>> rt.decide(known).relation.labels.tolist(), rt.infer(problem).relation.labels.tolist()
    ([0, 1, 0], [0, 1, 0])
    """
    if not isinstance(probabilities, Probabilities):
        raise ProblemError(
            f"decide takes what relatum.probabilities returns, got {shown(probabilities)}."
        )
    if not isinstance(loss, str) or loss not in ("pairs", "kendall"):
        raise ProblemError(f'The loss is "pairs" or "kendall", got {shown(loss)}.')
    problem = probabilities.problem
    if loss == "kendall" and not problem.feasible.has("connex"):
        raise ProblemError(
            f'The loss "kendall" is for orders, LINEAR_ORDERS or WEAK_ORDERS, not for '
            f'{problem.feasible.structure}; use "pairs".'
        )
    scores = problem.scores
    if isinstance(scores, SparseScores) and scores.kind == "unordered" and problem.n > 2000:
        # pairs that are not listed: what is left of the probability is not known one by one
        p = probabilities.marginals - 0.5
        return infer(_listed(problem, scores, p), **arguments)
    p = probabilities.matrix()
    wanted = p - p.T if loss == "kendall" else p - 0.5
    return infer(Problem(wanted, problem.feasible), **arguments)


def _listed(problem: Problem, scores: SparseScores, p: Any) -> Problem:
    return Problem.from_pairs(
        scores.i, scores.j, p, n=problem.n, background=-0.5, feasible=problem.feasible
    )
