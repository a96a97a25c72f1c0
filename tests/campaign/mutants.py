"""The campaign of mutants: true certificates, tampered with, must prove nothing that is false.

A proof that was changed is given a claim that is false, the largest float below the best value,
or it keeps its own. What the checker accepts is compared with the truth.
"""

from __future__ import annotations

import contextlib
import math
import signal
import warnings
from dataclasses import dataclass, replace

import numpy as np

import relatum as rt
from campaign import mutation, opinions, trees
from campaign.certificates import claim_just_below, random_certificate
from campaign.generation import Case, property_set
from campaign.truth import Meaning, false_claims, rounded
from relatum.proof import Certificate, Estimate, Status
from relatum.proof.checker import sparse

SECONDS = 5  # that a check of a small mutant may take
PER_CERTIFICATE = 40
BUNDLED = 0.03  # the share of mutants that go through a bundle and to the plain checker
POOL = 8  # certificates kept, for others to be taken for them


@dataclass
class Around:
    """What a mutation may want to know of a problem."""

    names: frozenset
    cap: int | None
    n: int
    claim: float


@dataclass
class Mutant:
    case: Case
    estimate: Estimate
    words: str


def problem_of(meaning):
    """The problem that a meaning is the meaning of, as a matrix."""
    feasible = rt.RELATIONS
    for p in meaning.names:
        feasible = feasible & property_set(p)
    if meaning.cap is not None:
        feasible = feasible & rt.at_most(meaning.cap)
    for group in meaning.groups:
        feasible = feasible & rt.one_per_group(group)
    if meaning.related or meaning.unrelated:
        feasible = feasible & rt.evidence(meaning.related, meaning.unrelated)
    return rt.Problem(meaning.weights, feasible)


@contextlib.contextmanager
def sparse_from(elements):
    """Views of clusterings are sparse above so many elements."""
    before = sparse.DENSE_ELEMENTS
    sparse.DENSE_ELEMENTS = elements
    try:
        yield
    finally:
        sparse.DENSE_ELEMENTS = before


class TooLong(BaseException):
    """A check that does not end; no `except Exception` may hide it."""


@contextlib.contextmanager
def limited(seconds):
    """Interrupt what takes longer."""

    def stop(*_):
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --- mutants ------------------------------------------------------------------------------------


def reclaimed(rng, meaning, estimate, proof):
    """An estimate with another proof, and most of the time with a claim that is false."""
    best = meaning.best
    if best is None or rng.random() < 0.2:
        return replace(estimate, certificate=Certificate(estimate.certificate.bound, proof))
    below = claim_just_below(best)
    kind = rng.integers(8)
    claim = {
        0: -math.inf,
        1: below - 1.0,
        2: min(below, rounded(best) - 2.0**-19),
        3: -1.7e308,
    }.get(int(kind), below)
    status = Status.INFEASIBLE if claim == -math.inf and rng.random() < 0.5 else Status.BOUND_ONLY
    return Estimate(status, None, -math.inf, claim, Certificate(claim, proof))


def of_proof(rng, case, estimate, pool):
    """Change the proof once or several times."""
    meaning, proof = case.meaning, estimate.certificate.proof
    bound = estimate.bound
    around = Around(meaning.names, meaning.cap, case.problem.shape[0], bound)
    words = []
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        if rng.random() < 0.25:
            proof, word = mutation.change_tree(rng, proof, around)
        else:
            every = trees.nodes(proof)
            way, node = every[int(rng.integers(len(every)))]
            new, word = mutation.change_node(rng, node, around)
            proof = trees.put(proof, way, new)
        words.append(word)
        if word == "circle" or not trees.well_formed(proof):
            break
    return Mutant(case, reclaimed(rng, meaning, estimate, proof), words[-1])


