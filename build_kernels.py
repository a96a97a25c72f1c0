"""Compile the kernels ahead of time: `python build_kernels.py` builds what changed, in place.

Cython translates every ``.pyx`` below ``src/relatum/kernels`` to C, a C compiler makes extension
modules of it, both in parallel. There are three variants of the same modules:

- baseline: runs on every processor of its kind, beside the sources;
- ``_v3``: for x86-64 processors with AVX2 and the like (x86-64-v3), in a folder of its own;
- ``_checked``: indices, None and uninitialised arrays are checked; for the tests, never shipped.

``relatum.kernels.variants`` says which of them a process imports. The build hook of the wheel
(``hatch_build.py``) calls `build`, too.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent
SOURCE = ROOT / "src"
KERNELS = "relatum.kernels"
SHARED = f"{KERNELS}._shared"  # Cython's own code for arrays, once instead of in every module
WORK = ROOT / "build" / "kernels"

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "nonecheck": False,
    "cdivision": True,
}
CHECKS = {
    "boundscheck": True,
    "initializedcheck": True,
    "nonecheck": True,
    "show_performance_hints": False,  # to check no bounds
}


class Variant(NamedTuple):
    """One way to compile the kernels."""

    folder: str  # below the kernels; "" for beside the sources
    directives: dict[str, Any]
    flags: tuple[str, ...]  # of gcc, clang and zig
    msvc: tuple[str, ...]


# Products and sums are never fused and never reordered: the same bits on every processor.
EXACT = ("-O3", "-ffp-contract=off", "-fno-math-errno", "-g0", "-w")
BASELINE = Variant("", DIRECTIVES, EXACT, ("/O2", "/fp:precise"))
# x86-64-v3 by its parts: compilers spell the name differently, and old ones do not know it. Without
# fused multiplication and addition, which gcc writes for some loops whatever it is told.
WIDE = ("-mavx2", "-mbmi", "-mbmi2", "-mf16c", "-mlzcnt", "-mmovbe", "-mpopcnt")
V3 = Variant("_v3", DIRECTIVES, (*EXACT, *WIDE), ("/O2", "/fp:precise", "/arch:AVX2"))
CHECKED = Variant(
    "_checked",
    DIRECTIVES | CHECKS,
    ("-O1", "-ffp-contract=off", "-g0", "-w"),
    ("/O1", "/fp:precise"),
)


def variants() -> list[Variant]:
    """Return the variants that are shipped for this machine."""
    x86 = platform.machine().lower() in {"x86_64", "amd64"} and sys.maxsize > 2**32
    return [BASELINE, V3] if x86 and "arm64" not in os.environ.get("ARCHFLAGS", "") else [BASELINE]


def compiler_is_missing() -> bool:
    """Whether there is neither a C compiler nor a setting that names one."""
    if "CC" in os.environ or os.name == "nt":  # setuptools finds Microsoft's by itself
        return False
    return all(shutil.which(name) is None for name in ("cc", "gcc", "clang"))


def announcement() -> str:
    """Return what is said before pip builds: by itself it says nothing for a minute."""
    if compiler_is_missing():
        return "No C compiler (cc) found: taking one from the package index (ziglang)."
    return "Installing, and compiling the kernels: this takes a minute or two, once."


def use_compiler_of_the_index() -> None:
    """Compile with the package ``ziglang``, a C compiler that pip can install."""
    compiler = f'"{sys.executable}" -m ziglang cc'
    os.environ.update(CC=compiler, LDSHARED=f"{compiler} -shared", AR="true", STRIP="true")


def _modules() -> dict[str, Path]:
    """Return full names and sources, relative to the root."""
    found = sorted((SOURCE / KERNELS.replace(".", "/")).rglob("*.pyx"))
    return {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts): path.relative_to(ROOT)
        for path in found
    }


def _translated(variant: Variant, jobs: int, annotate: bool = False) -> dict[str, str]:
    """Translate what changed to C; return the C file of every module."""
    from Cython.Build import cythonize
    from setuptools import Extension

    folder = (WORK / ("c" + (variant.folder if variant is CHECKED else ""))).relative_to(ROOT)
    shared = Path("src", *SHARED.split(".")).with_suffix(".c")
    made = ROOT / folder / shared
    outdated = made.exists() and made.stat().st_mtime < Path(__file__).stat().st_mtime
    extensions = cythonize(
        [Extension(SHARED, [str(shared)])]
        + [Extension(name, [str(path)]) for name, path in _modules().items()],
        include_path=["src"],
        build_dir=str(folder),
        compiler_directives=variant.directives,
        shared_utility_qualified_name=SHARED,
        nthreads=jobs,
        annotate=annotate,
        force=outdated or annotate,
        quiet=True,
    )
    if outdated:
        made.touch()
    return {extension.name: extension.sources[0] for extension in extensions}


def _compiled(variant: Variant, sources: dict[str, str], jobs: int) -> dict[Path, Path]:
    """Compile what changed; return the place in the package of every file made."""
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    class Compile(build_ext):  # type: ignore[misc]
        def build_extensions(self) -> None:
            flags = variant.msvc if self.compiler.compiler_type == "msvc" else variant.flags
            for extension in self.extensions:
                extension.extra_compile_args = list(flags)
            super().build_extensions()

    def placed(name: str) -> str:
        return f"{KERNELS}.{variant.folder}{name[len(KERNELS) :]}" if variant.folder else name

    extensions = [
        Extension(placed(name), [source], depends=[__file__]) for name, source in sources.items()
    ]
    command = Compile(Distribution({"name": "relatum", "ext_modules": extensions}))
    work = WORK / str(
        sys.implementation.cache_tag
    )  # objects of one Python are of no use to another
    command.build_lib = str(work / f"lib{variant.folder}")
    command.build_temp = str(work / f"objects{variant.folder}")
    command.parallel = jobs
    command.ensure_finalized()
    command.run()
    outputs = [Path(output) for output in command.get_outputs()]
    return {output: output.relative_to(command.build_lib) for output in outputs}


def build(chosen: list[Variant], jobs: int | None = None) -> dict[Path, Path]:
    """Build variants; return the files made and their places relative to ``src``."""
    if compiler_is_missing():
        use_compiler_of_the_index()
    jobs = jobs or os.cpu_count() or 1
    here = Path.cwd()
    os.chdir(ROOT)  # names in the C files are relative to the root
    try:
        made: dict[Path, Path] = {}
        for variant in chosen:
            made |= _compiled(variant, _translated(variant, jobs), jobs)
        return made
    finally:
        os.chdir(here)


def put_in_place(made: dict[Path, Path], chosen: list[Variant]) -> None:
    """Copy what is new beside the sources, and remove modules whose source is gone."""
    for output, place in made.items():
        target = SOURCE / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.stat().st_mtime_ns != output.stat().st_mtime_ns:
            # a process that has the old file open keeps it: the new one takes its name
            fresh = target.with_suffix(target.suffix + ".new")
            shutil.copy2(output, fresh)
            fresh.replace(target)
    kept, kernels = {SOURCE / place for place in made.values()}, SOURCE / KERNELS.replace(".", "/")
    suffix = "".join(next(iter(kept)).suffixes[-2:])
    for variant in chosen:
        for old in (kernels / variant.folder).rglob(f"*{suffix}"):
            of_another = not variant.folder and old.relative_to(kernels).parts[0] in (
                "_v3",
                "_checked",
            )
            if old not in kept and not of_another:
                old.unlink()


def main() -> None:
    """Build in place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checked", action="store_true", help="the checked variant only")
    parser.add_argument("--baseline", action="store_true", help="the baseline variant only")
    parser.add_argument("--annotate", action="store_true", help="write Cython's listings only")
    parser.add_argument("--announce", action="store_true", help="say what an installation will do")
    parser.add_argument("--jobs", type=int, help="how many at a time (default: one per core)")
    args = parser.parse_args()
    if args.announce:
        print(announcement())
        return
    if args.annotate:
        os.chdir(ROOT)
        _translated(BASELINE, args.jobs or os.cpu_count() or 1, annotate=True)
        return
    chosen = [CHECKED] if args.checked else [BASELINE] if args.baseline else variants()
    put_in_place(build(chosen, args.jobs), chosen)


if __name__ == "__main__":
    main()
