"""What does not fit into memory is refused before it is made."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import relatum as rt
from relatum.errors import DataError, ProblemError
from relatum.problem import memory


def test_amounts():
    assert memory.parse_memory("2GB") == 2 * 10**9
    assert memory.parse_memory(" 1.5 mib ") == 3 << 19
    assert memory.parse_memory(77) == 77
    for wrong in ("2", "GB", "twoGB", "-1GB", "nanGB", "infGB", 0, -5, 2.5, True, None):
        with pytest.raises(DataError, match="a number and a unit"):
            memory.parse_memory(wrong)
    assert memory.as_text(999) == "0.999 KB"
    assert memory.as_text(3 * 10**12) == "3 TB"


def test_the_least_amount_counts(monkeypatch):
    monkeypatch.delenv("RELATUM_MEMORY", raising=False)
    whole = memory.available_memory()
    assert whole is None or whole > 1 << 20
    monkeypatch.setattr(memory, "_left_of_machine", lambda: [300])
    monkeypatch.setattr(memory, "_left_of_group", lambda: [200])
    monkeypatch.setattr(memory, "_left_of_process", lambda: [100])
    assert memory.available_memory() == 100
    monkeypatch.setattr(memory, "_left_of_process", lambda: [-5])
    assert memory.available_memory() == 0
    monkeypatch.setenv("RELATUM_MEMORY", "1KB")
    monkeypatch.setattr(memory, "_left_of_process", list)
    assert memory.available_memory() == 200
    monkeypatch.setattr(memory, "_left_of_group", list)
    monkeypatch.setattr(memory, "_left_of_machine", list)
    assert memory.available_memory() == 1000
    monkeypatch.delenv("RELATUM_MEMORY")
    assert memory.available_memory() is None
    memory.require_memory(1 << 80, "Anything", "never said")  # where nothing tells, all is tried


def test_groups_of_processes_have_limits(monkeypatch, tmp_path):
    limit, used = tmp_path / "max", tmp_path / "current"
    monkeypatch.setattr(memory, "_GROUPS", ((str(limit), str(used)),))
    assert memory._left_of_group() == []
    limit.write_text("max\n")
    used.write_text("10\n")
    assert memory._left_of_group() == []
    limit.write_text("100\n")
    assert memory._left_of_group() == [90]


def test_what_is_refused(monkeypatch):
    monkeypatch.setenv("RELATUM_MEMORY", "1MB")
    memory.require_memory(10**6, "A table", "never said")
    with pytest.raises(
        DataError, match=r"^A table takes 2 MB of memory, and there are 1 MB; go\.$"
    ):
        memory.require_memory(2 * 10**6, "A table", "go", DataError)
    monkeypatch.setenv("RELATUM_MEMORY", "lots")
    with pytest.raises(DataError, match="got 'lots'"):
        memory.require_memory(1, "A table", "go")


LIMITED = """
import resource
import numpy, relatum as rt
problem = rt.Problem.from_pairs([0, 30000], [1, 29999], [1.0, 2.0], feasible=rt.LINEAR_ORDERS)
problem.n, rt.infer  # imports what it takes
left = 1 << 30
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + left, used + left))
try:
    problem.dense()
except rt.errors.ProblemError as error:
    print("refused:", error)
print(problem.restrict(numpy.arange(2000)).dense().shape)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are read as on Linux")
def test_limits_of_the_process_are_seen():
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, env={**os.environ}
    )
    said = done.stdout.splitlines()
    assert said[0].startswith("refused: A matrix of 30001 x 30001 pairs takes 7.2 GB of memory"), (
        done
    )
    assert said[1] == "(2000, 2000)"


@pytest.mark.parametrize(
    "feasible", ["LINEAR_ORDERS", "PREORDERS", "MAPS", "BIJECTIONS", "RELATIONS"]
)
def test_solvers_refuse_what_does_not_fit(monkeypatch, feasible):
    n = 4000
    problem = rt.Problem.from_pairs([0], [1], [1.0], n=n, feasible=getattr(rt, feasible))
    monkeypatch.setenv("RELATUM_MEMORY", "20MB")
    with pytest.raises(ProblemError, match=r"takes .* of memory, and there are 20 MB; ") as caught:
        rt.infer(problem, time_limit=1.0)
    assert "\n" not in str(caught.value)
