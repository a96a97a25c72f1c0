"""The same tasks with other liftings and measures, and for other images.

    RELATUM_DATA=folder python experiments/beyond_the_paper.py --full --out results

The same as ``relatum reproduce --part beyond``; without --full, on embedded data.
"""

import sys

from relatum.cli import cli

if __name__ == "__main__":
    cli(["reproduce", "--part", "beyond", *sys.argv[1:]])
