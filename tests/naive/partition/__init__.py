"""Plain twins of the kernels of clusterings: enumeration, search, rows, packings, small sets."""
# ruff: noqa: F403

from __future__ import annotations

from naive.partition.any_sets import *
from naive.partition.cuts import *
from naive.partition.enumeration import *
from naive.partition.packing import *
from naive.partition.search import *
from naive.partition.small_sets import *
