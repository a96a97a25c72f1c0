"""Follow README, the first page and Quickstart literally, in a fresh environment.

    python docs/first_hour.py [--keep FOLDER]

makes a virtual environment, installs this source with the extras that README's install line names,
and runs every line of those pages there, away from the source: what they print must be what they
say. Takes minutes, for the kernels are compiled and packages fetched; `make first-hour` runs it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "quickstart.md")


def extras() -> str:
    """Return the extras that the install line names, and all pages alike."""
    found = {
        x for page in PAGES[:2] for x in re.findall(r"'relatum\[([\w,]+)\]'", page.read_text())
    }
    if len(found) != 1:
        raise SystemExit(f"README and the first page name different extras: {sorted(found)}")
    return found.pop()


def imported() -> set[str]:
    """Return the packages that the pages import."""
    lines = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()]
    found = (re.match(r"(?:>>>|\.\.\.) (?:import|from) (\w+)", line) for line in lines)
    return {match[1] for match in found if match}


def follow(folder: Path) -> int:
    """Do what the pages say in a folder; return how many of them did not hold."""
    venv.create(folder / "venv", with_pip=True)
    own = folder / "venv" / "bin" / "python"
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "RELATUM"))}

    def run(*command: str) -> int:
        print("$", " ".join(command).replace(str(folder), "."), flush=True)
        return subprocess.run(command, cwd=folder, env=outside, check=False).returncode

    constraint = ("-c", str(ROOT / "constraints.txt"))
    if run(str(own), "-m", "pip", "install", "--quiet", *constraint, f"{ROOT}[{extras()}]"):
        return 1
    failures = 0
    for page in PAGES:
        shutil.copy(page, folder / page.name)
        flags = ("-o", "NORMALIZE_WHITESPACE", "-o", "ELLIPSIS")
        failures += run(str(own), "-m", "doctest", *flags, page.name) != 0
    failures += run(str(own.parent / "relatum"), "demo", "--quick") != 0
    failures += not (folder / "relatum-demo.html").exists()
    print("all of it holds" if failures == 0 else f"{failures} did not hold")
    return failures


def main() -> None:
    """Follow the pages in a temporary folder, or in one that is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="an empty folder to do it in")
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
        sys.exit(follow(given.keep.resolve()))
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(follow(Path(folder)))


if __name__ == "__main__":
    main()
