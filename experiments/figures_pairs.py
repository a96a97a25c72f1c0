"""Classification of pairs: errors and seconds against 1/sigma^2 (figures 2, 5 and 6).

    RELATUM_DATA=folder python experiments/figures_pairs.py --full --out results

The same as ``relatum reproduce --part pairs``; without --full, on embedded data.
"""

import sys

from relatum.cli import cli

if __name__ == "__main__":
    cli(["reproduce", "--part", "pairs", *sys.argv[1:]])
