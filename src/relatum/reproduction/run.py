"""The whole reproduction: parts in turn, each from its cells; numbers, figures and a report."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from relatum.datasets import Digits, load_digits, load_images, load_mnist
from relatum.errors import DataError
from relatum.reproduction import beyond, clustering, maps, orders, pairs, scores
from relatum.reproduction.cells import Cells, NotComputed, write_json
from relatum.reproduction.report import checks, findings, markdown
from relatum.reproduction.settings import Settings


class _Task:
    """What the parts share: settings, cells, and images with their pairs, read when needed."""

    def __init__(self, settings: Settings, cells: Cells, images: Sequence[Path]) -> None:
        self.settings, self.cells, self.folders = settings, cells, images

    @cached_property
    def images(self) -> tuple[Digits, Digits]:
        return load_mnist() if self.settings.data == "mnist" else load_digits()

    @cached_property
    def pairs(self) -> pairs.Pairs:
        return pairs.Pairs(self.settings, *self.images)


def _maps(task: _Task) -> dict[str, Any]:
    found: dict[str, Any] = maps.maps(task.cells, task.settings, *task.images)
    if task.settings.fewer_images:
        found["fewer"] = _fewer(task)
    return found


def _fewer(task: _Task) -> dict[str, Any]:
    """Learn from the first images only, as the paper seems to have done."""
    s = task.settings
    train, test = task.images
    some = Digits(train.images[: s.fewer_images], train.labels[: s.fewer_images])
    few = replace(s, linear_map_powers=s.fewer_powers[0], measure_map_powers=s.fewer_powers[1])
    return {
        lifting.title: maps.curve(task.cells, few, lifting, some, test)
        for lifting in (s.liftings[0], s.measure)
    }


def _pairs(task: _Task) -> dict[str, Any]:
    return {
        lifting.name: pairs.pair_curves(task.cells, task.pairs, lifting)
        for lifting in task.settings.liftings
    }


def _equivalences(task: _Task) -> dict[str, Any]:
    s, cells = task.settings, task.cells
    train, test = task.images
    sketched = {}
    for name in pairs.SAMPLES:
        with suppress(NotComputed):
            sketched[name] = scores.sketch_scores(cells, task.pairs, name)
    bilinear, _ = scores.bilinear_scores(cells, s, train, test)
    forms, n = scores.Forms(cells, task.pairs), len(test.labels)
    every = {name: found["scores"] for name, found in sketched.items()} | {"bilinear": bilinear}
    some = {name: partial(forms.log_odds, name) for name in pairs.SAMPLES}
    some["bilinear"] = partial(scores.condensed_subset, bilinear, n)
    out: dict[str, Any] = {
        "score_cpu_seconds": {name: float(found["cpu"]) for name, found in sketched.items()}
    }
    for name, log_odds in some.items():
        rows = clustering.clusterings(cells, s, log_odds, test.labels, name)
        out[name] = {}
        if name in every:
            rows += clustering.whole_set(cells, s, every[name], test, name)
            out[name]["pair_errors"] = scores.pair_errors(every[name], test.labels)
        out[name] |= {"summary": clustering.summary(rows), "rows": rows}
    return out


def _orders(task: _Task) -> dict[str, Any]:
    return {
        corpus.name: orders.orders(task.cells, task.settings, corpus)
        for corpus in orders.corpora(task.settings)
    }


def _beyond(task: _Task) -> dict[str, Any]:
    s, cells = task.settings, task.cells
    train, test = task.images
    others = [(folder.resolve().name, load_images(folder)) for folder in task.folders]
    if s.data != "digits":  # small and at hand everywhere
        others.insert(0, ("scikit-learn_digits", load_digits()))
    return {
        "liftings": beyond.best_liftings(cells, s, train, test),
        "bilinear": scores.bilinear_scores(cells, s, train, test)[1],
        "joint": beyond.joint_orders(cells, s),
        "images": [beyond.other_images(cells, s, name, *images) for name, images in others],
    }


PARTS: dict[str, Callable[[_Task], dict[str, Any]]] = {
    "maps": _maps,
    "pairs": _pairs,
    "equivalences": _equivalences,
    "orders": _orders,
    "beyond": _beyond,
}


def reproduce(
    settings: Settings,
    folder: Path,
    *,
    parts: Sequence[str] = tuple(PARTS),
    images: Sequence[Path] = (),
    say: Callable[[str], None] = print,
    found: Callable[[str], None] | None = None,
    compute: bool = True,
) -> list[tuple[str, bool]]:
    """Run the experiments; write numbers, figures and a report.

    Parameters
    ----------
    settings : Settings
    folder : Path
        Where everything goes. What is there from an earlier run with the same settings, in
        ``cells/``, is not computed again.
    parts : sequence of str
        Some of `PARTS`.
    images : sequence of Path
        Folders of images in the format of MNIST, one row each.
    say : callable
        Told one line at a time what is going on.
    found : callable, optional
        Told after each part, in a line, what it found; `say` by default.
    compute : bool
        If not, only what has been computed is reported; the rest is left out.

    Returns
    -------
    list of (claim, whether it holds)
    """
    unknown = set(parts) - set(PARTS)
    if unknown:
        raise DataError(f"There is no part {sorted(unknown)}; the parts are {', '.join(PARTS)}.")
    if not compute and not any((folder / "cells").glob("**/*.*")):
        raise DataError(f"Nothing has been computed in {folder} yet; run it without --computed.")
    task = _Task(settings, Cells(folder / "cells", say, compute), images)
    results = {}
    about = {"machine": machine(), "settings": asdict(settings)}
    for name in (part for part in PARTS if part in parts):
        try:
            results[name] = PARTS[name](task)
        except NotComputed as missing:
            (found or say)(f"{name}: left out, {missing} has not been computed")
            continue
        (found or say)(f"{name}: {findings(settings, name, results[name])}")
        write_json(folder / f"{name}.json", {**about, "results": results[name]})
    made: list[str] = []
    if find_spec("matplotlib"):
        from relatum.reproduction.figures import draw

        made = draw(settings, results, folder / "figures")
    else:
        task.cells.say("no figures: matplotlib is not installed (relatum[plots])")
    text = markdown(settings, results, made)
    (folder / "report.md").write_text(text, encoding="utf-8")
    return checks(settings, results)


def machine() -> dict[str, Any]:
    """Describe the machine and the versions of what was used."""
    packages = {}
    for name in ("relatum", "numpy", "scipy", "scikit-learn", "highspy"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "not installed"
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": packages,
    }
