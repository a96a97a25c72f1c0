"""Which evidence conflicts: a small subset of it, and a sentence about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from relatum.array_types import Index
from relatum.problem import Evidence, FeasibleSet, Problem
from relatum.proof.certificate import Certificate, Leaf, Proof
from relatum.proof.propagation import FAMILY_CODES, Closure, Propagator

NameOf = Callable[[int, Literal["A", "B"]], Any]


@dataclass(frozen=True, eq=False)
class Conflict:
    """Evidence that, with the properties, leaves no relation."""

    evidence: Evidence  # the conflicting part; no pair of it is superfluous to the argument
    message: str
    certificate: Certificate


def find_conflict(problem: Problem, expired: Callable[[], bool] = lambda: False) -> Conflict | None:
    """Look for evidence that contradicts the properties by step-by-step reasoning.

    Returns None if reasoning finds nothing; the problem may be infeasible all the same. If time
    is up, some of the evidence named may be superfluous.
    """
    feasible = problem.feasible
    closure = _closure(feasible, problem.evidence, problem.shape)
    if closure.conflict is None:
        return None
    evidence, families = _trace(closure, problem.evidence)
    evidence = smallest(
        evidence,
        lambda less: _closure(feasible, less, problem.shape).conflict is not None,
        expired,
    )
    families |= _fixing(feasible, closure, evidence)
    message = sentence_of(feasible, evidence, families, problem.name_of)
    proof: Proof = Leaf(infeasible=True)
    if not problem.contradicts_itself:
        proof = Propagator(feasible).close_all(problem.state).proof(proof)
    return Conflict(evidence, message, Certificate(-np.inf, proof))


def _closure(feasible: FeasibleSet, evidence: Evidence, shape: tuple[int, int]) -> Closure:
    """Close evidence step by step, so that a pair given both ways shows as a conflict."""
    state = np.full(shape, -1, dtype=np.int8)
    for p in feasible.complete.properties:
        if not isinstance(p, Evidence):
            yes, no = p.fixed(shape)
            state[yes[:, 0], yes[:, 1]] = 1
            state[no[:, 0], no[:, 1]] = 0
    propagator = Propagator(feasible)
    closure = propagator.close_all(state)
    if closure.conflict is not None:
        return closure
    pairs = np.concatenate([evidence.related, evidence.unrelated])
    values = np.repeat([1, 0], [len(evidence.related), len(evidence.unrelated)])
    given = propagator.close(closure.state, pairs, values)
    # keep the earlier lines: reasons are traced through them
    return Closure(given.state, np.concatenate([closure.log, given.log]), given.conflict)


def _antecedents(line: Index, shape: tuple[int, int]) -> list[tuple[int, int]]:
    """Index of the row named in a log line."""
    family, i, j, k = (int(v) for v in line[3:7])
    name = FAMILY_CODES[family] if family >= 0 else ""
    if name == "transitive":
        return [(i, j), (j, k), (i, k)]
    if name in ("symmetric", "antisymmetric", "connex"):
        return [(i, j), (j, i)]
    if name in ("has_image", "at_most"):
        return [(i, b) for b in range(shape[1])]
    if name in ("has_preimage", "unique_preimage"):
        return [(a, i) for a in range(shape[0])]
    return []


def _trace(closure: Closure, evidence: Evidence) -> tuple[Evidence, set[str]]:
    """Evidence from which the conflict follows, and the families of rows used on the way."""
    shape = (closure.state.shape[0], closure.state.shape[1])
    first: dict[tuple[int, int], int] = {}
    for number, line in enumerate(closure.log.tolist()):
        first.setdefault((line[0], line[1]), number)
    assert closure.conflict is not None
    end = len(closure.log)
    todo = [(end, closure.conflict)]
    here = (int(closure.conflict[0]), int(closure.conflict[1]))
    used: set[tuple[int, int, int]] = set()
    families: set[str] = set()
    seen: set[int] = set()
    if closure.conflict[3] < 0:
        used.add((here[0], here[1], int(closure.conflict[2])))
    if here in first:
        todo.append((first[here], closure.log[first[here]]))
    while todo:
        number, line = todo.pop()
        if number in seen:
            continue
        seen.add(number)
        if line[3] < 0:
            used.add((int(line[0]), int(line[1]), int(line[2])))
            continue
        families.add(FAMILY_CODES[int(line[3])])
        for pair in _antecedents(line, shape):
            k = first.get(pair)
            if k is not None and k < number:
                todo.append((k, closure.log[k]))
    facts = [f for f in evidence.facts() if (f[0], f[1], int(f[2])) in used]
    return Evidence.of_facts(facts), families


def _fixing(feasible: FeasibleSet, closure: Closure, evidence: Evidence) -> set[str]:
    """Properties that fix a pair outright and that the conflict runs into."""
    assert closure.conflict is not None
    facts = evidence.facts()
    names = set()
    shape = (closure.state.shape[0], closure.state.shape[1])
    for p in feasible.complete.properties:
        if isinstance(p, Evidence):
            continue
        yes, no = (set(map(tuple, pairs.tolist())) for pairs in p.fixed(shape))
        if any((a, b) in (no if value else yes) for a, b, value in facts):
            names.add(p.name)
        here = (int(closure.conflict[0]), int(closure.conflict[1]))
        if here in yes | no:
            names.add(p.name)
    return names


def smallest(
    evidence: Evidence,
    conflicts: Callable[[Evidence], bool],
    expired: Callable[[], bool] = lambda: False,
) -> Evidence:
    """Drop facts one by one while the rest still conflicts, and there is time."""
    facts = evidence.facts()
    for fact in list(facts):
        if expired():
            break
        less = [f for f in facts if f != fact]
        if conflicts(Evidence.of_facts(less)):
            facts = less
    return Evidence.of_facts(facts)


def _symbol(feasible: FeasibleSet) -> str:
    if feasible.has("symmetric"):
        return "~"
    if feasible.has("transitive"):
        return "<="
    return "->"


def _listed(items: list[str]) -> str:
    shown = items if len(items) <= 8 else [*items[:7], f"{len(items) - 7} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def sentence_of(
    feasible: FeasibleSet, evidence: Evidence, families: set[str], name_of: NameOf
) -> str:
    """Say in one sentence what contradicts what.

    `families` names the properties that the argument uses; `name_of` is `Problem.name_of`.
    """
    symbol = _symbol(feasible)

    def named(pairs: Index) -> list[str]:
        return [f"{name_of(a, 'A')}{symbol}{name_of(b, 'B')}" for a, b in pairs.tolist()]

    yes, no = named(evidence.related), named(evidence.unrelated)
    if yes == no and yes:
        return f"No relation is feasible: {_listed(yes)} is both given and forbidden."
    properties = [p for p in feasible.complete.properties if p.name in families]
    because = [p.sentence for p in sorted(properties, key=str)]
    if not (yes or no):
        return f"No relation between sets of these sizes {_listed(because)}."
    parts = [f"{_listed(yes)} given"] if yes else []
    parts += [f"{_listed(no)} forbidden"] if no else []
    parts += [f"and the relation {_listed(because)}"] if because else []
    return f"No relation is feasible: {', '.join(parts)}."
