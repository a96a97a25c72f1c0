"""Files: readers and writers of problems and rankings, one module per format, and bundles.

`problems` reads any format, `conversion` writes any, `bundle` keeps estimates with their
certificates, `models` fitted models; `files` opens and writes whatever they ask for. This room
imports problem and proof, and asks no solver. Begin with `problems`.
"""

from relatum.io.answers import DIFFERENT as DIFFERENT
from relatum.io.answers import SAME as SAME
from relatum.io.answers import Answer as Answer
from relatum.io.answers import AnswersFile as AnswersFile
from relatum.io.answers import answered_entities, read_answers
from relatum.io.answers import answered_pairs as answered_pairs
from relatum.io.answers import is_answers as is_answers
from relatum.io.answers import require_answerable as require_answerable
from relatum.io.answers import write_answers as write_answers
from relatum.io.bundle import load_bundle, load_estimate, save_estimate
from relatum.io.conversion import write_problem
from relatum.io.cplib import read_cplib, write_cplib
from relatum.io.listed_pairs import ListedPairs
from relatum.io.lolib import read_lolib, write_lolib
from relatum.io.matrices import read_matrix, write_matrix
from relatum.io.models import load_model, save_model
from relatum.io.models import read_model as read_model
from relatum.io.multicut import read_multicut, write_multicut
from relatum.io.pace import read_pace, write_pace
from relatum.io.preflib import Rankings, read_preflib, write_preflib
from relatum.io.problems import Request, read_problem
from relatum.io.problems import parse_set as parse_set
from relatum.io.problems import read_evidence as read_evidence
from relatum.io.scored_pairs import csv_text as csv_text
from relatum.io.scored_pairs import numbered_rows as numbered_rows
from relatum.io.scored_pairs import read_pair_table, write_pair_table
from relatum.io.scored_pairs import read_rows as read_rows
from relatum.io.scored_pairs import write_rows as write_rows
from relatum.io.signed_graph import read_signed_graph, write_signed_graph

__all__ = [
    "ListedPairs",
    "Rankings",
    "Request",
    "answered_entities",
    "load_bundle",
    "load_estimate",
    "load_model",
    "read_answers",
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
    "save_model",
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
