"""The build: a wheel holds the compiled kernels and needs no compiler where it is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import build_kernels

ROOT = Path(build_kernels.__file__).parent
README = """
import os, shutil
import numpy as np
import relatum as rt

assert all(shutil.which(name) is None for name in ("cc", "gcc", "clang")), os.environ["PATH"]
scores = np.array([[0, 4, 3, -6], [4, 0, -1, -5], [3, -1, 0, 1], [-6, -5, 1, 0]], float)
problem = rt.Problem(scores, rt.EQUIVALENCES)
e = rt.infer(problem, prove=True)
rt.verify(problem, e)
print(rt.__file__, e.relation.labels.tolist(), e.value, e.status.name)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_a_wheel_holds_every_kernel_of_every_variant_once(wheel):
    assert not wheel.stem.endswith("none-any")
    names = zipfile.ZipFile(wheel).namelist()
    assert len(names) == len(set(names))
    compiled = {name.split(".")[0] for name in names if name.endswith((".so", ".pyd"))}
    modules = {
        path.relative_to(ROOT / "src" / "relatum" / "kernels").with_suffix("").as_posix()
        for path in (ROOT / "src").rglob("*.pyx")
    } | {"_shared"}
    folders = [variant.folder for variant in build_kernels.variants()]
    expected = {
        "/".join(part for part in ("relatum/kernels", folder, module) if part)
        for folder in folders
        for module in modules
    }
    assert compiled == expected
    assert not any(re.search(r"\.(c|o)$|kernels/.*\.html$", name) for name in names)
    pages = {path for path in (ROOT / "src").rglob("*") if path.suffix in {".html", ".css", ".js"}}
    assert {path.relative_to(ROOT / "src").as_posix() for path in pages} <= set(names)


@pytest.mark.parametrize("variant", [*build_kernels.variants()], ids=lambda v: v.folder or "base")
def test_it_solves_where_no_compiler_is_found(wheel, variant, tmp_path):
    site, nothing = tmp_path / "site", tmp_path / "nothing"
    nothing.mkdir()
    zipfile.ZipFile(wheel).extractall(site)
    name = variant.folder.strip("_") or "baseline"
    environment = {"PATH": str(nothing), "PYTHONPATH": str(site), "RELATUM_KERNELS": name}
    done = subprocess.run(
        [sys.executable, "-c", README],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(maxsplit=1) == [
        str(site / "relatum" / "__init__.py"),
        "[0, 0, 0, 1] 12.0 OPTIMAL\n",
    ]


def test_a_missing_compiler_is_taken_from_the_index(monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(os, "name", "posix")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build_kernels.compiler_is_missing()
    assert "ziglang" in build_kernels.announcement()
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    assert not build_kernels.compiler_is_missing()
    assert "ziglang" not in build_kernels.announcement()
    compiler.unlink()
    monkeypatch.setenv("CC", "tcc")  # who names a compiler has one
    assert not build_kernels.compiler_is_missing()


def test_a_kernel_is_translated_again_if_what_it_includes_changed(monkeypatch, tmp_path):
    kernels = ROOT / "src" / "relatum" / "kernels"
    for file in [*kernels.rglob("*.pyx"), *kernels.rglob("*.pxd")]:
        copy = tmp_path / file.relative_to(ROOT / "src")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    monkeypatch.setattr(build_kernels, "SOURCE", tmp_path)

    def words() -> dict[str, str]:
        return {
            path.stem: build_kernels.fingerprint(path, build_kernels.BASELINE)
            for path in tmp_path.rglob("*.pyx")
        }

    def changed_with(name: str) -> set[str]:
        before = words()
        with (tmp_path / "relatum" / "kernels" / name).open("a") as file:
            file.write("# edited\n")
        return {name for name, word in words().items() if word != before[name]}

    assert changed_with("hashing.pxd") == {"inlined", "rules", "wedges", "closing", "greedy"}
    by_way_of_others = {"dense", "anneal", "sparse", "greedy", "kernighan_lin"}
    assert changed_with("partition/rules.pxd") == {"rules", *by_way_of_others}
    assert changed_with("first_order.pyx") == {"first_order"}
    checked = tmp_path / "relatum" / "kernels" / "folding.pyx"
    assert build_kernels.fingerprint(checked, build_kernels.CHECKED) != words()["folding"]


def test_kernels_whose_source_is_gone_are_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(build_kernels, "SOURCE", tmp_path)
    made = tmp_path / "made" / "kept.cpython-311-x86_64-linux-gnu.so"
    made.parent.mkdir()
    made.write_bytes(b"new")
    kernels = tmp_path / "relatum" / "kernels"
    (kernels / "_v3").mkdir(parents=True)
    place = Path("relatum", "kernels", made.name)
    (tmp_path / place).write_bytes(b"old")
    gone, other = kernels / made.name.replace("kept", "gone"), kernels / "_v3" / made.name
    gone.write_bytes(b"")
    other.write_bytes(b"")
    build_kernels.put_in_place({made: place}, [build_kernels.BASELINE])
    assert (tmp_path / place).read_bytes() == b"new"
    assert not gone.exists()
    assert other.exists()  # of a variant that was not built
