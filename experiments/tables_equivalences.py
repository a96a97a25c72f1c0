"""Clustering, exact and by Kernighan-Lin (the paper's tables 1 and 2).

    RELATUM_DATA=folder python experiments/tables_equivalences.py --full --out results

The same as ``relatum reproduce --part equivalences``; without --full, on embedded data.
"""

import sys

from relatum.cli import cli

if __name__ == "__main__":
    cli(["reproduce", "--part", "equivalences", *sys.argv[1:]])
