"""The independent checker: re-proves an estimate without any solver.

`verify` recomputes, exactly, the value of the relation, checks its membership in the feasible
set and computes, from the rows and multipliers of the certificate, the bound. All arithmetic is
that of `numbers`: exact integers, on a grid that depends on the problem alone, at every size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from relatum.array_types import Flags, Index
from relatum.errors import CertificateError, RelatumError
from relatum.live import seen
from relatum.problem import (
    LinearOrder,
    Map,
    PartialMap,
    Partition,
    Problem,
    Relation,
    WeakOrder,
)
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
from relatum.proof.checker.numbers import Grid, scaled
from relatum.proof.checker.orders import check_best_order, merged_view
from relatum.proof.checker.sets import best_by_partners, best_by_prices
from relatum.proof.checker.sparse import AnyView, SparseView, view_for
from relatum.proof.checker.view import Bound, Effort, truth_values, whole_numbers
from relatum.proof.estimate import OPTIMAL_GAP, Estimate, Status

# What fields that are not what they should be raise.
MALFORMED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
KINDS: tuple[type[Relation], ...] = (Relation, Map, PartialMap, Partition, LinearOrder, WeakOrder)
MOST_HELD = 1 << 32  # bytes of fixed pairs that are held while a deep proof is checked


@dataclass(frozen=True)
class Verification:
    """The answer of `verify`; true iff everything the estimate claims was re-proved.

    Attributes
    ----------
    ok : bool
    reason : str
        What was checked, or the first thing that is wrong.
    exact : bool
        Whether all log-odds are on the checker's grid. Where some are finer, they are rounded up,
        by less than the 2**-89th part of all together each, and the bound holds all the same.

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> answer = rt.verify(problem, rt.infer(problem, prove=True))
    >>> bool(answer), answer.reason
    (True, 'Value, membership and bound re-proved (exact arithmetic).')
    >>> answer.raise_if_wrong()
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


