"""The paper's figures, drawn anew, its own curves dotted beside ours.

The paper's 1/sigma^2 goes with natural logarithms (this is what makes its curves and objective
values agree with ours), so that is what the horizontal axes show.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from relatum.array_types import Floats
from relatum.errors import MissingDependencyError
from relatum.measures.fit import natural_lambda
from relatum.reproduction.orders import METRICS
from relatum.reproduction.paper_values import QUOTED, curve, table
from relatum.reproduction.settings import Lifting, Settings

COLOURS = {
    (1, 0): "tab:red",
    (2, 0): "tab:olive",
    (2, 1): "tab:green",
    (3, 0): "tab:cyan",
    (3, 1): "tab:blue",
}
AXIS = r"$\sigma^{-2}$ (natural logarithms)"


def draw(settings: Settings, results: dict[str, Any], folder: Path) -> list[str]:
    """Draw the figures of the parts that were run, as PNG and SVG; return their names."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            "Figures need the package matplotlib; install relatum[plots]."
        ) from None
    known: dict[str, tuple[str, Callable[..., None], tuple[int, int], tuple[float, float]]] = {
        "maps_error": ("maps", _maps_error, (1, 2), (10, 4.2)),
        "maps_seconds": ("maps", _maps_seconds, (1, 2), (10, 4.2)),
        "pairs_error": ("pairs", _pairs_error, (2, 2), (10, 7.6)),
        "pairs_seconds": ("pairs", _pairs_seconds, (1, 2), (10, 4.2)),
        "equivalences": ("equivalences", _equivalences, (1, 2), (10, 4.2)),
        "orders_metrics": ("orders", _orders_metrics, (1, 3), (11, 3.8)),
        "orders_seconds": ("orders", _orders_seconds, (1, 1), (5.5, 3.8)),
    }
    made = []
    for name, (part, function, shape, size) in known.items():
        if part not in results:
            continue
        figure = Figure(figsize=size, layout="constrained")
        function(np.atleast_1d(figure.subplots(*shape)), settings, results[part])
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / f"{name}.png", dpi=110)
        # fixed names and no date: the same numbers give the same file
        with rc_context({"svg.hashsalt": "relatum"}):
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        made.append(name)
    return made


def _colours(settings: Settings) -> dict[str, str]:
    out = {}
    for lifting in settings.liftings:
        same = sorted(x.components or 0 for x in settings.liftings if x.degree == lifting.degree)
        place = same.index(lifting.components or 0) if len(same) > 1 else int(lifting.degree > 1)
        out[lifting.name] = COLOURS.get((lifting.degree, place), "black")
    return out


def _strengths(powers: Any) -> Floats:
    return natural_lambda(1.0) * 2.0 ** np.asarray(powers, dtype=float)


def _paper(axes: Any, figure: str, lifting: Lifting, split: str, colour: str, scale: float) -> None:
    x, y = curve(figure, lifting, split)
    if len(x):
        axes.plot(x, scale * y, ":", color=colour, lw=1.6)


def _legend(axes: Any, settings: Settings) -> None:
    if settings.data == "mnist":
        axes.plot([], [], ":", color="grey", label="the paper's")
    axes.legend(frameon=False, fontsize=8)


def _map_curves(
    axes: Any, settings: Settings, maps: dict[str, Any], value: Callable[[Any], float], paper: Any
) -> None:
    """Draw a value of the fits of every lifting against the strength, and the paper's curve."""
    colours = _colours(settings)
    for lifting in settings.liftings:
        fits, colour = maps[lifting.name], colours[lifting.name]
        x = _strengths([fit["power"] for fit in fits])
        axes.plot(x, [value(f) for f in fits], "o-", ms=3, color=colour, label=lifting.title)
        if settings.data == "mnist":
            figure, split, scale = paper
            _paper(axes, figure, lifting, split, colour, scale)
    axes.set_xscale("log")
    axes.set_xlabel(AXIS)


def _maps_error(panels: Any, settings: Settings, maps: dict[str, Any]) -> None:
    for axes, split in zip(panels, ("train", "test"), strict=True):
        error = f"{split}_error"
        paper = ("map-error", split, 100)
        _map_curves(axes, settings, maps, lambda fit, e=error: 100 * fit[e], paper)  # type: ignore[misc]
        axes.set_ylabel("misclassified images in %")
        axes.set_title({"train": "training", "test": "test"}[split])
        axes.set_ylim(bottom=0, top=16 if settings.data == "mnist" else None)
    _legend(panels[0], settings)


def _maps_seconds(panels: Any, settings: Settings, maps: dict[str, Any]) -> None:
    names = {"train": ("map-train-kiloseconds", "", 1000.0), "test": ("map-test-seconds", "", 1.0)}
    sizes = {"mnist": (60000, 10000), "digits": (1000, 797)}[settings.data]
    for axes, size, (split, paper) in zip(panels, sizes, names.items(), strict=True):

        def seconds(fit: Any, share: float = size / sum(sizes), split: str = split) -> float:
            spent = fit[f"{split}_cpu_seconds"] + share * fit["features_cpu_seconds"]
            return max(float(spent), 1e-3)

        _map_curves(axes, settings, maps, seconds, paper)
        axes.set_yscale("log")
        axes.set_ylabel("processor seconds")
        axes.set_title({"train": "training, with features", "test": "test, with features"}[split])
    _legend(panels[1], settings)


