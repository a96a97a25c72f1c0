"""The campaign of problems: random small problems, random solvers, and every claim checked."""

from __future__ import annotations

import relatum as rt
from campaign import opinions
from campaign.generation import random_case
from campaign.truth import GAP, false_claims
from relatum.errors import SolverError
from relatum.solvers import SOLVERS

BUNDLED = 0.05  # the share of estimates that go through a bundle and to the plain checker
LIMITS = (0.001, 0.05, 0.5, 2.0, 10.0)


def random_arguments(rng, case):
    """What `infer` is called with."""
    accepted = [s.name for s in SOLVERS.values() if s.refuses(case.problem) is None]
    accepted = [name for name in accepted if name != "branch_and_cut_scip" or _has_scip()]
    solver = str(rng.choice([*accepted, "auto", "auto"]))
    arguments = {
        "solver": solver,
        "prove": bool(rng.random() < 0.5),
        "time_limit": float(rng.choice(LIMITS)),
        "seed": int(rng.integers(3)),
    }
    feasible = case.meaning.feasible
    if len(feasible) and rng.random() < 0.2:
        arguments["start"] = rt.Relation(feasible[int(rng.integers(len(feasible)))])
    return arguments


def _has_scip():
    import importlib.util

    return importlib.util.find_spec("pyscipopt") is not None


def complaints(case, arguments, estimate):
    """Say what is wrong with an answer, or with what the checker says of it."""
    meaning = case.meaning
    wrong = false_claims(meaning, estimate)
    if meaning.best is None and estimate.relation is not None:
        wrong.append("nothing is feasible, but a relation was found")
    solver = SOLVERS.get(estimate.solver)
    patient = arguments["time_limit"] >= 10.0 and solver is not None and solver.proves
    if patient and meaning.best is None and estimate.status.name != "INFEASIBLE":
        wrong.append(f"nothing is feasible, but the status is {estimate.status.name}")
    if patient and meaning.best is not None and estimate.relation is None:
        wrong.append("no relation was found")
    start = arguments.get("start")
    found = None if estimate.relation is None else meaning.value(estimate.relation.matrix())
    if start is not None and (found is None or found < meaning.value(start.matrix())):
        wrong.append("worse than the start")
    report = rt.verify(case.problem, estimate)
    if not report:
        wrong.append(f"a true certificate is refused: {report.reason}")
    return wrong


def run(rng, counts, bundled=BUNDLED):
    """One case: returns what is needed to tell a failure again, or None."""
    case = random_case(rng)
    arguments = random_arguments(rng, case)
    counts["problems"] += 1
    for word in case.words:
        counts[f"of {word}"] += 1
    try:
        estimate = rt.infer(case.problem, **arguments)
    except SolverError as error:
        if "No solver accepts" in str(error):
            counts["no solver accepts"] += 1
            return None
        return _failure(case, arguments, None, [f"raised {error!r}"])
    except Exception as error:  # whatever it is, it is to be told
        return _failure(case, arguments, None, [f"raised {error!r}"])
    counts[f"status {estimate.status.name}"] += 1
    counts[f"solver {estimate.solver}"] += 1
    wrong = complaints(case, arguments, estimate)
    if rng.random() < bundled:
        differ, said = opinions.compared(case.problem, estimate, rt.verify, counts)
        wrong += differ
        if said == "refused":
            wrong.append("the plain checker refuses a true certificate")
    if not wrong and estimate.status.name == "FEASIBLE" and case.meaning.best is not None:
        gap = case.meaning.best - case.meaning.value(estimate.relation.matrix())
        counts["FEASIBLE, and best" if gap <= GAP else "FEASIBLE, not best"] += 1
    return _failure(case, arguments, estimate, wrong) if wrong else None


def _failure(case, arguments, estimate, wrong):
    said = {k: repr(v) for k, v in arguments.items()}
    return {
        "wrong": wrong,
        "words": list(case.words),
        "arguments": said,
        "objects": (case.problem, case.meaning, estimate),
    }
