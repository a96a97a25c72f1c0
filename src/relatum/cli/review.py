"""``relatum review``: from a file of scored pairs to a page on which a person corrects clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from relatum.cli.cluster import TABLES
from relatum.errors import DataError
from relatum.io import Request, parse_set, read_problem, require_answerable
from relatum.pair_tables import Clusters, cluster_pairs, load_clusters
from relatum.review import review, review_whole

PAGE = ("records", "answers", "who", "port")  # options of the page, not of the clusters
SAVED = ".clusters"


def run(pairs: str, options: dict[str, Any]) -> None:
    """Cluster, or read clusters, and serve the page until Ctrl-C."""
    page = {name: options.pop(name) for name in PAGE}
    page |= {"browser": not options.pop("no_browser")}
    kind = options.pop("kind")
    if kind is not None:
        page.pop("records")
        problem = read_problem(Request(Path(pairs), parse_set(kind)))
        review_whole(problem, **page)
        return
    page["id"] = options.pop("id_")
    require_answerable(page["answers"])  # before pairs are clustered, which may take long
    review(_clusters(pairs, options), **page)
    click.echo("The review has ended; all answers are in the file of answers.", err=True)


def _clusters(pairs: str, options: dict[str, Any]) -> Clusters:
    groups = options.pop("groups")
    given = {name: value for name, value in options.items() if value is not None}
    if groups is not None:
        given["one_per_group"] = Path(groups) if groups.endswith(TABLES) else groups
    if pairs.endswith(SAVED):
        more = [n for n in ("evidence", "max_size", "one_per_group") if n in given]
        if more:
            raise DataError(
                f"{more[0]}= was settled when the clusters were saved; leave it out, or review the "
                "table of pairs."
            )
        return load_clusters(pairs)
    return cluster_pairs(pairs, confidence=True, **given)
