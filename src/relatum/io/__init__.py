"""Files: readers of problems and rankings, one module a format, and bundles of estimates."""

from relatum.io.bundle import load_estimate as load_estimate
from relatum.io.bundle import save_estimate as save_estimate
from relatum.io.cplib import read_cplib as read_cplib
from relatum.io.listed_pairs import ListedPairs as ListedPairs
from relatum.io.lolib import read_lolib as read_lolib
from relatum.io.multicut import read_multicut as read_multicut
from relatum.io.pace import read_pace as read_pace
from relatum.io.pair_tables import read_pair_table as read_pair_table
from relatum.io.preflib import Rankings as Rankings
from relatum.io.preflib import read_preflib as read_preflib
from relatum.io.problems import Request as Request
from relatum.io.problems import read_problem as read_problem
from relatum.io.signed_graph import read_signed_graph as read_signed_graph

__all__ = [
    "ListedPairs",
    "Rankings",
    "Request",
    "load_estimate",
    "read_cplib",
    "read_lolib",
    "read_multicut",
    "read_pace",
    "read_pair_table",
    "read_preflib",
    "read_problem",
    "read_signed_graph",
    "save_estimate",
]