def _pairs_error(panels: Any, settings: Settings, pairs: dict[str, Any]) -> None:
    colours = _colours(settings)
    for row, sample in zip(panels, ("stratified", "unstratified"), strict=True):
        for axes, test in zip(row, ("stratified", "unstratified"), strict=True):
            for lifting in settings.liftings:
                found, colour = pairs[lifting.name][sample], colours[lifting.name]
                x = _strengths(found["powers"])
                y = 100 * np.array(found[f"error_{test}"])
                axes.plot(x, y, "o-", ms=3, color=colour, label=lifting.title)
                if (sample, test, settings.data) == ("stratified", "unstratified", "mnist"):
                    figure = "pairs-error-test-unstratified"
                    _paper(axes, figure, lifting, "test", colour, 100)
            _quoted(axes, settings, sample, test)
            axes.set_xscale("log")
            top = 16 if sample == test == "unstratified" else 51
            axes.set(xlabel=AXIS, ylabel="misclassified pairs in %", ylim=(0, top))
            axes.set_title(f"learned from {sample} pairs, tested on {test} ones", fontsize=10)
    _legend(panels[0][1], settings)


def _quoted(axes: Any, settings: Settings, sample: str, test: str) -> None:
    """Mark the errors that the paper's text quotes."""
    points = {
        ("stratified", "stratified"): (22, "pairs, stratified training and test"),
        ("stratified", "unstratified"): (22, "pairs, stratified training"),
        ("unstratified", "unstratified"): (21, "pairs, unstratified"),
    }
    if settings.data == "mnist" and (sample, test) in points:
        power, name = points[sample, test]
        axes.plot([2.0**power], [QUOTED[name]], "k*", ms=10, label="quoted by the paper")
        axes.legend(frameon=False, fontsize=8)


def _pairs_seconds(panels: Any, settings: Settings, pairs: dict[str, Any]) -> None:
    """Draw bars: one reading of the pairs serves all strengths, so there is no curve of ours."""
    places = np.arange(len(settings.liftings))
    strengths = len(settings.pair_powers)
    for axes, sample in zip(panels, ("stratified", "unstratified"), strict=True):
        ours = [
            pairs[lifting.name][sample]["train_cpu_seconds"] / strengths
            for lifting in settings.liftings
        ]
        axes.bar(places - 0.2, ours, 0.4, color="tab:blue", label="ours, per strength")
        if settings.data == "mnist":
            figure = f"pairs-train-kiloseconds-{sample}"
            paper = [1000 * np.mean(curve(figure, lifting)[1]) for lifting in settings.liftings]
            axes.bar(places + 0.2, paper, 0.4, color="lightgrey", label="the paper's, mean")
        axes.set_yscale("log")
        axes.set_xticks(
            places, [lifting.title.replace(", ", "\n") for lifting in settings.liftings]
        )
        axes.set(ylabel="seconds of training per strength", title=f"{sample} pairs")
        axes.legend(frameon=False, fontsize=8)


def _equivalences(panels: Any, settings: Settings, found: dict[str, Any]) -> None:
    """Draw seconds and errors against the number of elements."""
    colours = {"stratified": "tab:green", "unstratified": "tab:blue", "bilinear": "tab:red"}
    for name, colour in colours.items():
        rows = {(r["method"], r["n"]): r for r in found[name]["summary"]}
        sizes = [n for method, n in rows if method == "exact"]
        x = np.array(sorted(sizes))
        for axes, column, factor in (
            (panels[0], "infer_cpu_seconds", 1.0),
            (panels[1], "rand_error", 100.0),
        ):
            y = [factor * rows["exact", n][column] for n in x]
            axes.plot(x, y, "o-", ms=4, color=colour, label=f"exact, {name}")
        if settings.data == "mnist" and name != "bilinear":
            paper = {n: row for (method, n), row in table(name).items() if method == "exact"}
            for axes, column in ((panels[0], "seconds"), (panels[1], "rand_error_percent")):
                axes.plot(list(paper), [row[column] for row in paper.values()], ":", color=colour)
    panels[0].set_yscale("log")
    panels[0].set(xlabel="elements", ylabel="processor seconds to a proven optimum")
    panels[1].set(xlabel="elements", ylabel="misclassified pairs, $e_{RI}$ in %")
    panels[1].set_ylim(bottom=0)
    _legend(panels[0], settings)


def _orders_metrics(panels: Any, settings: Settings, orders: dict[str, Any]) -> None:
    for axes, metric in zip(panels, METRICS, strict=True):
        for number, (name, found) in enumerate(orders.items()):
            colour = f"C{number}"
            x = [row["sigma"] for row in found["by_sigma"]]
            y = [row[metric] for row in found["by_sigma"]]
            axes.plot(x, y, "o-", ms=3, color=colour, label=f"{found['words']:,} words")
            label = f"random order, {name}"
            axes.axhline(found["random"][metric], color=colour, ls="--", lw=1, label=label)
        axes.set_xscale("log", base=2)
        axes.set(xlabel=r"$\sigma$", ylabel="normalised distance", title=metric.replace("_", " "))
        axes.set_ylim(bottom=0)
    panels[0].legend(frameon=False, fontsize=8)


def _orders_seconds(panels: Any, settings: Settings, orders: dict[str, Any]) -> None:
    for name, found in orders.items():
        rows = found["by_length"]
        x = [row["length"] for row in rows]
        y = [1e6 * max(row["cpu_seconds"], 1e-7) for row in rows]
        panels[0].plot(x, y, "o", ms=3, label=f"{found['words']:,} words ({name})")
    panels[0].set_yscale("log")
    panels[0].set(xlabel="words in the sentence", ylabel="processor microseconds to the optimum")
    panels[0].legend(frameon=False, fontsize=8)
