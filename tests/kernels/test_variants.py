"""Variants of the compiled kernels: chosen by the processor or by hand, and equal bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from instances.partitions import free_rules
from relatum.kernels import variants
from relatum.kernels._processor import runs_x86_64_v3
from relatum.kernels.partition.records import new_occupancy
from relatum.kernels.partition.rules import RulesView, SetsView, can_enter

# A search of many floating-point operations, and where its kernels came from.
SEARCH = """
import numpy as np, relatum as rt
from relatum.kernels.partition import dense
x = np.random.default_rng(0).normal(size=(60, 60))
e = rt.infer(rt.Problem(x, rt.EQUIVALENCES), time_limit=600)
order = rt.infer(rt.Problem(x[:18, :18], rt.LINEAR_ORDERS), prove=True, time_limit=600)
print(dense.__file__)
print(e.value.hex(), e.bound.hex(), e.relation.labels.tolist())
print(order.value.hex(), order.bound.hex(), order.relation.order.tolist())
"""


def run(variant: str, code: str = SEARCH) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RELATUM_KERNELS": variant}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )


def test_variants_give_the_same_bits():
    if not (variants.HERE / "_v3").is_dir() or not runs_x86_64_v3():
        pytest.skip("this processor has one variant only")
    (one, *baseline), (other, *v3) = (run(name).stdout.splitlines() for name in ("baseline", "v3"))
    assert "_v3" in other
    assert "_v3" not in one
    assert baseline == v3
    assert len(v3) == 2


def test_the_processor_chooses(monkeypatch):
    monkeypatch.delenv("RELATUM_KERNELS", raising=False)
    best = "v3" if (variants.HERE / "_v3").is_dir() and runs_x86_64_v3() else "baseline"
    assert variants.chosen() == best
    monkeypatch.setenv("RELATUM_KERNELS", "baseline")
    assert variants.searched("order") == [str(variants.HERE / "order")]


@pytest.mark.parametrize(
    ("asked", "said"),
    [("fast", "baseline, v3, checked"), ("checked", "not compiled here")],
)
def test_a_variant_that_is_not_there_is_refused(asked, said, monkeypatch, tmp_path):
    monkeypatch.setenv("RELATUM_KERNELS", asked)
    monkeypatch.setattr(variants, "HERE", tmp_path)
    with pytest.raises(ImportError, match=said):
        variants.chosen()


def test_kernels_that_are_not_compiled_say_how_to_compile_them(monkeypatch):
    monkeypatch.delenv("RELATUM_KERNELS", raising=False)
    monkeypatch.setitem(sys.modules, "relatum.kernels._processor", None)
    with pytest.raises(ImportError, match="pip install -e"):
        variants.chosen()


@pytest.mark.parametrize(("element", "number"), [(-1, 0), (3, 0), (0, -1), (0, 3)])
def test_the_checked_variant_tells_of_every_index_that_is_out_of_bounds(
    element, number, monkeypatch
):
    if variants.chosen() != "checked":
        pytest.skip("only `make check-bounds` runs with the checked variant")
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    rules = free_rules(3)
    sets = SetsView(np.zeros(3, np.int32), np.zeros(3, np.int64), new_occupancy(rules))
    can_enter(RulesView(rules), sets, element, number)
    assert [type(one.exc_value) for one in told] == [IndexError]
