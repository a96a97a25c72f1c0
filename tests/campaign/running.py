"""Campaigns, case by case: what is counted, what is kept, and how it is told."""

from __future__ import annotations

import time

import numpy as np

from campaign import mutants, problems, tables

CAMPAIGNS = ("problems", "mutants", "tables")
EVERY = 10.0  # seconds between two times that the state is written


def run(name, state, count, time_limit=float("inf"), **options):
    """Run so many more cases of a campaign, or as many as there is time for."""
    begin = saved = time.monotonic()
    pool = []  # of certificates: a mutant may take one for another
    for _ in range(count):
        number = state.done[name]
        rng = np.random.default_rng([state.seed, CAMPAIGNS.index(name), number])
        for failure in _case(name, rng, state.counting(name), pool, options):
            state.note(name, number, failure)
        state.done[name] += 1
        now = time.monotonic()
        if now - saved > EVERY:
            state.save()
            saved = now
        if now - begin > time_limit:
            break
    state.save()


def _case(name, rng, counts, pool, options):
    if name == "problems":
        failure = problems.run(rng, counts, **options)
        return [] if failure is None else [failure]
    return (tables if name == "tables" else mutants).run(rng, counts, pool, **options)


def report(state, most=20):
    """The counts as text, and the first failures."""
    lines = []
    for name, counts in state.counts.items():
        lines.append(f"{name}: {state.done[name]} cases with seed {state.seed}")
        lines += [f"  {counts[key]:>9}  {key}" for key in sorted(counts)]
        lines.append(f"  {counts['failures']:>9}  failures")
    for failure in state.failures[:most]:
        where = f"{failure['campaign']} {failure['number']} of seed {failure['seed']}"
        lines.append(f"{where}: {'; '.join(failure['wrong'])} {failure['words']}")
    return "\n".join(lines)
