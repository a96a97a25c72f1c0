"""Pictures of relations, explanations, learning and search.

Every function draws into the axes given, or into new ones, and returns them. Blue is
related, red unrelated, in bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relatum.array_types import Floats, Index
from relatum.errors import DataError, MissingDependencyError
from relatum.problem import (
    PartialMap,
    Partition,
    Problem,
    WeakOrder,
    plain_array,
    shown,
    whole_number,
)
from relatum.proof import Estimate

__all__ = ["curves", "explanation", "gallery", "places", "probabilities", "progress", "relation"]

LARGEST = 2000  # elements that a picture of a matrix can show


def new_axes(axes: Any, size: tuple[float, float] = (5.0, 4.2)) -> Any:
    """Return the axes given, or new ones; say what is missing if there can be none."""
    if axes is not None:
        _require(hasattr(axes, "imshow"), "axes are of matplotlib, or None", axes)
        return axes
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            "Pictures need the package matplotlib; install relatum[plots]."
        ) from None
    return Figure(figsize=size, layout="constrained").subplots()


def _require(holds: bool, rule: str, got: Any) -> None:
    if not holds:
        raise DataError(f"{rule}, got {shown(got)}.")


def _require_names(names: Any, n: int) -> None:
    if names is not None:
        listed = isinstance(names, Sequence | np.ndarray) or hasattr(names, "iloc")
        one_axis = getattr(names, "ndim", 1) == 1  # an array of no axes has no length
        _require(listed and one_axis and len(names) >= n, "names are one for each element", names)


def _numbers(values: Any, what: str) -> Floats:
    """Return a vector of numbers."""
    array = plain_array(values, what, DataError)
    _require(array.ndim == 1 and array.dtype.kind in "biuf", f"{what} are a list of numbers", array)
    return array.astype(np.float64)


def relation(problem: Problem, estimate: Estimate, axes: Any = None, names: Any = None) -> Any:
    """Draw the log-odds, elements arranged by the relation, and the relation over them.

    Clusters are the blocks on the diagonal, largest first; orders run from first to last,
    related pairs above the staircase; maps have a dot at each image.

    Parameters
    ----------
    problem : Problem
    estimate : Estimate
        With a relation.
    axes : matplotlib axes, optional
    names : sequence of str, optional
        Names of the elements, shown up to 30 of them; by default those of the problem.

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> e = rt.infer(problem, prove=True)
    >>> axes = rt.plots.relation(problem, e, names=["ann", "anne", "annie"])
    >>> axes.figure.savefig("relation.png")  # doctest: +SKIP
    """
    _require(isinstance(problem, Problem), "A picture is drawn of a Problem", problem)
    _require(isinstance(estimate, Estimate), "A picture is drawn of an Estimate", estimate)
    found = estimate.relation
    if found is None:
        raise DataError(f"There is no relation to draw: {estimate.message}")
    if max(problem.shape) > LARGEST:
        raise DataError(
            f"A picture shows at most {LARGEST} elements, got {problem.shape}; draw a part of them "
            "with problem.restrict(elements)."
        )
    if found.shape != problem.shape:
        raise DataError(
            f"The estimate is about {found.shape} elements, the problem about {problem.shape}; "
            "draw an estimate with the problem that it answers."
        )
    names = problem.ids if names is None else names
    _require_names(names, problem.shape[0])
    axes = new_axes(axes)
    scores = problem.dense()
    if problem.feasible.has("symmetric"):
        scores = scores + scores.T
    _arranged(axes, scores, found, names)
    images = None if problem.names is None else problem.names[1]
    if isinstance(found, PartialMap) and images is not None and len(images) <= 30:
        axes.set_xticks(range(len(images)), [str(x) for x in images], rotation=60, ha="right")
    return axes


def probabilities(known: Any, estimate: Estimate, axes: Any = None, names: Any = None) -> Any:
    """Draw a relation over its log-odds, and beside it the probabilities of its pairs.

    Parameters
    ----------
    known : Probabilities
        What `relatum.probabilities` says of the problem.
    estimate : Estimate
        Of the same problem, with a relation.
    axes : two matplotlib axes, optional
    names : sequence of str, optional
        Names of the elements, shown up to 30 of them.

    Returns
    -------
    The two axes.

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> e = rt.infer(problem, prove=True)
    >>> left, right = rt.plots.probabilities(rt.probabilities(problem), e)
    """
    made = all(hasattr(known, name) for name in ("problem", "matrix", "calibrated"))
    _require(made, "Probabilities are what relatum.probabilities returns", known)
    two = axes is None or (hasattr(axes, "__len__") and len(axes) == 2)
    _require(two, "axes are two matplotlib axes", axes)
    if axes is None:
        figure = new_axes(None, (9.6, 4.2)).figure
        figure.clear()
        axes = figure.subplots(1, 2)
    relation(known.problem, estimate, axes[0], names)
    names = known.problem.ids if names is None else names
    _arranged(axes[1], known.matrix(), estimate.relation, names, _show_probabilities)
    axes[0].set_title("log-odds")
    how = "calibrated" if known.calibrated else "uncalibrated"
    axes[1].set_title(f"probabilities ({'exact' if known.exact else 'estimated'}, {how})")
    return axes


def _arranged(
    axes: Any, scores: Floats, found: Any, names: Any, show: Callable[..., None] | None = None
) -> None:
    """Draw numbers of pairs, elements arranged by a relation, and the relation over them."""
    show = show or _show
    if isinstance(found, Partition):
        _clusters(axes, scores, found, names, show)
    elif isinstance(found, WeakOrder):
        _staircase(axes, scores, found, names, show)
    elif isinstance(found, PartialMap):
        _dots(axes, scores, found, show)
    else:
        show(axes, scores)
        a, b = np.nonzero(found.matrix())
        axes.plot(b, a, "k.", markersize=max(1.0, 120 / len(scores)))


def _show(axes: Any, scores: Floats) -> None:
    limit = float(np.quantile(np.abs(scores), 0.97)) or 1.0
    image = axes.imshow(
        scores, cmap="RdBu", vmin=-limit, vmax=limit, interpolation="nearest", aspect="auto"
    )
    axes.figure.colorbar(image, ax=axes, label="log-odds in bits", shrink=0.8)
    axes.set(xticks=[], yticks=[])


def _show_probabilities(axes: Any, p: Floats) -> None:
    image = axes.imshow(p, cmap="Blues", vmin=0, vmax=1, interpolation="nearest", aspect="auto")
    axes.figure.colorbar(image, ax=axes, label="probability", shrink=0.8)
    axes.set(xticks=[], yticks=[])


def _name(axes: Any, order: Index, names: Any) -> None:
    if names is None or len(order) > 30:
        return
    shown = [str(names[k]) for k in order]
    axes.set_xticks(range(len(order)), shown, rotation=60, ha="right")
    axes.set_yticks(range(len(order)), shown)


def _clusters(axes: Any, scores: Floats, found: Partition, names: Any, show: Any) -> None:
    from matplotlib.patches import Rectangle

    sets = sorted(found.sets(), key=len, reverse=True)
    order = np.concatenate(sets)
    show(axes, scores[np.ix_(order, order)])
    start = -0.5
    for s in sets:
        axes.add_patch(Rectangle((start, start), len(s), len(s), fill=False, lw=1.2))
        start += len(s)
    _name(axes, order, names)


def _staircase(axes: Any, scores: Floats, found: WeakOrder, names: Any, show: Any) -> None:
    order = found.order
    show(axes, scores[np.ix_(order, order)])
    start = -0.5
    for tied in found.classes():
        end = start + len(tied)
        axes.plot([start, start, end], [start, end, end], "k-", lw=1.2)
        start = end
    _name(axes, order, names)
    axes.set_xlabel("blue: row comes before column")


def places(
    estimate: Estimate, costs: ArrayLike, axes: Any = None, names: Any = None, most: int = 40
) -> Any:
    """Draw a ranking from first to last, with the bits behind each place.

    Parameters
    ----------
    estimate : Estimate
        With a linear or weak order; elements that are level stand in one band.
    costs : array-like of shape (n,)
        Bits, such as `relatum.place_costs` gives.
    axes : matplotlib axes, optional
    names : sequence of str, optional
        Names of the elements; by default those of the problem that was estimated.
    most : int
        Elements shown, from the first on.

    Examples
    --------
    >>> import relatum as rt
    >>> scores = [[0.0, 2.0, 1.0], [-2.0, 0.0, 3.0], [-1.0, -3.0, 0.0]]
    >>> problem = rt.Problem(scores, rt.LINEAR_ORDERS)
    >>> e = rt.infer(problem, prove=True)
    >>> axes = rt.plots.places(e, rt.place_costs(problem, e.relation), names=["a", "b", "c"])
    """
    _require(isinstance(estimate, Estimate), "Places are drawn of an Estimate", estimate)
    most = whole_number(most, "most", 1, LARGEST, DataError)
    found, bits = estimate.relation, _numbers(costs, "costs")
    if not isinstance(found, WeakOrder) or bits.shape != (found.shape[0],):
        raise DataError(
            "Places are drawn of a linear or weak order, with one cost per element, got "
            f"{type(found).__name__} and costs of shape {bits.shape}."
        )
    if names is None and estimate.names is not None:
        names = estimate.names[0]
    _require_names(names, found.shape[0])
    order = np.asarray(found.order)[:most]
    axes = new_axes(axes, (5.6, 0.7 + 0.21 * len(order)))
    rank = np.asarray(found.ranks)[order]
    for k, r in enumerate(rank.tolist()):
        if r % 2:
            axes.axhspan(k - 0.5, k + 0.5, color="0.5", alpha=0.12, lw=0)
    axes.barh(np.arange(len(order)), bits[order], color="tab:blue", height=0.62)
    shown = [str(k) if names is None else str(names[k]) for k in order.tolist()]
    above = 1 + np.searchsorted(np.sort(np.asarray(found.ranks)), rank)
    ticks = [f"{name}  {place}" for name, place in zip(shown, above.tolist(), strict=True)]
    axes.set_yticks(range(len(order)), ticks, fontsize=8)
    axes.set(ylim=(len(order) - 0.5, -0.5), xlabel="bits that moving it alone would cost")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return axes


def _dots(axes: Any, scores: Floats, found: PartialMap, show: Any) -> None:
    order = np.argsort(found.labels, kind="stable")
    show(axes, scores[order])
    rows = np.flatnonzero(found.labels[order] >= 0)
    axes.plot(found.labels[order][rows], rows, "k.", markersize=3)
    axes.set(xlabel="label", ylabel="element")
    if scores.shape[1] <= 30:
        axes.set_xticks(range(scores.shape[1]))


def curves(inverse_sigma_squared: ArrayLike, errors: dict[str, ArrayLike], axes: Any = None) -> Any:
    """Draw errors against the strength of the prior, as the paper does.

    Parameters
    ----------
    inverse_sigma_squared : array-like
    errors : dict of name to array-like
        One curve each, such as {"training": ..., "test": ...}.

    Examples
    --------
    >>> import relatum as rt
    >>> errors = {"training": [0.0, 0.1, 0.2], "test": [0.3, 0.2, 0.25]}
    >>> axes = rt.plots.curves([0.5, 1.0, 2.0], errors)
    """
    _require(isinstance(errors, Mapping) and len(errors) > 0, "errors are curves by name", errors)
    strengths = _numbers(inverse_sigma_squared, "inverse_sigma_squared")
    _require(bool((strengths > 0).all()), "inverse_sigma_squared is positive", strengths)
    drawn = {str(name): 100 * _numbers(values, "errors") for name, values in errors.items()}
    for name, values in drawn.items():
        _require(len(values) == len(strengths), f"The curve {name!r} has an error each", values)
    axes = new_axes(axes)
    for name, values in drawn.items():
        axes.plot(strengths, values, "o-", label=name)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="$1/\\sigma^2$", ylabel="error in %")
    axes.legend(frameon=False)
    return axes


def progress(reports: Estimate | Sequence[Any], axes: Any = None) -> Any:
    """Draw value and bound over time.

    Parameters
    ----------
    reports : Estimate, or list of Progress
        What `relatum.infer` returned; or the reports that a monitor received.
    axes : matplotlib axes, optional

    Examples
    --------
    >>> import relatum as rt
    >>> e = rt.infer(rt.Problem([2.0, -1.0, 3.0], rt.EQUIVALENCES), prove=True)
    >>> axes = rt.plots.progress(e)
    """
    rule = "reports are an Estimate, or what a monitor received"
    if isinstance(reports, Estimate):
        _require("reports" in reports.stats, "the estimate is one that infer returned", reports)
        told = reports.stats["reports"]  # plain tuples once they were pickled
        kept = [SimpleNamespace(seconds=r[0], value=r[1], bound=r[2]) for r in told]
    else:
        scalar = getattr(reports, "ndim", 1) == 0  # an array that is iterable by its type only
        _require(isinstance(reports, Iterable) and not scalar, rule, reports)
        kept = list(reports)
    for report in kept:
        _require(all(hasattr(report, x) for x in ("seconds", "bound", "value")), rule, report)
    axes = new_axes(axes)
    seconds = _numbers([r.seconds for r in kept], "seconds")
    for name, style in (("bound", "v-"), ("value", "^-")):
        numbers = _numbers([getattr(r, name) for r in kept], name)
        numbers[~np.isfinite(numbers)] = np.nan
        axes.plot(seconds, numbers, style, markersize=3, label=name)
    axes.set(xlabel="seconds", ylabel="bits")
    axes.legend(frameon=False)
    return axes


def gallery(images: ArrayLike, labels: ArrayLike, axes: Any = None, most: int = 12) -> Any:
    """Draw images of the largest clusters, a row each.

    Parameters
    ----------
    images : array-like of shape (n, height, width) or (n, side * side)
    labels : array-like of shape (n,)
    most : int
        Clusters, and images per cluster.

    Examples
    --------
    >>> import relatum as rt
    >>> train, _ = rt.datasets.load_digits()
    >>> axes = rt.plots.gallery(train.images[:40], train.labels[:40])
    """
    most = whole_number(most, "most", 1, 1000, DataError)
    given, clusters = plain_array(images, "images", DataError), plain_array(labels, "labels")
    _require(given.dtype.kind in "biuf" and given.size > 0, "images are numbers", given)
    if given.ndim not in (2, 3) or clusters.shape != given.shape[:1]:
        raise DataError(
            f"There is a label for each image, of two or three axes; got images of shape "
            f"{given.shape} and labels of shape {clusters.shape}."
        )
    pictures = given.astype(np.float64)
    if pictures.ndim == 2:
        side = round(pictures.shape[1] ** 0.5)
        if side * side != pictures.shape[1]:
            raise DataError(
                f"Flat images are square, got {pictures.shape[1]} pixels; reshape them to "
                "(n, height, width)."
            )
        pictures = pictures.reshape(-1, side, side)
    axes = new_axes(axes)
    try:
        names, sizes = np.unique(clusters, return_counts=True)
    except TypeError:
        raise DataError("labels of several kinds cannot be sorted; write them as texts.") from None
    chosen = names[np.argsort(-sizes, kind="stable")][:most]
    height, width = pictures.shape[1:]
    sheet = np.full((len(chosen) * (height + 1), most * (width + 1)), np.nan)
    for row, name in enumerate(chosen):
        for column, k in enumerate(np.flatnonzero(clusters == name)[:most]):
            top, left = row * (height + 1), column * (width + 1)
            sheet[top : top + height, left : left + width] = pictures[k]
    axes.imshow(sheet, cmap="gray_r", interpolation="nearest")
    axes.set(xticks=[], yticks=[], ylabel="one cluster per row")
    return axes


def explanation(why: Any, axes: Any = None) -> Any:
    """Draw the chain of pairs that decides a pair, from `relatum.explain`.

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> e = rt.infer(problem, prove=True)
    >>> axes = rt.plots.explanation(rt.explain(problem, e, 1, 2))
    """
    told = all(hasattr(why, x) for x in ("pair", "chain", "sentence"))
    _require(told, "An explanation is what relatum.explain returns", why)
    axes = new_axes(axes, (6.0, 2.0))
    elements = [why.pair[0]]
    for link in why.chain:
        elements.append(link.b if link.a == elements[-1] else link.a)
    places = np.arange(len(elements))
    for k, link in enumerate(why.chain):
        axes.plot(
            [k, k + 1],
            [0, 0],
            color="tab:blue" if link.related else "tab:red",
            linestyle="-" if link.related else ":",
            lw=2,
            zorder=1,
        )
        axes.annotate(f"{link.log_odds:.2g}", (k + 0.5, 0.08), ha="center", fontsize=9)
    axes.scatter(places, np.zeros(len(places)), s=420, c="white", edgecolors="black", zorder=2)
    for k, element in enumerate(elements):
        axes.annotate(str(element), (k, 0), ha="center", va="center", color="black", zorder=3)
    axes.set_title(why.sentence, fontsize=8, wrap=True)
    axes.set(ylim=(-0.4, 0.5), xlim=(-0.5, len(elements) - 0.5))
    axes.axis("off")
    return axes
