"""The experiments of the paper, run anew: ``relatum reproduce``.

One module per experiment: `maps`, `pairs`, `clustering`, `orders`, and `beyond` the paper.
`settings` says what is computed, `formulas` keeps what has been, `run` puts it together. This room
may import every other but the command line. Begin with `run`, then `maps`.
"""

from relatum.reproduction.run import PARTS, reproduce
from relatum.reproduction.settings import FULL, QUICK, Settings

__all__ = ["FULL", "PARTS", "QUICK", "Settings", "reproduce"]
