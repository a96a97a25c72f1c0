"""What the line on the screen costs: processor time with it over that without.

    python benchmarks/live_line.py --repeat 3

Each case runs in processes of its own whose stderr is a terminal, with and without
``RELATUM_PROGRESS=0``, in turn. Ratios of the least processor times are printed, and whether the
values are the same.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import subprocess
import sys
from threading import Thread

CASES = {
    "300 clusterings of 8": """
problems = [rt.Problem(rng.normal(size=(8, 8)), rt.EQUIVALENCES) for _ in range(300)]
run = lambda: sum(rt.infer(p).value for p in problems)
""",
    "clustering of 600, search": """
problem = rt.Problem(rng.normal(size=(600, 600)), rt.EQUIVALENCES)
run = lambda: rt.infer(problem, time_limit=60).value
""",
    "order of 32, proof": """
problem = rt.Problem(rng.normal(size=(32, 32)), rt.LINEAR_ORDERS)
run = lambda: rt.infer(problem, prove=True, time_limit=60).value
""",
    "1,500 pairs, 300 components": """
i = np.repeat(np.arange(300), 5) * 6
a, b = i + rng.integers(0, 3, 1500), i + rng.integers(3, 6, 1500)
problem = rt.Problem.from_pairs(a, b, rng.normal(size=1500), n=1800, background=-0.5,
                                feasible=rt.EQUIVALENCES, combine="sum")
run = lambda: rt.infer(problem, prove=True).value
""",
}
FRAME = """
import json, time
import numpy as np, relatum as rt
rng = np.random.default_rng(0)
{case}
rt.infer(rt.Problem([1.0], rt.EQUIVALENCES))
began = time.process_time()
value = run()
print(json.dumps([time.process_time() - began, value]))
"""


def measured(case: str, shown: bool) -> tuple[float, float]:
    """Return the processor seconds and the value of a case, run in a process with a terminal."""
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "RELATUM_PROGRESS": "1" if shown else "0"}
    process = subprocess.Popen(
        [sys.executable, "-c", FRAME.format(case=case)],
        stdout=subprocess.PIPE,
        stderr=slave,
        env=environment,
    )
    os.close(slave)
    Thread(target=_read_all, args=(master,), daemon=True).start()
    seconds, value = json.loads(process.communicate()[0])
    return seconds, value


def _read_all(terminal: int) -> None:
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        os.close(terminal)


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    for name, case in CASES.items():
        runs = [(measured(case, True), measured(case, False)) for _ in range(repeat)]
        with_line, without = (min(run[k][0] for run in runs) for k in (0, 1))
        same = len({run[k][1] for run in runs for k in (0, 1)}) == 1
        print(
            f"{name:32}{with_line:8.2f} s with, {without:8.2f} s without, ratio "
            f"{with_line / without:.3f}, values {'the same' if same else 'DIFFER'}"
        )


if __name__ == "__main__":
    main()
