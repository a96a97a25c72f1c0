"""Classification of images: errors and seconds against 1/sigma^2 (the paper's figures 1 and 4).

    RELATUM_DATA=folder python experiments/figures_maps.py --full --out results

The same as ``relatum reproduce --part maps``; without --full, on embedded data.
"""

import sys

from relatum.cli import cli

if __name__ == "__main__":
    cli(["reproduce", "--part", "maps", *sys.argv[1:]])
