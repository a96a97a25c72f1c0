"""Orders of words: distances against sigma, seconds against length (figures 3 and 7).

    RELATUM_DATA=folder python experiments/figures_orders.py --full --out results

The same as ``relatum reproduce --part orders``; without --full, on embedded data.
"""

import sys

from relatum.cli import cli

if __name__ == "__main__":
    cli(["reproduce", "--part", "orders", *sys.argv[1:]])
