"""Pictures of the clusters of a component: scores as a matrix, and the graph of strong pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.plots.pictures import new_axes
from relatum.problem import Partition, Problem, SparseScores
from relatum.proof import Estimate

READABLE = 200  # elements of a component that a picture of it shows
NAMED = 40  # of which names are written


def component(
    problem: Problem, estimate: Estimate, axes: Any = None, element: int | None = None
) -> Any:
    """Draw the clusters of a component: all its scores, and the graph of its strong pairs.

    On the left, the log-odds of all pairs, clusters as blocks; pairs that nobody scored are grey.
    On the right, elements of one colour are a cluster, and blue lines are positive pairs inside
    them. Conflicts stand out on both sides: positive pairs that are cut (orange, dashed), and
    negative pairs inside clusters (red, dotted).

    Parameters
    ----------
    problem : Problem
        Of equivalence relations; ``problem.ids`` are shown up to 40 elements.
    estimate : Estimate
        With a relation.
    axes : two matplotlib axes, optional
    element : int, optional
        Of components of more than 200 elements, those around this one are drawn.

    Returns
    -------
    matplotlib figure

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> e = rt.infer(problem, prove=True)
    >>> axes = rt.plots.component(problem, e)
    """
    if not isinstance(problem, Problem) or not isinstance(estimate, Estimate):
        raise DataError(
            "A component is drawn of a relatum.Problem and an estimate of it, got "
            f"{type(problem).__name__} and {type(estimate).__name__}."
        )
    found = estimate.relation
    if not isinstance(found, Partition) or found.shape != problem.shape:
        raise DataError(f"There are no clusters to draw: {estimate.message}")
    labels, n = found.labels, problem.n
    shown = np.arange(n)
    if n > READABLE:
        centre = 0 if element is None else int(problem.numbers(element))
        shown = _around(problem, labels, centre)
        problem, labels = problem.restrict(shown), labels[shown]
    left, right = _two_axes(axes)
    listed = _listed_scores(problem)
    names = [str(k) for k in shown] if problem.ids is None else [str(x) for x in problem.ids]
    names = [name if len(name) <= 24 else name[:23] + "\u2026" for name in names]
    sizes = np.bincount(labels)
    strength = np.nansum(np.where(labels[:, None] == labels[None, :], listed, 0.0), axis=1)
    order = np.lexsort((-strength, labels, -sizes[labels]))
    _component_matrix(left, listed, labels, order, names)
    _component_graph(right, listed, labels, names)
    part = "" if len(shown) == n else f"the nearest {len(shown)} of {n:,} elements, "
    gap = "proven optimal" if estimate.gap < 1e-6 else f"gap {estimate.gap:.3g} bits"
    count = int(np.count_nonzero(sizes))
    right.set_title(f"{part}{count} cluster{'s' * (count > 1)}; {gap}", fontsize=9)
    return left.figure


def _two_axes(axes: Any) -> Any:
    if axes is not None:
        if not isinstance(axes, Sequence | np.ndarray) or len(axes) != 2:
            raise DataError(f"axes are two of matplotlib, got {type(axes).__name__}.")
        return [new_axes(one) for one in axes]
    new_axes(None)  # or say what is missing
    from matplotlib.figure import Figure

    return Figure(figsize=(11.0, 5.2), layout="constrained").subplots(1, 2)


def _around(problem: Problem, labels: Index, element: int) -> Index:
    """Return an element's cluster and those nearest to it, `READABLE` elements at most."""
    if isinstance(problem.scores, SparseScores):
        i, j, w = problem.scores.i, problem.scores.j, problem.scores.log_odds
    else:
        matrix = problem.dense()
        i, j = np.triu_indices(problem.n, 1)
        w = matrix[i, j] + matrix[j, i]
    ends = np.concatenate([i, j]), np.concatenate([j, i])
    taken = labels == labels[element]
    while taken.sum() < min(READABLE, problem.n):
        out = taken[ends[0]] & ~taken[ends[1]]
        near = np.full(problem.n, -np.inf)
        np.maximum.at(near, labels[ends[1][out]], np.tile(w, 2)[out])
        linked = np.flatnonzero(np.isfinite(near))
        if not len(linked):
            break
        for label in linked[np.argsort(-near[linked], kind="stable")]:
            taken |= labels == label
            if taken.sum() >= READABLE:
                break
    others = np.flatnonzero(taken & (labels != labels[element]))
    own = np.flatnonzero(labels == labels[element])
    first = np.concatenate([[element], own[own != element], others])
    return np.sort(first[:READABLE])


