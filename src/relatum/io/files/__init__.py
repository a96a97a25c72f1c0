"""Files read with errors that name file and line, and written whole or not at all.

`reading` opens files, plain or gzipped, and hands out their lines; `writing` replaces them. Nothing
but errors is imported here. Begin with `reading`.
"""

from relatum.io.files.reading import numbered_lines, open_to_read
from relatum.io.files.writing import require_writable, write_atomically, write_lines

__all__ = ["numbered_lines", "open_to_read", "require_writable", "write_atomically", "write_lines"]
