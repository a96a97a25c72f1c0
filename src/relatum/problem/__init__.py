"""What is asked: relations, feasible sets, log-odds, and the problem that puts them together.

A `Problem` is a table of log-odds in bits and a feasible set, which is an intersection of
properties; evidence is one of them. This room imports kernels and errors only. Begin with
`problem`, then `feasible`.
"""

from relatum.problem.arguments import (
    is_missing,
    labels_array,
    plain_array,
    real_number,
    shown,
    switch,
    whole_number,
)
from relatum.problem.exact_sums import (
    ExactSum,
    exact_sum,
    float_up,
    nearest_float,
    sum_of,
)
from relatum.problem.feasible import (
    ANTISYMMETRIC,
    BIJECTIONS,
    CONNEX,
    EQUIVALENCES,
    HAS_IMAGE,
    HAS_PREIMAGE,
    INJECTIONS,
    LINEAR_ORDERS,
    MAPS,
    NAMED_SETS,
    PARTIAL_MAPS,
    PARTIAL_ORDERS,
    PREORDERS,
    REFLEXIVE,
    RELATIONS,
    SYMMETRIC,
    TRANSITIVE,
    UNIQUE_IMAGE,
    UNIQUE_PREIMAGE,
    WEAK_ORDERS,
    FeasibleSet,
    at_most,
    evidence,
    one_per_group,
)
from relatum.problem.frames import score_column
from relatum.problem.memory import parse_memory, require_memory
from relatum.problem.problem import DENSE_LIMIT, Problem
from relatum.problem.properties import Evidence, Property
from relatum.problem.relation import LinearOrder, Map, PartialMap, Partition, Relation, WeakOrder
from relatum.problem.scores import (
    CondensedScores,
    DenseScores,
    SparseScores,
    condensed_places,
    condensed_size,
)

__all__ = [
    "ANTISYMMETRIC",
    "BIJECTIONS",
    "CONNEX",
    "DENSE_LIMIT",
    "EQUIVALENCES",
    "HAS_IMAGE",
    "HAS_PREIMAGE",
    "INJECTIONS",
    "LINEAR_ORDERS",
    "MAPS",
    "NAMED_SETS",
    "PARTIAL_MAPS",
    "PARTIAL_ORDERS",
    "PREORDERS",
    "REFLEXIVE",
    "RELATIONS",
    "SYMMETRIC",
    "TRANSITIVE",
    "UNIQUE_IMAGE",
    "UNIQUE_PREIMAGE",
    "WEAK_ORDERS",
    "CondensedScores",
    "DenseScores",
    "Evidence",
    "ExactSum",
    "FeasibleSet",
    "LinearOrder",
    "Map",
    "PartialMap",
    "Partition",
    "Problem",
    "Property",
    "Relation",
    "SparseScores",
    "WeakOrder",
    "at_most",
    "condensed_places",
    "condensed_size",
    "evidence",
    "exact_sum",
    "float_up",
    "is_missing",
    "labels_array",
    "nearest_float",
    "one_per_group",
    "parse_memory",
    "plain_array",
    "real_number",
    "require_memory",
    "score_column",
    "shown",
    "sum_of",
    "switch",
    "whole_number",
]
