"""Tables of pages, made of the files that benchmarks wrote when the documentation is built.

A line ``<!-- table of costs -->`` in a page becomes what the function of that name returns.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
MARKER = re.compile(r"^<!-- table of (\w+) -->$", re.MULTILINE)


def written(name: str) -> Any:
    """Return what a benchmark has written."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def rows_of(columns: list[str], rows: list[list[str]]) -> str:
    """Return a table as Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def costs() -> str:
    """Return processor time and memory of every point measured."""
    rows = []
    for point in written("costs")["points"]:
        ratio = point["seconds"] / point["sort_seconds"]
        rough = point["gap"]
        gap = "0" if rough < 1e-5 else f"{float(f'{rough:.3g}'):,.10g}"
        limit = ", stopped by its limit" if point["limit"] else ""
        time = f"{point['seconds']:.3f} s ({ratio:.2g})"
        memory = f"{max(point['megabytes'], 0.1):.1f} MB"
        rows.append([point["family"], f"{point['n']:,}", time, memory, gap + limit])
    columns = ["family", "elements", "processor time (sorts)", "memory", "gap, bits"]
    return rows_of(columns, rows)


def unsupervised() -> str:
    """Return how well clusters without labels agree with the truth, beside peers."""
    sets = written("unsupervised")["sets"]
    methods = list(dict.fromkeys(name for found in sets.values() for name in found))
    rows = [
        [name, *(f"{found[m]['ari']:z.2f}" if m in found else "" for m in methods)]
        for name, found in sets.items()
    ]
    return rows_of(["ARI", *methods], rows)


TABLES = {"costs": costs, "unsupervised": unsupervised}


def filled(markdown: str) -> str:
    """Return a page with its tables."""
    return MARKER.sub(lambda match: TABLES[match[1]](), markdown)