def of_claims(rng, case, estimate, pool):
    """Change status, value, bound or relation."""
    best, e = case.meaning.best, estimate
    kind = int(rng.integers(10))
    if kind == 0:
        made = replace(e, status=Status[str(rng.choice(list(Status.__members__)))])
    elif kind == 1:
        made = replace(e, value=mutation.number(rng, e.value))
    elif kind == 2:
        made = replace(e, bound=mutation.number(rng, e.bound))
    elif kind == 3:
        bound = mutation.number(rng, e.certificate.bound)
        made = replace(e, bound=bound, certificate=Certificate(bound, e.certificate.proof))
    elif kind == 4 and best is not None:
        below = claim_just_below(best)
        made = reclaimed_only(e, below)
    elif kind == 5:
        made = replace(e, relation=_other_relation(rng, case))
    elif kind == 6:
        relation = _other_relation(rng, case)
        value = rounded(case.meaning.value(relation.matrix()))
        made = replace(e, relation=relation, value=value)
    elif kind == 7:
        n = case.problem.shape[0]
        relation = rt.LinearOrder.trusted(rng.integers(0, n, n))
        value = rounded(case.meaning.value(_tied(relation, case)))
        bound = max(value, e.bound)
        status = Status.FEASIBLE if rng.random() < 0.7 else e.status
        made = replace(e, relation=relation, value=value, bound=bound, status=status)
    elif kind == 8:
        made = replace(e, status=Status.INFEASIBLE, relation=None, value=-math.inf, bound=-math.inf)
    else:
        claim = -math.inf
        made = replace(
            e, status=Status.INFEASIBLE, relation=None, value=-math.inf, bound=claim,
            certificate=Certificate(claim, e.certificate.proof),
        )  # fmt: skip
    return Mutant(case, made, "claims")


def _tied(relation, case):
    """The matrix of ranks that are no linear order; nothing if they are not of this shape."""
    ranks = np.asarray(relation.ranks)
    tied = ranks[:, None] <= ranks[None, :]
    return tied if tied.shape == case.meaning.shape else np.zeros(case.meaning.shape, dtype=bool)


def reclaimed_only(e, claim):
    return Estimate(
        Status.BOUND_ONLY, None, -math.inf, claim, Certificate(claim, e.certificate.proof)
    )


def _other_relation(rng, case):
    every = case.meaning.feasible
    if len(every) and rng.random() < 0.5:
        return rt.Relation(every[int(rng.integers(len(every)))])
    return rt.Relation(rng.random(case.meaning.shape) < 0.5)


def of_problem(rng, case, estimate, pool):
    """Keep the estimate, change the problem."""
    old = case.meaning
    new = Meaning(old.names, old.weights, old.related, old.unrelated, old.cap, old.groups)
    kind = int(rng.integers(7))
    if kind == 0 and old.names:
        new.names = old.names - {str(rng.choice(sorted(old.names)))}
        if old.weights.size > 16:
            new.names = old.names
    elif kind == 1:
        new.related, new.unrelated, new.groups = [], [], []
    elif kind == 2:
        new.cap = None if old.cap is not None else 2
    elif kind == 3:
        c = np.array(old.weights, dtype=np.float64).copy()
        a, b = int(rng.integers(c.shape[0])), int(rng.integers(c.shape[1]))
        c[a, b] = mutation.number(rng, c[a, b])
        new.weights = np.where(np.isfinite(c), c, 0.0)
    elif kind == 4 and old.shape[0] == old.shape[1]:
        new.weights = _permuted(rng, old.weights)
    elif kind == 5:
        new.unrelated = [(int(b), int(a)) for a, b in old.unrelated] if _square(old) else []
    elif pool:
        return _taken_for_another(rng, case, pool)
    try:
        problem = problem_of(new)
    except rt.errors.RelatumError:
        return Mutant(case, estimate, "same problem")
    made = Case(problem, new, case.words)
    return Mutant(made, _fitting(rng, new, estimate), "other problem")


def _square(meaning):
    return meaning.shape[0] == meaning.shape[1]


def _permuted(rng, weights):
    order = rng.permutation(len(weights))
    return weights[np.ix_(order, order)]


def _fitting(rng, meaning, estimate):
    """The estimate as it is, or claiming what its certificate claims and nothing else."""
    if rng.random() < 0.3:
        return estimate
    return reclaimed_only(estimate, estimate.certificate.bound)


def _taken_for_another(rng, case, pool):
    _, estimate = pool[int(rng.integers(len(pool)))]
    if rng.random() < 0.5:
        return Mutant(case, estimate, "other certificate")
    return Mutant(case, reclaimed(rng, case.meaning, estimate, estimate.certificate.proof), "other")


