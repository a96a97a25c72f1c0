"""Tables of scored pairs, larger than memory or than one machine: pairs in, clusters out."""

from __future__ import annotations

from relatum.pair_tables.batching import batch_of
from relatum.pair_tables.columns import Columns, bits_of, find_columns, refuse
from relatum.pair_tables.component import (
    Component,
    Components,
    Settings,
    Solution,
    Solutions,
    component_of,
    solve_batch,
    solve_component,
    usual_search,
)

__all__ = [
    "Columns",
    "Component",
    "Components",
    "Settings",
    "Solution",
    "Solutions",
    "batch_of",
    "bits_of",
    "component_of",
    "find_columns",
    "refuse",
    "solve_batch",
    "solve_component",
    "usual_search",
]
