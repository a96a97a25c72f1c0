"""Tables of scored pairs, larger than memory or than one machine: pairs in, clusters out."""

from __future__ import annotations

from relatum.pair_tables.api import cluster_pairs
from relatum.pair_tables.columns import Columns, bits_of, find_columns, refuse
from relatum.pair_tables.previous import Changes
from relatum.pair_tables.result import Clusters, Summary
from relatum.pair_tables.scoring import PairScorer
from relatum.pair_tables.solve.batching import batch_of
from relatum.pair_tables.solve.component import (
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
    "Changes",
    "Clusters",
    "Columns",
    "Component",
    "Components",
    "PairScorer",
    "Settings",
    "Solution",
    "Solutions",
    "Summary",
    "batch_of",
    "bits_of",
    "cluster_pairs",
    "component_of",
    "find_columns",
    "refuse",
    "solve_batch",
    "solve_component",
    "usual_search",
]
