"""The second opinion: a bundle on disk, read back for the checker, and read by the plain one."""

from __future__ import annotations

import functools
import operator
import re
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np

import relatum as rt
from relatum.errors import DataError
from relatum.proof import plain
from relatum.proof.checker.numbers import Grid

COUNTED = 62  # bits of numbers whose greatest common divisor the checker looks for


def rounds(problem):
    """Whether the checker rounds log-odds, or does not look for the divisor of so large numbers."""
    shift = Grid.of(problem).shift
    given = [*np.ravel(problem.log_odds).tolist(), problem.background]
    exact = [Fraction(value) * Fraction(2) ** shift for value in given]
    if any(value.denominator > 1 for value in exact):
        return True
    every = functools.reduce(operator.or_, (abs(int(value)) for value in exact))
    spread = every.bit_length() - (every & -every).bit_length()
    return spread > COUNTED - 4  # sums of a few of them may be larger


def both(problem, estimate, verify):
    """What the checker and the plain one say of a bundle: two answers, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "estimate.npz"
        try:
            rt.io.save_estimate(path, problem, estimate)
        except DataError:
            return "cannot be written", None, None
        except Exception as error:  # a mutant that is no certificate at all
            return f"writing raised {type(error).__name__}", None, None
        code, reason = plain.check(str(path))
        second = (("verified", "refused", "not checked")[code], reason)
        try:
            report = verify(problem, rt.io.load_estimate(path, problem))
            first = ("verified" if report.ok else "refused", report.reason)
        except DataError as error:
            first = ("refused", f"not loaded: {error}")
    return "compared", first, second


def compared(problem, estimate, verify, counts):
    """Compare two opinions: what is wrong with them, and what the plain checker says.

    The checker may refuse what the plain one proves: it rounds, bounds its numbers and takes only
    rows and labels of one form. That is counted, with the reason. What it accepts, the plain one
    accepts, too, unless that is too large for it.
    """
    how, first, second = both(problem, estimate, verify)
    if how != "compared":
        counts[f"bundle {how}"] += 1
        return [], None
    counts[f"plain {second[0]}"] += 1
    for said, reason in (first, second):
        if "\n" in reason:
            return [f"a reason of several lines, {said}: {reason!r}"], second[0]
    if first[0] == second[0] or second[0] == "not checked":
        return [], second[0]
    if first[0] == "refused":
        why = "rounding" if rounds(problem) else re.sub(r"[^a-z ]", "", first[1].lower())[:40]
        counts[f"plain verified, the checker refused: {why}"] += 1
        return [], second[0]
    wrong = f"the checker: {first[0]} ({first[1]}), the plain one: {second[0]} ({second[1]})"
    return [wrong], second[0]
