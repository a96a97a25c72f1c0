"""``python -m tests.fuzzing --count N --seed S``: run the campaign and print what came of it."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzzing.campaign import SHARE, campaign


def main() -> int:
    """Run the campaign; return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", type=int, help="run the case of this number alone")
    parser.add_argument("--kinds", nargs="*", default=(), choices=sorted(SHARE))
    given = parser.parse_args()
    first, count = (given.first, given.count) if given.only is None else (given.only, 1)
    tally = campaign(given.seed, range(first, first + count), tuple(given.kinds))
    for outcome, number in sorted(tally.outcomes.items()):
        print(f"{number:8} {outcome}")
    alike: Counter[tuple[str, str]] = Counter()
    for number, name, wrong in tally.failures:
        alike[name, wrong[:110]] += 1
        if alike[name, wrong[:110]] <= 2:
            print(f"case {number}, {name}: {wrong}")
    print(f"{count} cases, {len(tally.failures)} failed, in {len(alike)} ways")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
