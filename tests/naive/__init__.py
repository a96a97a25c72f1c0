"""Plain, slow twins of every kernel, and brute force over whole feasible sets.

Written for reading: loops and definitions, no shared code with the library. One module per room of
kernels; begin with ``problem``, which says what a feasible set is by trying every relation.
"""
# ruff: noqa: F403

from __future__ import annotations

from naive.bundles import *
from naive.checking import *
from naive.joint import *
from naive.learning import *
from naive.lp import *
from naive.matching import *
from naive.order import *
from naive.partition import *
from naive.problem import *
from naive.randomness import *
from naive.rows import *
from naive.tables import *
