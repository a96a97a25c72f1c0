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
import hashlib
import os
import platform
import re
import shutil
import sys
import sysconfig
from importlib.metadata import version
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


COMPILERS = ("cc", "gcc", "clang")


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
    wanted = (
        os.environ.get("ARCHFLAGS") or sysconfig.get_platform()
    )  # of macOS: for several at once
    return [BASELINE, V3] if x86 and not re.search("arm64|universal", wanted) else [BASELINE]


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def compiler_is_missing() -> bool:
    """Whether there is neither a C compiler nor a setting that names one."""
    if os.environ.get("CC") or os.name == "nt":  # setuptools finds Microsoft's by itself
        return False
    return all(shutil.which(name) is None for name in COMPILERS)


def announcement() -> str:
    """Return what is said before pip builds: by itself it says nothing for a minute."""
    if compiler_is_missing():
        return "No C compiler (cc) found: taking one from the package index (ziglang)."
    return "Installing, and compiling the kernels: this takes a minute or two, once."


def choose_compiler() -> None:
    """Tell setuptools which compiler to use, where the one Python was made with is not there."""
    own = str(sysconfig.get_config_var("CC") or "cc").split()[0]
    if compiler_is_missing():  # the package ziglang, a C compiler that pip can install
        # for every processor of this kind, where zig would take this one
        compiler = f'"{sys.executable}" -m ziglang cc -mcpu=baseline'
        os.environ.update(CC=compiler, LDSHARED=f"{compiler} -shared", AR="true", STRIP="true")
        os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(WORK / "zig"))
    elif os.name != "nt" and not os.environ.get("CC"):
        os.environ.pop("CC", None)  # an empty one names none
        if shutil.which(own) is None:
            os.environ["CC"] = next(name for name in COMPILERS if shutil.which(name))


def require_headers() -> None:
    """Refuse to build where Python's headers are missing, in a line instead of a wall."""
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        raise SystemExit(
            "Python.h is missing, which compiling the kernels needs: install the headers of this "
            "Python (the package python3-dev or python3-devel), or a wheel of relatum."
        )


def _modules() -> dict[str, Path]:
    """Return full names and sources, relative to the root."""
    found = sorted((SOURCE / KERNELS.replace(".", "/")).rglob("*.pyx"))
    return {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts): path.relative_to(ROOT)
        for path in found
    }


def _declarations(path: Path) -> set[Path]:
    """Return the declarations of ours that a source includes, and these include, and so on."""
    found, todo = set(), {path.with_suffix(".pxd"), path}
    while todo:
        source = todo.pop()
        if not source.is_file() or source in found:
            continue
        found.add(source)
        for package, names in re.findall(
            r"^from (relatum[\w.]*) cimport (.*)$", source.read_text("utf-8"), re.MULTILINE
        ):
            place = SOURCE.joinpath(*package.split("."))
            todo |= {place.with_suffix(".pxd")}
            todo |= {place / f"{name.strip()}.pxd" for name in names.split(",")}
    return found


def fingerprint(path: Path, variant: Variant) -> str:
    """Return what the translation of a source depends on, as a short word.

    Times would not do: the files of Cython itself are new in every isolated build.
    """
    parts = [version("cython"), SHARED, repr(sorted(variant.directives.items()))]
    parts += [part.read_text("utf-8") for part in sorted(_declarations(path))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _translated(variant: Variant, jobs: int, annotate: bool = False) -> dict[str, str]:
    """Translate what changed to C; return the C file of every module."""
    folder = (WORK / ("c" + (variant.folder if variant is CHECKED else ""))).relative_to(ROOT)
    shared = Path("src", *SHARED.split(".")).with_suffix(".c")
    sources = {SHARED: shared, **_modules()}
    made = {name: folder / path.with_suffix(".c") for name, path in sources.items()}
    words = {name: fingerprint(ROOT / path, variant) for name, path in sources.items()}
    stamps = {name: ROOT / path.with_suffix(".stamp") for name, path in made.items()}
    changed = [
        name
        for name, stamp in stamps.items()
        if annotate or not (ROOT / made[name]).is_file() or _read(stamp) != words[name]
    ]
    if changed:
        from Cython.Build import cythonize
        from setuptools import Extension

        for name in changed:  # an interrupted translation leaves nothing that looks whole
            stamps[name].unlink(missing_ok=True)
        (ROOT / made[SHARED]).parent.mkdir(parents=True, exist_ok=True)
        cythonize(
            [Extension(name, [str(sources[name])]) for name in changed],
            include_path=["src"],
            build_dir=str(folder),
            compiler_directives=variant.directives,
            shared_utility_qualified_name=SHARED,
            nthreads=jobs,
            annotate=annotate,
            force=True,
            quiet=True,
        )
        for name in changed:
            stamps[name].write_text(words[name], encoding="utf-8")
    return {name: str(path) for name, path in made.items()}


def _read(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() else ""


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
    require_headers()
    choose_compiler()
    jobs = jobs or processors()
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
            fresh = target.with_suffix(f"{target.suffix}.{os.getpid()}.new")
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
    parser.add_argument("--has-compiler", action="store_true", help="exit with 1 if there is none")
    parser.add_argument("--jobs", type=int, help="how many at a time (default: one per core)")
    args = parser.parse_args()
    if args.announce:
        print(announcement())
        return
    if args.has_compiler:
        raise SystemExit(compiler_is_missing())
    if args.annotate:
        os.chdir(ROOT)
        _translated(BASELINE, args.jobs or processors(), annotate=True)
        return
    chosen = [CHECKED] if args.checked else [BASELINE] if args.baseline else variants()
    put_in_place(build(chosen, args.jobs), chosen)


if __name__ == "__main__":
    main()
