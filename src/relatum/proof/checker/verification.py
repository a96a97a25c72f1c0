"""The independent checker: re-proves an estimate without any solver.

`verify` recomputes the value of the relation, its membership in the feasible set and, from
the rows and multipliers of the certificate, the bound. Problems of up to `EXACT_LIMIT`
pairs and row terms are checked in exact integer arithmetic; larger ones in float64 with a
margin that covers rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from relatum.errors import CertificateError
from relatum.problem import Problem
from relatum.proof.arithmetic import Arithmetic, Exact, Rounded, exponent_needed
from relatum.proof.certificate import (
    Branch,
    Certificate,
    Contract,
    Cuts,
    Decompose,
    Fix,
    Imply,
    Leaf,
    Merge,
    Prices,
    Proof,
    SubsetOrder,
)
from relatum.proof.checker.orders import check_best_order, merged_view
from relatum.proof.checker.sets import MARGIN_UNIT, best_by_partners, best_by_prices
from relatum.proof.checker.sparse import AnyView, view_for
from relatum.proof.estimate import Estimate, Status, closes

EXACT_LIMIT = 2_000_000  # log-odds, and thrice the multipliers, up to which bounds are exact


@dataclass(frozen=True)
class Verification:
    """The answer of `verify`; true iff everything the estimate claims was re-proved.

    Attributes
    ----------
    ok : bool
    reason : str
        What was checked, or the first thing that is wrong.
    exact : bool
        Whether the bound was checked in exact arithmetic.
    """

    ok: bool
    reason: str
    exact: bool = True

    def __bool__(self) -> bool:
        return self.ok

    def raise_if_wrong(self) -> None:
        """Raise a `CertificateError` with the reason unless the verification succeeded."""
        if not self.ok:
            raise CertificateError(self.reason)


def verify(problem: Problem, estimate: Estimate) -> Verification:
    """Re-prove an estimate from its certificate, importing no solver.

    Parameters
    ----------
    problem : Problem
    estimate : Estimate

    Returns
    -------
    Verification
        Usable as a truth value; ``.reason`` says what is wrong.
    """
    try:
        _check_relation(problem, estimate)
        _check_claims(estimate)
        exact = True
        if estimate.certificate is not None and estimate.bound != math.inf:
            exact = check_certificate(problem, estimate.certificate)
    except CertificateError as error:
        return Verification(False, str(error))
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        return Verification(False, f"The certificate is malformed: {error}")
    how = "exact arithmetic" if exact else "float64 with a safety margin"
    return Verification(True, f"Value, membership and bound re-proved ({how}).", exact)


def _check_relation(problem: Problem, estimate: Estimate) -> None:
    relation = estimate.relation
    if relation is None:
        if estimate.status in (Status.OPTIMAL, Status.FEASIBLE):
            raise CertificateError(f"The status is {estimate.status.name} without a relation.")
        if estimate.value != -math.inf:
            raise CertificateError(f"The value {estimate.value!r} is claimed without a relation.")
        return
    if relation.shape != problem.shape:
        raise CertificateError(
            f"The relation has shape {relation.shape}, the problem {problem.shape}."
        )
    lacking = problem.feasible.first_violation(relation)
    if lacking is not None:
        raise CertificateError(f"The relation is not feasible: it lacks {lacking}.")
    value = problem.value(relation)
    scale = problem.scores.magnitude() + abs(value)
    if not abs(value - estimate.value) <= 1e-12 * scale + 1e-12:
        raise CertificateError(
            f"The relation's value is {value!r} bits, but {estimate.value!r} is claimed."
        )


def _check_claims(e: Estimate) -> None:
    if math.isnan(e.bound) or (e.certificate is not None and math.isnan(e.certificate.bound)):
        raise CertificateError("The bound is NaN.")
    if e.status is Status.INFEASIBLE:
        if e.relation is not None or e.bound != -math.inf:
            raise CertificateError("An infeasible problem has no relation and the bound -inf.")
    elif e.relation is not None and e.bound < e.value - 1e-9 * max(1.0, abs(e.value)):
        raise CertificateError(f"The bound {e.bound} is below the value {e.value}.")
    if e.status is Status.OPTIMAL and not closes(e.value, e.bound):
        raise CertificateError(f"The status is OPTIMAL with a gap of {e.gap} bits.")
    if e.bound == math.inf:
        return
    if e.certificate is None:
        raise CertificateError("A bound is claimed, but there is no certificate to check.")
    if e.certificate.bound > e.bound:
        raise CertificateError(
            f"The certificate proves {e.certificate.bound!r}, which is weaker than the claimed "
            f"bound {e.bound!r}."
        )


def check_certificate(problem: Problem, certificate: Certificate) -> bool:
    """Check that the certificate proves its bound; return whether arithmetic was exact.

    Raises
    ------
    CertificateError
        With the first statement that does not hold.
    """
    arithmetic = _choose_arithmetic(problem, certificate)
    view = view_for(problem, arithmetic)
    _prove(view, certificate.proof, arithmetic.number(certificate.bound))
    return arithmetic.exact


def _numbers(proof: Proof) -> list[np.ndarray[Any, Any]]:
    """All floats of a proof."""
    out: list[np.ndarray[Any, Any]] = []
    todo: list[Proof] = [proof]
    while todo:
        node = todo.pop()
        match node:
            case Leaf():
                out += [c.multipliers for c in node.cuts]
            case Fix():
                out += [c.multipliers for c in node.cuts]
                todo.append(node.then)
            case Prices():
                out += [c.multipliers for c in node.cuts]
                out.append(np.asarray(node.prices, dtype=np.float64))
                out.append(np.array([MARGIN_UNIT]))  # to write margins down in
            case Branch():
                todo += [node.unrelated, node.related]
            case Decompose():
                out.append(np.array([part[1] for part in node.parts]))
                todo += [part[2] for part in node.parts]
            case Imply() | Contract() | Merge():
                todo.append(node.then)
            case SubsetOrder():
                pass
    return out


def _choose_arithmetic(problem: Problem, certificate: Certificate) -> Arithmetic:
    numbers = _numbers(certificate.proof)
    size = problem.scores.log_odds.size + 3 * sum(v.size for v in numbers)
    if size > EXACT_LIMIT:
        return Rounded()
    values = [problem.scores.log_odds.ravel(), np.array([problem.background])]
    return Exact(max(exponent_needed(np.asarray(v)) for v in [*values, *numbers]))


def _prove(root: AnyView, proof: Proof, claimed: Any) -> None:
    """Check that no relation of the view has a value above the claim."""
    todo: list[tuple[AnyView, Proof, Any]] = [(root, proof, claimed)]
    while todo:
        view, node, claim = todo.pop()
        match node:
            case Leaf():
                _check_leaf(view, node, claim)
            case Branch():
                a, b = view.pair(node.pair)
                todo.append((view.fixing([(a, b)], [False]), node.unrelated, claim))
                todo.append((view.fixing([(a, b)], [True]), node.related, claim))
            case Fix():
                _check_fix(view, node, claim)
                todo.append((view.fixing(node.pairs, node.values), node.then, claim))
            case Imply():
                todo.append((_implied(view, node), node.then, claim))
            case Decompose():
                todo += _check_parts(view, node, claim)
            case Contract():
                todo.append((view.contracted(node.labels), node.then, claim))
            case Prices():
                _check_prices(view, node, claim)
            case Merge():
                todo.append((merged_view(view, node.labels), node.then, claim))
            case SubsetOrder():
                if not view.empty:
                    check_best_order(view, claim)
            case _:
                raise CertificateError(f"Unknown proof node {type(node).__name__}.")


def _say(view: AnyView, number: Any) -> str:
    return f"{view.arithmetic.to_float(number):.9g}"


def _check_leaf(view: AnyView, leaf: Leaf, claim: Any) -> None:
    if view.empty:
        return
    if leaf.infeasible:
        rest = view.residual(leaf.cuts, with_scores=False)
        bound = view.best(rest)
        if not bound < 0:
            raise CertificateError(
                "A leaf said to be infeasible is not proved so: its rows leave "
                f"{_say(view, bound)}, which is not negative."
            )
        return
    rest = view.residual(leaf.cuts)
    bound = view.floor(view.best(rest))
    if not bound <= claim:
        bound = min(bound, view.floor(best_by_partners(view, rest)))
    if not bound <= claim:
        raise CertificateError(
            f"A leaf's rows and multipliers prove {_say(view, bound)}, which is above the claimed "
            f"bound {_say(view, claim)}."
        )


def _check_prices(view: AnyView, node: Prices, claim: Any) -> None:
    bound = view.floor(best_by_prices(view, node.cuts, node.prices))
    if not bound <= claim:
        raise CertificateError(
            f"Prices of elements prove {_say(view, bound)}, which is above the claimed bound "
            f"{_say(view, claim)}."
        )


def _check_fix(view: AnyView, fix: Fix, claim: Any) -> None:
    if view.empty:
        return
    others = view.best_if_not(view.residual(fix.cuts), fix.pairs, fix.values)
    for pair, bound in zip(np.asarray(fix.pairs).tolist(), others, strict=True):
        if not view.floor(bound) <= claim:
            raise CertificateError(
                f"Pair {tuple(pair)} is fixed, but its other value has the bound "
                f"{_say(view, bound)}, above the claimed {_say(view, claim)}."
            )


def _implied(view: AnyView, imply: Imply) -> AnyView:
    """Fix pairs one by one, each because a row leaves no other value."""
    lengths = {len(imply.families), len(imply.rows), len(imply.pairs), len(imply.values)}
    if len(lengths) != 1:
        raise CertificateError("An Imply node lists unequally many rows, pairs and values.")
    view = view.copy()
    for family, row, pair, value in zip(
        imply.families, imply.rows, imply.pairs.tolist(), imply.values.tolist(), strict=True
    ):
        if view.empty:
            break
        cut = Cuts(family, row[row >= 0][None, :], np.ones(1))
        if not view.row_excludes(cut, (pair[0], pair[1]), not value):
            raise CertificateError(
                f"Row {family} {tuple(row[row >= 0].tolist())} does not imply that pair "
                f"{tuple(pair)} is {'related' if value else 'unrelated'}."
            )
        view.fix((pair[0], pair[1]), bool(value))
    return view


def _check_parts(view: AnyView, node: Decompose, claim: Any) -> list[tuple[AnyView, Proof, Any]]:
    if view.empty:
        return []
    parts = [np.asarray(elements, dtype=np.int64) for elements, _, _ in node.parts]
    bounds = [view.arithmetic.number(float(bound)) for _, bound, _ in node.parts]
    total = view.best_between(parts) + view.arithmetic.total(np.array(bounds, dtype=object))
    if not view.floor(total) <= claim:
        raise CertificateError(
            f"The parts' bounds add up to {_say(view, total)}, above the claimed "
            f"{_say(view, claim)}."
        )
    return [
        (view.restricted(elements), part[2], bound)
        for elements, part, bound in zip(parts, node.parts, bounds, strict=True)
    ]
