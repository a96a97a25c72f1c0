"""``python -m tests.campaign [problems|mutants|tables|all] --count N --seed S``: run campaigns."""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # where `campaign` and `naive` are found

from campaign import running
from campaign.state import State

MOST_MEMORY = 8 << 30  # bytes: a mutant that asks for more is refused it, and nothing else suffers


def arguments(given=None):
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("which", nargs="?", choices=(*running.CAMPAIGNS, "all"), default="all")
    parser.add_argument("--count", type=int, default=1000, help="cases, of each campaign")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", metavar="FILE", help="go on from this file, and write to it")
    parser.add_argument("--time-limit", type=float, default=float("inf"), metavar="SECONDS")
    return parser.parse_args(given)


def main(given=None):
    asked = arguments(given)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    state = State(asked.seed, asked.resume)
    end = time.monotonic() + asked.time_limit
    names = running.CAMPAIGNS if asked.which == "all" else (asked.which,)
    for number, name in enumerate(names):
        limit = (end - time.monotonic()) / (len(names) - number)
        running.run(name, state, asked.count, limit)
    print(running.report(state))
    return 1 if any(counts["failures"] for counts in state.counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
