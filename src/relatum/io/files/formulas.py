"""Cells of CSV files that spreadsheets would take for formulas.

A text that begins with ``=``, ``+``, ``-`` or ``@`` (or a tab or carriage return) and is no number
is written with an apostrophe before it, which spreadsheets take for the mark of a text. Readers
take the apostrophe away again, so that ids come back as they were; a text that begins with
apostrophes and such a sign gets one more. Numbers stay numbers.
"""

from __future__ import annotations

import re
from typing import Any

STARTS = r"'*[=+\-@\t\r]"  # what is guarded, unless it is a number
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
GUARDED = r"'+[=+\-@\t\r]"  # what was guarded
_STARTS, _NUMBER, _GUARDED = (re.compile(p) for p in (STARTS, NUMBER, GUARDED))


def guarded(cell: Any) -> Any:
    """Return a cell as it is written: texts that look like formulas with an apostrophe.

    Examples
    --------
    >>> guarded("=1+1"), guarded("-4.5"), guarded(-4.5), guarded("ann")
    ("'=1+1", '-4.5', -4.5, 'ann')
    """
    if isinstance(cell, str) and _STARTS.match(cell) and not _NUMBER.fullmatch(cell):
        return "'" + cell
    return cell


def unguarded(text: str) -> str:
    """Return a cell as it was before it was written.

    Examples
    --------
    >>> unguarded(guarded("'=1+1"))
    "'=1+1"
    """
    return text[1:] if _GUARDED.match(text) else text
