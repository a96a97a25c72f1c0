"""Cases by number, what came of them, and what is wrong with that."""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from fuzzing import files, learners, models
from fuzzing.functions import FUNCTIONS, is_ours, run

SECONDS = 60  # after which a case counts as one that does not end
MEMORY = "300MB"  # that the library is told there is
SHARE = {"function": 0.35, "learner": 0.25, "model": 0.15, "read": 0.1, "command": 0.15}
CASES = {
    "learner": learners.learn,
    "model": models.model,
    "read": files.read,
    "command": files.command,
}
WRITTEN = ("out", ".out")


@dataclass
class Tally:
    """What came of the cases."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, number: int, name: str, outcome: str, wrong: str = "") -> None:
        """Count a case."""
        self.outcomes[f"{name.split('.')[0] if wrong == '' else 'FAILED'}: {outcome}"] += 1
        if wrong:
            self.failures.append((number, name, wrong))


class EndlessError(BaseException):
    """A case did not end in time."""


@contextmanager
def _limits() -> Iterator[None]:
    """Let a case end in time, tell it of little memory, and turn warnings into errors."""

    def late(number: int, frame: Any) -> None:
        raise EndlessError

    before, told = signal.signal(signal.SIGALRM, late), os.environ.get("RELATUM_MEMORY")
    os.environ["RELATUM_MEMORY"] = MEMORY
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        os.environ.pop("RELATUM_MEMORY")
        if told is not None:
            os.environ["RELATUM_MEMORY"] = told


def case(seed: int, number: int, tally: Tally, kinds: tuple[str, ...] = ()) -> None:
    """Run one case."""
    r = Random(f"{seed}/{number}")
    share = {kind: SHARE[kind] for kind in kinds} if kinds else SHARE
    kind = r.choices(list(share), list(share.values()))[0]
    name = r.choice(sorted(FUNCTIONS)) if kind == "function" else kind
    with TemporaryDirectory(prefix="relatum-fuzz-") as place, chdir(place):  # for odd paths, too
        folder = Path(place)
        try:
            with _limits():
                done = run(name, r, folder) if kind == "function" else CASES[kind](r, folder)
            tally.add(number, kind, done)
        except EndlessError:
            tally.add(number, name, "endless", f"no answer in {SECONDS} seconds")
        except files.Refused:
            _refused(tally, number, kind, name, folder)
        except Exception as error:
            if is_ours(error):
                _refused(tally, number, kind, name, folder)
            else:
                steps = traceback.extract_tb(error.__traceback__)
                ours = [step for step in steps if "/relatum/" in step.filename] or steps
                where = f"{ours[-1].filename.split('/relatum/')[-1]}:{ours[-1].lineno}"
                short = " ".join(str(error).split())[:300]
                wrong = f"{type(error).__name__} at {where}: {short}"
                tally.add(number, name, "untyped", wrong)


def _refused(tally: Tally, number: int, kind: str, name: str, folder: Path) -> None:
    left = _left(folder)
    tally.add(number, name if left else kind, "refused", left)


def _left(folder: Path) -> str:
    """Say what an error left behind; input has other names."""
    left = [name for name in files.listing(folder) if name.startswith(WRITTEN)]
    return f"left behind: {left}" if left else ""


def campaign(seed: int, numbers: Iterable[int], kinds: tuple[str, ...] = ()) -> Tally:
    """Run cases by their numbers, of all kinds or of some."""
    tally = Tally()
    for number in numbers:
        case(seed, number, tally, kinds)
    return tally