def _listed_scores(problem: Problem) -> Floats:
    """Return a symmetric matrix of log-odds, NaN where nobody scored the pair."""
    if not isinstance(problem.scores, SparseScores):
        matrix = problem.dense()
        return matrix + matrix.T
    matrix = np.full((problem.n, problem.n), np.nan)
    s = problem.scores
    matrix[s.i, s.j] = matrix[s.j, s.i] = s.log_odds
    return matrix


def _conflicts(listed: Floats, labels: Index) -> tuple[Any, Any]:
    """Return the pairs i < j that are positive and cut, and that are negative and inside."""
    same = labels[:, None] == labels[None, :]
    upper = np.triu(np.ones_like(same), 1)
    with np.errstate(invalid="ignore"):
        return np.nonzero((listed > 0) & ~same & upper), np.nonzero((listed < 0) & same & upper)


def _component_matrix(
    axes: Any, listed: Floats, labels: Index, order: Index, names: list[str]
) -> None:
    from matplotlib.patches import Rectangle

    n = len(order)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    known = np.abs(listed[np.triu(~np.isnan(listed), 1)])
    limit = float(np.quantile(known, 0.97)) if known.size else 1.0
    shown = np.ma.masked_invalid(listed[np.ix_(order, order)])
    np.fill_diagonal(shown, np.ma.masked)
    axes.set_facecolor("0.88")
    image = axes.imshow(
        shown, cmap="RdBu", vmin=-(limit or 1.0), vmax=limit or 1.0, interpolation="nearest"
    )
    axes.figure.colorbar(image, ax=axes, label="log-odds in bits; grey: not scored", shrink=0.8)
    starts = np.flatnonzero(np.append(True, labels[order][1:] != labels[order][:-1]))
    for start, end in zip(starts, np.append(starts[1:], n), strict=True):
        size = end - start
        axes.add_patch(Rectangle((start - 0.5, start - 0.5), size, size, fill=False, lw=1.4))
    marks = zip(_conflicts(listed, labels), ("tab:orange", "tab:red"), strict=True)
    for (a, b), colour in marks:
        ends = np.concatenate([place[a], place[b]]), np.concatenate([place[b], place[a]])
        side = max(2.0, 200 / n)
        axes.plot(*ends, "s", mfc="none", mec=colour, markersize=side, mew=max(0.8, side / 12))
    axes.set(xticks=[], yticks=[])
    if n <= NAMED:
        size = 8 if n <= 25 else 6
        axes.set_xticks(range(n), [names[k] for k in order], rotation=60, ha="right", fontsize=size)
        axes.set_yticks(range(n), [names[k] for k in order], fontsize=size)