MAKERS = (of_proof, of_proof, of_proof, of_proof, of_claims, of_problem)


def random_mutant(rng, case, estimate, pool):
    make = MAKERS[int(rng.integers(len(MAKERS)))]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # numbers that overflow are what mutants are made of
        return make(rng, case, estimate, pool)


# --- what the checker says of them --------------------------------------------------------------


def judged(mutant, elements, verify):
    """Ask the checker: whether it accepts, and what is wrong with that."""
    try:
        with limited(SECONDS), sparse_from(elements), warnings.catch_warnings():
            warnings.simplefilter("error")  # a checker is not surprised by what it refuses
            report = verify(mutant.case.problem, mutant.estimate)
    except TooLong:
        return False, [f"no answer within {SECONDS} seconds"]
    except Exception as error:  # `verify` answers, whatever it is given
        return False, [f"verify raised {type(error).__name__}: {error}"[:300]]
    wrong = []
    if not report.reason or "\n" in report.reason:
        wrong.append(f"the reason is not one line: {report.reason!r}"[:300])
    if report.ok:
        wrong += [
            f"a false claim is accepted: {w}"
            for w in false_claims(mutant.case.meaning, mutant.estimate)
        ]
    return bool(report.ok), wrong


def second_opinion(mutant, verify, counts):
    """Ask both checkers of a bundle: what they disagree on, and what is accepted and false."""
    try:
        with limited(SECONDS):
            wrong, said = opinions.compared(mutant.case.problem, mutant.estimate, verify, counts)
    except TooLong:
        return [f"no second opinion within {SECONDS} seconds"]
    except Exception as error:  # both answer, whatever they are given
        return [f"a second opinion raised {type(error).__name__}: {error}"[:300]]
    if said == "verified":
        false = false_claims(mutant.case.meaning, mutant.estimate)
        wrong = [*wrong, *(f"the plain checker accepts a false claim: {w}" for w in false)]
    return wrong


def run(rng, counts, pool, verify=None, count=PER_CERTIFICATE, bundled=BUNDLED):
    """One certificate and its mutants: returns the failures."""
    verify = rt.verify if verify is None else verify
    made = random_certificate(rng)
    if made is None:
        return []
    case, estimate = made
    untrue = false_claims(case.meaning, estimate)
    if untrue:
        counts["certificates that are not true"] += 1
        return [_failure(Mutant(case, estimate, "a solver"), untrue, 2000)]
    counts["certificates"] += 1
    kinds = trees.kinds(estimate.certificate.proof)
    for kind in kinds:
        counts[f"of {kind}"] += 1
    failures = []
    report = verify(case.problem, estimate)
    if not report:
        wrong = f"a true certificate is refused: {report.reason}"
        return [_failure(Mutant(case, estimate, "none"), [wrong], 2000)]
    for _ in range(count):
        mutant = random_mutant(rng, case, estimate, pool)
        partitions = case.meaning.names >= {"reflexive", "symmetric", "transitive"}
        sparsely = partitions and rng.random() < 0.4
        elements = int(rng.choice([0, 2, 3])) if sparsely else 2000
        accepted, wrong = judged(mutant, elements, verify)
        _count(counts, mutant, kinds, accepted, sparsely)
        if rng.random() < bundled:
            wrong += second_opinion(mutant, verify, counts)
        if wrong:
            failures.append(_failure(mutant, wrong, elements))
    pool.append((case, estimate))
    del pool[:-POOL]
    return failures


def _count(counts, mutant, kinds, accepted, sparsely):
    counts["mutants"] += 1
    said = "accepted" if accepted else "refused"
    counts[f"{said}"] += 1
    counts[f"{said}, {mutant.words}"] += 1
    for kind in kinds:
        counts[f"{said}, of {kind}"] += 1
    if sparsely:
        counts[f"{said}, sparse view"] += 1


def _failure(mutant, wrong, elements):
    return {
        "wrong": wrong,
        "words": [mutant.words, *mutant.case.words],
        "dense up to": elements,
        "objects": (mutant.case.problem, mutant.case.meaning, mutant.estimate),
    }