@seen("checking")
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

    Examples
    --------
    >>> from dataclasses import replace
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> e = rt.infer(problem, prove=True)
    >>> bool(rt.verify(problem, e))
    True
    >>> wrong = rt.verify(problem, replace(e, value=7.0))    # somebody says that it is better
    >>> bool(wrong), wrong.reason
    (False, "The relation's value is 6.0 bits, but 7.0 is claimed.")
    """
    try:
        value = _check_relation(problem, estimate)
        claim = _check_claims(estimate, value)
        exact = True
        if estimate.certificate is not None and claim is not None:
            exact = check_proof(problem, estimate.certificate.proof, claim)
    except CertificateError as error:
        return Verification(False, str(error))
    except MALFORMED as error:
        told = (str(error).splitlines() or [type(error).__name__])[0]
        return Verification(False, f"The certificate is malformed: {told}")
    how = "exact arithmetic" if exact else "exact arithmetic, on log-odds rounded up to a grid"
    return Verification(True, f"Value, membership and bound re-proved ({how}).", exact)


def _check_relation(problem: Problem, estimate: Estimate) -> Fraction | None:
    """Return the exact value of the relation, if there is one, and refuse another value."""
    relation = estimate.relation
    if not isinstance(estimate.status, Status):
        raise CertificateError(f"The status is one of Status, got {estimate.status!r}.")
    if relation is None:
        if estimate.status in (Status.OPTIMAL, Status.FEASIBLE):
            raise CertificateError(f"The status is {estimate.status.name} without a relation.")
        if estimate.value != -math.inf:
            raise CertificateError(f"The value {estimate.value!r} is claimed without a relation.")
        return None
    relation = _made_again(relation)
    if relation.shape != problem.shape:
        raise CertificateError(
            f"The relation has shape {relation.shape}, the problem {problem.shape}."
        )
    lacking = problem.feasible.first_violation(relation)
    if lacking is not None:
        raise CertificateError(f"The relation is not feasible: it lacks {lacking}.")
    value = problem.exact_value(relation)
    if estimate.value != float(value):
        raise CertificateError(
            f"The relation's value is {float(value)!r} bits, but {estimate.value!r} is claimed."
        )
    return value


def _made_again(relation: Relation) -> Relation:
    """Return a relation from what it is made of, refusing what is not of the kind it says."""
    kind = type(relation)
    if kind not in KINDS:
        raise CertificateError(f"A relation is of a kind of relatum's, got {kind.__name__}.")
    try:
        arguments = relation.__reduce__()[1]
        return kind(*arguments)
    except RelatumError as error:
        raise CertificateError(f"The relation is not what it says: {error}") from None


def _check_claims(e: Estimate, value: Fraction | None) -> float | Fraction | None:
    """Return the bound that is left to be proved, -inf if that nothing is feasible; None if none.

    An estimate that says OPTIMAL is held to `OPTIMAL_GAP` above the exact value.
    """
    if math.isnan(e.bound) or (e.certificate is not None and math.isnan(e.certificate.bound)):
        raise CertificateError("The bound is NaN.")
    if e.status is Status.INFEASIBLE:
        if e.relation is not None or e.bound != -math.inf:
            raise CertificateError("An infeasible problem has no relation and the bound -inf.")
    elif e.bound == -math.inf:
        raise CertificateError(f"The bound is -inf, but the status is {e.status.name}.")
    elif value is not None and e.bound < value:
        raise CertificateError(f"The bound {e.bound!r} is below the value {float(value)!r}.")
    if e.bound == math.inf and e.status is not Status.OPTIMAL:
        return None
    if e.certificate is None:
        raise CertificateError("A bound is claimed, but there is no certificate to check.")
    if e.certificate.bound > e.bound:
        raise CertificateError(
            f"The certificate proves {e.certificate.bound!r}, which is weaker than the claimed "
            f"bound {e.bound!r}."
        )
    if e.status is not Status.OPTIMAL:
        return e.certificate.bound
    assert value is not None  # `_check_relation` saw to it
    highest = value + Fraction(OPTIMAL_GAP)
    # the float nearest above may be farther than the gap, where values are large
    if e.bound > max(highest, Fraction(math.nextafter(float(value), math.inf))):
        raise CertificateError(f"The status is OPTIMAL with a gap of {e.bound - e.value} bits.")
    return min(highest, Fraction(e.certificate.bound))


def check_certificate(problem: Problem, certificate: Certificate) -> bool:
    """Check that the certificate proves its bound; return whether all log-odds are on the grid.

    Raises
    ------
    CertificateError
        With the first statement that does not hold.
    """
    return check_proof(problem, certificate.proof, certificate.bound)


def check_proof(problem: Problem, proof: Proof, claim: float | Fraction) -> bool:
    """Check that no feasible relation has a value above the claim; if it is -inf, that none exists.

    Raises
    ------
    CertificateError
        With the first statement that does not hold.
    """
    grid = Grid.of(problem)
    view = view_for(problem, grid)
    _prove(view, proof, _claim(grid, claim))
    return _on_grid(problem, grid)


def _on_grid(problem: Problem, grid: Grid) -> bool:
    """Say whether no log-odds had to be rounded."""
    given = (np.asarray(problem.log_odds), np.array([problem.background]))
    return all(scaled(values, grid.shift, True)[1] for values in given)


def _claim(grid: Grid, bound: float | Fraction) -> Bound:
    """Return a claim on the grid; None: that nothing is feasible."""
    if isinstance(bound, Fraction) or math.isfinite(bound):
        return grid.claim(bound)
    if bound == -math.inf:
        return None
    raise CertificateError(f"A bound that is claimed is a number or -inf, got {bound!r}.")


Step = tuple[AnyView, Proof, Bound]  # a view, the proof about it, and what it claims


def _prove(root: AnyView, proof: Proof, claimed: Bound) -> None:
    """Check that no relation of the view has a value above the claim; None: that there is none."""
    effort = Effort()
    first: Step = (root, proof, claimed)
    todo: list[tuple[int, Iterator[Step]]] = [(0, iter([first]))]
    seen: set[int] = set()
    held = 0  # by the views between the root and where we are
    while todo:
        step = next(todo[-1][1], None)
        if step is None:
            held -= todo.pop()[0]
            continue
        view, node, claim = step
        if not isinstance(node, Leaf | Prices | SubsetOrder):
            # a tree: the time to check it is bounded by its size
            if id(node) in seen:
                raise CertificateError(f"A proof is a tree, but a {type(node).__name__} is shared.")
            seen.add(id(node))
        held += view.size
        if held > MOST_HELD:
            raise CertificateError(f"A proof that is {len(todo)} nodes deep is too deep to hold.")
        todo.append((view.size, _steps(view, node, claim, effort)))


def _steps(view: AnyView, node: Proof, claim: Bound, effort: Effort) -> Iterator[Step]:
    """Check one statement, and yield those that it rests on, one at a time."""
    match node:
        case Leaf():
            _check_leaf(view, node, claim)
        case Branch():
            pair = view.pair(node.pair)
            yield view.fixing([pair], [False]), node.unrelated, claim
            yield view.fixing([pair], [True]), node.related, claim
        case Fix():
            pairs = whole_numbers(node.pairs, "Pairs").reshape(-1, 2)
            values = truth_values(node.values, "Values of pairs")
            _check_fix(view, node.cuts, pairs, values, claim)
            yield view.fixing(pairs.tolist(), values.tolist()), node.then, claim
        case Imply():
            yield _implied(view, node), node.then, claim
        case Decompose():
            yield from _check_parts(view, node, claim)
        case Contract():
            yield view.contracted(node.labels), node.then, claim
        case Prices():
            bound = best_by_prices(view, node.cuts, node.prices, effort)
            _require(view, bound, claim, "Prices prove")
        case Merge():
            yield merged_view(view, node.labels), node.then, claim
        case SubsetOrder():
            _check_order(view, claim, effort)
        case _:
            raise CertificateError(f"Unknown proof node {type(node).__name__}.")


def _say(view: AnyView, number: Bound) -> str:
    return "that nothing is feasible" if number is None else f"{view.grid.bits(number):.9g}"


def _met(view: AnyView, bound: Bound, claim: Bound) -> bool:
    """Say whether a bound, rounded down to a possible value, is at most what is claimed."""
    if bound is None:
        return True
    low = view.floor(bound)
    return claim is not None and low is not None and low <= claim


def _require(view: AnyView, bound: Bound, claim: Bound, what: str) -> None:
    if not _met(view, bound, claim):
        raise CertificateError(
            f"{what} {_say(view, bound)}, which is above the claimed bound {_say(view, claim)}."
        )


def _check_order(view: AnyView, claim: Bound, effort: Effort) -> None:
    if view.empty:
        return
    if claim is None:
        raise CertificateError("Ordering outright proves bounds, not that nothing is feasible.")
    check_best_order(view, claim, effort)


def _check_leaf(view: AnyView, leaf: Leaf, claim: Bound) -> None:
    if view.empty:
        return
    if leaf.infeasible:
        bound = view.best_of_rows(view.residual_of_rows(leaf.cuts))
        if bound is not None and bound >= 0:
            raise CertificateError(
                "A leaf said to be infeasible is not proved so: what its rows leave is not "
                "negative."
            )
        return
    rest = view.residual(leaf.cuts)
    bound = view.best(rest)
    if _met(view, bound, claim):
        return
    partners = best_by_partners(view, rest)
    if not isinstance(partners, float) and _met(view, partners, claim):
        return
    _require(view, bound, claim, "A leaf's rows and multipliers prove")


def _check_fix(
    view: AnyView, cuts: Sequence[Cuts], pairs: Index, values: Flags, claim: Bound
) -> None:
    if len(pairs) != len(values):
        raise CertificateError("A Fix node lists unequally many pairs and values.")
    if view.empty:
        return
    others = view.best_if_not(view.residual(cuts), pairs, values)
    for pair, bound in zip(pairs.tolist(), others, strict=True):
        _require(view, bound, claim, f"Pair {tuple(pair)} is fixed, but its other value leaves")


def _implied(view: AnyView, imply: Imply) -> AnyView:
    """Fix pairs one by one, each because a row leaves no other value."""
    rows = whole_numbers(imply.rows, "Indices of rows")
    pairs = whole_numbers(imply.pairs, "Pairs").reshape(-1, 2).tolist()
    values = truth_values(imply.values, "Values of pairs").tolist()
    if len({len(imply.families), len(rows), len(pairs), len(values)}) != 1:
        raise CertificateError("An Imply node lists unequally many rows, pairs and values.")
    view = view.copy()
    for family, row, pair, value in zip(imply.families, rows, pairs, values, strict=True):
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


def _check_parts(view: AnyView, node: Decompose, claim: Bound) -> Iterator[Step]:
    """Check that parts and what is between them add up to the claim; yield what they rest on."""
    if view.empty:
        return
    parts = [whole_numbers(elements, "Elements").reshape(-1) for elements, _, _ in node.parts]
    claims = [_claim(view.grid, float(bound)) for _, bound, _ in node.parts]
    total: Bound = view.best_between(parts)
    for part in claims:  # one part of which nothing is feasible is enough
        total = None if total is None or part is None else total + part
    _require(view, total, claim, "The parts' bounds add up to")
    proofs = [proof for _, _, proof in node.parts]
    rest = list(range(len(parts)))
    plain = view.bests_within(parts) if isinstance(view, SparseView) else None
    if plain is not None:
        rest = [
            k
            for k, (proof, limit) in enumerate(zip(proofs, claims, strict=True))
            if limit is None or plain[k] > limit or not _is_plain(proof)
        ]
    for k, part_view in zip(rest, view.divided([parts[k] for k in rest]), strict=True):
        yield part_view, proofs[k], claims[k]


def _is_plain(proof: Any) -> bool:
    """Say whether a proof is that every pair on its own is worth no more."""
    return isinstance(proof, Leaf) and not proof.cuts and not proof.infeasible