def _component_graph(axes: Any, listed: Floats, labels: Index, names: list[str]) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    n = len(labels)
    with np.errstate(invalid="ignore"):
        positive = np.where(listed > 0, listed, 0.0)
    at = layout(positive, labels)
    inside = np.triu((positive > 0) & (labels[:, None] == labels[None, :]), 1)
    a, b = np.nonzero(inside)
    top = float(positive.max(initial=1.0)) or 1.0
    widths = 0.3 + 1.5 * positive[a, b] / top
    axes.add_collection(
        LineCollection(list(np.stack([at[a], at[b]], axis=1)), linewidths=widths, colors="tab:blue",
                       alpha=0.6 if n <= 60 else 0.3, zorder=1)
    )  # fmt: skip
    cut, against = _conflicts(listed, labels)
    for (p, q), colour, style in ((cut, "tab:orange", "--"), (against, "tab:red", ":")):
        lines = list(np.stack([at[p], at[q]], axis=1))
        axes.add_collection(
            LineCollection(
                lines, linewidths=1.3 if n <= 60 else 0.8, colors=colour, linestyles=style, zorder=2
            )
        )
    colours = np.unique(labels, return_inverse=True)[1] % 20
    size = float(np.clip(4000 / n, 14, 160))
    axes.scatter(*at.T, s=size, c=colours, cmap="tab20", vmin=0, vmax=19, edgecolors="k",
                 linewidths=0.6, zorder=3)  # fmt: skip
    if n <= NAMED:
        for k, name in enumerate(names):
            axes.annotate(name, at[k], xytext=(0, 7), textcoords="offset points", ha="center",
                          fontsize=8 if n <= 25 else 6, zorder=4)  # fmt: skip
    told: Any = (("tab:blue", "-", f"positive, inside ({len(a)})"),
            ("tab:orange", "--", f"positive, cut ({len(cut[0])})"),
            ("tab:red", ":", f"negative, inside ({len(against[0])})"))  # fmt: skip
    handles = [Line2D([], [], color=c, linestyle=s, label=text) for c, s, text in told]
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3,
                frameon=False, fontsize=8)  # fmt: skip
    axes.margins(0.12)
    axes.set_aspect("equal", adjustable="datalim")
    axes.axis("off")


def layout(cut: Floats, labels: Index) -> Floats:
    """Place elements: clusters near those that they have strong pairs with, and each a disc.

    The same picture every time.
    """
    cluster = np.unique(labels, return_inverse=True)[1]
    sizes = np.bincount(cluster)
    radius = np.where(sizes == 1, 0.3, 0.35 + 0.38 * np.sqrt(sizes))
    one = np.eye(len(sizes))[cluster]
    centre = _springs(one.T @ cut @ one)
    far = np.linalg.norm(centre[:, None] - centre[None, :], axis=2)
    needed = radius[:, None] + radius[None, :] + 0.4
    np.fill_diagonal(needed, 0.0)
    centre = centre * float((needed / np.maximum(far, 1e-9)).max(initial=0.0))
    at = np.empty((len(labels), 2))
    for k, middle in enumerate(centre):
        own = np.flatnonzero(cluster == k)
        turn = np.arange(len(own))
        r, angle = np.full(len(own), radius[k] * (len(own) > 1)), 2 * np.pi * turn / len(own)
        if len(own) > 8:  # not a ring, but as the seeds of a sunflower
            r *= np.sqrt((turn + 0.5) / len(own))
            angle = np.asarray(2.399963 * turn, dtype=np.float64)
        at[own] = middle + np.column_stack([r * np.cos(angle + 0.4), r * np.sin(angle + 0.4)])
    return at


def _springs(pull: Floats) -> Floats:
    """Place points so that those that pull at each other are near."""
    n = len(pull)
    pull = pull - np.diag(np.diag(pull))
    pull = pull / (pull.max(initial=0.0) or 1.0)
    angle = 2 * np.pi * np.arange(n) / n
    at = np.column_stack([np.cos(angle), np.sin(angle)])
    distance = 1.2 / np.sqrt(n)  # between neighbours, if they filled the square
    for heat in np.linspace(0.12, 0.002, 150):
        apart = at[:, None, :] - at[None, :, :]
        far = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        push = distance**2 / far**2 - pull * far / distance
        step = (apart * push[:, :, None]).sum(axis=1) - 0.3 * distance * at
        length = np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-9)
        at = at + step / length * np.minimum(length, heat)
    return np.asarray(at)
