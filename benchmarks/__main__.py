"""Run benchmarks: all of them, or those named.

``python -m benchmarks`` lists and runs every script of this folder one after the other;
``python -m benchmarks features learning`` runs two. Data come from the folder named by
RELATUM_DATA; what is missing there is skipped, saying so.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    names = sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("_"))
    chosen = sys.argv[1:] or names
    unknown = [n for n in chosen if n not in names]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}; there are: {', '.join(names)}.")
        return 2
    failed = []
    for name in chosen:
        print(f"== {name} ==", flush=True)
        if subprocess.run([sys.executable, str(HERE / f"{name}.py")], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"Failed: {', '.join(failed)}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
