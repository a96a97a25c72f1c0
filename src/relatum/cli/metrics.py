"""``relatum metrics``: compare two relations in CSV files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from relatum import metrics
from relatum.cli.output import echo_json, finite
from relatum.errors import DataError
from relatum.io import read_rows


def run(true: Path, estimated: Path, as_json: bool) -> None:
    """Print the metrics that fit."""
    (names, a), (other, b) = read_rows(true), read_rows(estimated)
    if names != other or names not in (["element", "set"], ["rank", "element"]):
        raise DataError(
            f"{true} has the columns {', '.join(names)} and {estimated} {', '.join(other)}; both "
            "are partitions (element,set) or both orders (rank,element)."
        )
    column = names.index("element")
    for path, rows in ((true, a), (estimated, b)):
        _once([row[column] for row in rows], path)
    numbers = _orders(a, b) if names[0] == "rank" else _partitions(a, b)
    if as_json:
        echo_json({name: finite(number) for name, number in numbers.items()})
        return
    for name, number in numbers.items():
        click.echo(f"{name:28} {number:.6f}")


def _partitions(a: list[list[str]], b: list[list[str]]) -> dict[str, float]:
    labels, found = ({row[0]: row[1] for row in rows} for rows in (a, b))
    _same_elements(set(labels), set(found))
    elements = sorted(labels)
    pair = [labels[e] for e in elements], [found[e] for e in elements]
    precision, recall, f1 = metrics.pair_precision_recall_f1(*pair)
    return {
        "rand_error": metrics.rand_error(*pair),
        "adjusted_rand_score": metrics.adjusted_rand_score(*pair),
        "variation_of_information": metrics.variation_of_information(*pair),
        "pair_precision": precision,
        "pair_recall": recall,
        "pair_f1": f1,
    }


def _orders(a: list[list[str]], b: list[list[str]]) -> dict[str, float]:
    first = [row[1] for row in a]
    _same_elements(set(first), {row[1] for row in b})
    number = {element: k for k, element in enumerate(first)}
    second = [number[row[1]] for row in b]
    return {
        name: metrics.permutation_distance(range(len(first)), second, name)
        for name in metrics.PERMUTATION_METRICS
    }


def _once(elements: list[str], path: Path) -> None:
    if not elements:
        raise DataError(f"{path} has a heading but no rows; there is nothing to compare.")
    twice = [element for element, count in Counter(elements).items() if count > 1]
    if twice:
        raise DataError(f"{path} lists the element {twice[0]!r} twice; drop one of the rows.")


def _same_elements(a: set[str], b: set[str]) -> None:
    if a != b:
        odd = sorted(a ^ b)[0]
        raise DataError(f"Both files speak of the same elements; {odd!r} is only in one of them.")
