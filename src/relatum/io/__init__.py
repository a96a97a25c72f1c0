"""Files: readers and writers of problems and rankings, one module a format, and bundles."""

from relatum.io.bundle import load_estimate as load_estimate
from relatum.io.bundle import save_estimate as save_estimate
from relatum.io.conversion import write_problem as write_problem
from relatum.io.cplib import read_cplib as read_cplib
from relatum.io.cplib import write_cplib as write_cplib
from relatum.io.listed_pairs import ListedPairs as ListedPairs
from relatum.io.lolib import read_lolib as read_lolib
from relatum.io.lolib import write_lolib as write_lolib
from relatum.io.matrices import read_matrix as read_matrix
from relatum.io.matrices import write_matrix as write_matrix
from relatum.io.multicut import read_multicut as read_multicut
from relatum.io.multicut import write_multicut as write_multicut
from relatum.io.pace import read_pace as read_pace
from relatum.io.pace import write_pace as write_pace
from relatum.io.preflib import Rankings as Rankings
from relatum.io.preflib import read_preflib as read_preflib
from relatum.io.preflib import write_preflib as write_preflib
from relatum.io.problems import Request as Request
from relatum.io.problems import parse_set as parse_set
from relatum.io.problems import read_evidence as read_evidence
from relatum.io.problems import read_problem as read_problem
from relatum.io.scored_pairs import csv_text as csv_text
from relatum.io.scored_pairs import numbered_rows as numbered_rows
from relatum.io.scored_pairs import read_pair_table as read_pair_table
from relatum.io.scored_pairs import read_rows as read_rows
from relatum.io.scored_pairs import write_pair_table as write_pair_table
from relatum.io.scored_pairs import write_rows as write_rows
from relatum.io.signed_graph import read_signed_graph as read_signed_graph
from relatum.io.signed_graph import write_signed_graph as write_signed_graph

__all__ = [
    "ListedPairs",
    "Rankings",
    "Request",
    "load_estimate",
    "read_cplib",
    "read_lolib",
    "read_matrix",
    "read_multicut",
    "read_pace",
    "read_pair_table",
    "read_preflib",
    "read_problem",
    "read_signed_graph",
    "save_estimate",
    "write_cplib",
    "write_lolib",
    "write_matrix",
    "write_multicut",
    "write_pace",
    "write_pair_table",
    "write_preflib",
    "write_problem",
    "write_signed_graph",
]
