"""Files read with errors that name file and line, and written whole or not at all.

`reading` opens files, plain or gzipped, and hands out their lines; `writing` replaces them;
`appending` adds to files that others add to; `formulas` keeps texts in tables from becoming
formulas. Nothing but errors is imported here. Begin with `reading`.
"""

from relatum.io.files.appending import add, locked
from relatum.io.files.formulas import GUARDED, NUMBER, STARTS, guarded, unguarded
from relatum.io.files.reading import as_path, numbered_lines, open_to_read
from relatum.io.files.writing import replacing, require_writable, write_atomically, write_lines

__all__ = [
    "GUARDED",
    "NUMBER",
    "STARTS",
    "add",
    "as_path",
    "guarded",
    "locked",
    "numbered_lines",
    "open_to_read",
    "replacing",
    "require_writable",
    "unguarded",
    "write_atomically",
    "write_lines",
]
