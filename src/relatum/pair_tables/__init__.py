"""Tables of scored pairs, larger than memory or than one machine: pairs in, clusters out.

`api` makes the records of `options` out of the arguments and hands them to an engine, `on_duckdb`
or `on_spark`, which reads, connects and divides the pairs; both leave the components to `solve`
and tell what they found in `result`, whose `origin` answers later questions; what proves it is
judged in `check`; `offsets` learns from labels. This room imports inference, explanation,
probability, plots, solvers, measures and features; nothing below knows of tables. Begin with `api`,
then `on_duckdb.engine`.
"""

from __future__ import annotations

from relatum.pair_tables.api import cluster_pairs, load_clusters, verify_clusters
from relatum.pair_tables.check.container import is_archive as is_certificate
from relatum.pair_tables.check.verdict import TableVerification
from relatum.pair_tables.columns import Columns, bits_of, find_columns, refuse
from relatum.pair_tables.doubts import Doubt
from relatum.pair_tables.doubts import confidence_of as confidence_of
from relatum.pair_tables.offsets import Offset, best_offset, learn_offset
from relatum.pair_tables.offsets import Search as Search
from relatum.pair_tables.options import Settings, usual_search
from relatum.pair_tables.origin import Origin as Origin
from relatum.pair_tables.previous import Changes
from relatum.pair_tables.result import Clusters, Summary, in_kind_of
from relatum.pair_tables.result import write_table as write_table
from relatum.pair_tables.saving import require_savable
from relatum.pair_tables.scoring import PairScorer
from relatum.pair_tables.solve.batching import (
    Component,
    Components,
    batch_of,
    component_of,
)
from relatum.pair_tables.solve.batching import problem_of as problem_of
from relatum.pair_tables.solve.cluster_confidence import cluster_confidence as cluster_confidence
from relatum.pair_tables.solve.component import (
    Solution,
    Solutions,
    solve_batch,
    solve_component,
)
from relatum.pair_tables.solve.labelled import labelled_part

__all__ = [
    "Changes",
    "Clusters",
    "Columns",
    "Component",
    "Components",
    "Doubt",
    "Offset",
    "PairScorer",
    "Settings",
    "Solution",
    "Solutions",
    "Summary",
    "TableVerification",
    "batch_of",
    "best_offset",
    "bits_of",
    "cluster_pairs",
    "component_of",
    "find_columns",
    "in_kind_of",
    "is_certificate",
    "labelled_part",
    "learn_offset",
    "load_clusters",
    "refuse",
    "require_savable",
    "solve_batch",
    "solve_component",
    "usual_search",
    "verify_clusters",
]
