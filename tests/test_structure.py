"""The house: rooms of a size one can look over, imports that go one way, tests for every module."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import grimp
import networkx
import pytest

from relatum.solvers import SOLVERS

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "relatum"
FILES = sorted(
    path for kind in ("py", "pyx", "pxd") for path in SOURCE.rglob(f"[!_]*.{kind}")
)  # of kernels, .pyx are compiled, and what is in .pxd files only is inlined
MODULES = sorted({path.relative_to(SOURCE).with_suffix("") for path in FILES})
KERNELS = [path for path in FILES if path.suffix in (".pyx", ".pxd")]
PACKAGES = sorted(path.parent.relative_to(SOURCE) for path in SOURCE.rglob("__init__.py"))
AT_THE_ROOT, IN_A_ROOM = 10, 14

# Modules of one name in several rooms, besides kernels named like the module that calls them.
NAMESAKES = {
    "branch_and_cut": "every family of exact solvers has one",
    "capped": "bounds and exact solutions of one problem: sets of limited size",
    "clustering": "an estimator, and the experiment of the paper that it serves",
    "components": "a reduction of problems, and the components of a table on each engine",
    "dense": "searches and the checker's views are told apart by how pairs are stored",
    "engine": "DuckDB and Spark: the same steps on two engines",
    "known": "DuckDB and Spark: the same steps on two engines; and what evidence says to bounds",
    "maps": "an estimator, and the experiment of the paper that it serves",
    "metrics": "the module and the command that prints what it computes",
    "node": "what every branch and cut does at a node",
    "orders": "a reduction, a view of the checker, and an experiment of the paper",
    "pairs": "features of pairs, and the experiment of the paper that learns from them",
    "reading": "of text files, and of a table of pairs on each engine",
    "records": "the arrays that the kernels of a room work on",
    "relaxation": "every family of exact solvers has one",
    "rows": "rows of data that a measure learns from, and rows that an order violates",
    "scores": "of a problem, and those that an experiment of the paper learns",
    "sets": "sets with prices: the kernel that finds them, the view that checks them",
    "sparse": "searches and the checker's views are told apart by how pairs are stored",
}


def imported_or_included(path: Path) -> set[str]:
    """Full names of the modules that a kernel imports or, as C does, includes."""
    lines = re.findall(r"^\s*from ([\w.]+) c?import (.+)$", path.read_text("utf-8"), re.M)
    names = [
        f"{package}.{name.strip()}" if package == "relatum.kernels" else package
        for package, listed in lines
        for name in listed.strip("()").split(",")
    ]
    return {*names, *re.findall(r"^\s*c?import ([\w.]+)", path.read_text("utf-8"), re.M)}


def imported(path: Path) -> set[str]:
    """Full names of our modules that a file imports, at its head or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found.add(node.module or "")
    return {name for name in found if name.split(".")[0] == "relatum"}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_has_a_test_file(module):
    folder = ROOT / "tests" / module.parent
    name = module.name.lstrip("_")
    assert (folder / f"test_{name}.py").is_file(), f"tests/{module.parent} lacks test_{name}.py"


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_no_room_is_crowded(package):
    modules = [module for module in MODULES if module.parent == package]
    most = AT_THE_ROOT if package == Path() else IN_A_ROOM
    assert len(modules) <= most, [module.name for module in modules]


def test_names_are_in_one_room_only():
    rooms = defaultdict(list)
    for module in MODULES:
        rooms[module.name].append(module)
    for name, places in rooms.items():
        callers = [place for place in places if place.parts[0] != "kernels"]
        for kernel in (place for place in places if place.parts[0] == "kernels"):
            full = ".".join(["relatum", *kernel.parts])
            called = any(full in imported(SOURCE / f"{caller}.py") for caller in callers)
            assert called or len(places) == 1 or name in NAMESAKES, (name, places)
        assert len(callers) < 2 or name in NAMESAKES, (name, places)


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_every_room_says_what_lives_in_it(package):
    tree = ast.parse((SOURCE / package / "__init__.py").read_text(encoding="utf-8"))
    said = ast.get_docstring(tree) or ""
    sentences = [part for part in said.replace("\n", " ").split(". ") if len(part.split()) > 3]
    assert sentences, f"relatum/{package}/__init__.py says nothing"
    assert said.split("\n", 1)[0].endswith("."), said
    if package != Path():  # the library itself begins with an example
        assert "import" in said.lower(), f"relatum/{package} does not say what it may import"
        assert "Begin" in said, f"relatum/{package} does not say where to begin"


def test_nothing_imports_in_a_circle():
    """No module needs itself by way of others, counting imports inside functions."""
    graph = grimp.build_graph("relatum", cache_dir=None)
    for module in sorted(graph.modules):
        for needed in sorted(graph.find_modules_directly_imported_by(module)):
            # a package names its modules, and they may name what the package stands for
            if module.startswith(f"{needed}.") or needed.startswith(f"{module}."):
                continue
            back = graph.find_shortest_chain(needed, module)
            assert back is None, " -> ".join([module, *back])


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".py"], ids=str)
def test_imports_across_rooms_name_a_package(path):
    """Others may use what a package exports; kernels and engines are imported by module."""
    module = path.relative_to(SOURCE)
    room = module.parts[0] if len(module.parts) > 1 else ""
    for name in imported(path):
        parts = name.split(".")[1:]
        if len(parts) < 2 or parts[0] in (room, "kernels", "lp"):
            continue
        assert (SOURCE / Path(*parts)).is_dir(), (
            f"{module} imports {name}, a module of another room"
        )


def test_kernels_import_other_kernels_only_and_never_in_a_circle():
    graph = networkx.DiGraph()
    for path in KERNELS:
        name = ".".join(["relatum", *path.relative_to(SOURCE).with_suffix("").parts])
        for needed in imported_or_included(path):
            room = needed.split(".")[0]
            allowed = ("cython", "libc", "numpy", "relatum", "time")  # the clock of `watch`
            assert room in allowed, f"{name} imports {needed}"
            if room == "relatum" and needed != name:
                assert needed.startswith("relatum.kernels."), f"{name} imports {needed}"
                graph.add_edge(name, needed)
    assert graph.number_of_edges() > 20  # the imports were found
    assert networkx.is_directed_acyclic_graph(graph), networkx.find_cycle(graph)


def test_kernels_of_the_checker_are_its_own():
    """Compiled modules are not in the graph of imports, so that no contract sees them."""
    own = [path for path in KERNELS if path.parent.name == "checking"]
    assert len(own) > 1
    for path in own:
        needed = {x for x in imported_or_included(path) if x.startswith("relatum")}
        assert all(x.startswith("relatum.kernels.checking") for x in needed), (path, needed)
    for folder in ("pair_tables/check", "proof/checker"):
        for path in (SOURCE / folder).glob("*.py"):
            kernels = {x for x in imported(path) if x.startswith("relatum.kernels")}
            allowed = ("relatum.kernels.checking", "relatum.kernels.watch")
            assert all(x.startswith(allowed) for x in kernels), (path, kernels)


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_every_solver_is_documented(name):
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")]
    assert any(f"`{name}`" in page for page in pages), f"no page of docs/ names `{name}`"
    assert SOLVERS[name].summary.endswith(".")


def test_every_solver_module_registers_itself():
    """A module under solvers/ that calls register() is imported by the package."""
    for path in (SOURCE / "solvers").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "\nregister(" in text:
            names = [line.split('"')[1] for line in text.splitlines() if 'name="' in line]
            assert names, path
            assert set(names) <= set(SOLVERS), f"{path.name} is not imported by relatum.solvers"
