"""Tables of records in, clusters out: blocking, comparison, learning, calibration.

`intake` reads tables into columns of `fields`; `vectors` and `similarity` compare values,
`comparison` records, level by level; `blocking` finds the pairs worth comparing; `training` learns
what levels are worth, and `mixture` does so without labels; `held_out` tells how good that is, and
`linking` scores and clusters. `fitting` and `linker` do one after the other. This room imports
tables of pairs, measures and metrics. Begin with `linker`.
"""

from __future__ import annotations

from relatum.records.comparison import scales_of, terms_of
from relatum.records.fields import checked_fields
from relatum.records.level_bits import Weights
from relatum.records.link_report import LinkReport
from relatum.records.linker import RecordLinker

__all__ = [
    "LinkReport",
    "RecordLinker",
    "Weights",
    "checked_fields",
    "scales_of",
    "terms_of",
]
