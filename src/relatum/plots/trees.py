"""Certificates as trees: which cases a proof goes through, and what closes each."""

from __future__ import annotations

from typing import Any

import numpy as np

from relatum.errors import DataError
from relatum.plots.pictures import new_axes
from relatum.problem import Problem, shown, whole_number
from relatum.proof import (
    Branch,
    Certificate,
    Contract,
    Decompose,
    Estimate,
    Fix,
    Imply,
    Leaf,
    Merge,
    Prices,
)

COLORS = {
    Branch: "#fcd34d",
    Decompose: "#93c5fd",
    Contract: "#93c5fd",
    Merge: "#93c5fd",
    Fix: "#cbd5e1",
    Imply: "#cbd5e1",
}


def certificate(
    estimate: Any, axes: Any = None, problem: Problem | None = None, most: int = 60
) -> Any:
    """Draw the proof of a bound as a tree.

    Blue nodes take the problem apart, yellow ones tell two cases apart by a pair, grey ones fix
    pairs, green ones are leaves, where rows and multipliers give the bound.

    Parameters
    ----------
    estimate : Estimate or Certificate
        With a certificate.
    axes : matplotlib axes, optional
    problem : Problem, optional
        What it is about; its ids are then the names of elements.
    most : int
        Nodes that are drawn, those nearest to the root; where others follow, "..." is written.

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> axes = rt.plots.certificate(rt.infer(problem, prove=True))
    """
    proof = estimate.certificate if isinstance(estimate, Estimate) else estimate
    if not isinstance(proof, Certificate):
        raise DataError(
            f"A certificate is drawn of an Estimate that has one, got {shown(estimate)}; ask for "
            "it with rt.infer(problem, prove=True)."
        )
    if problem is not None and not isinstance(problem, Problem):
        raise DataError(
            f"The problem that a certificate is about is a Problem, got {shown(problem)}."
        )
    most = whole_number(most, "most", 1, 2000, DataError)
    names = None if problem is None else problem.ids
    nodes = _nodes(proof.proof, names, most)
    places = _places(nodes)
    width = 1 + max(x for x, _ in places)
    depth = 1 - min(y for _, y in places)
    axes = new_axes(axes, (max(4.5, 1.25 * width), max(2.5, 0.95 * depth)))
    for (parent, text, color), (x, y) in zip(nodes, places, strict=True):
        if parent >= 0:
            axes.plot([places[parent][0], x], [places[parent][1], y], color="0.6", lw=1, zorder=1)
        box = {"boxstyle": "round", "facecolor": color, "edgecolor": "none"}
        axes.text(x, y, text, ha="center", va="center", fontsize=7, color="#111", bbox=box)
    axes.set(xlim=(-0.7, width - 0.3), ylim=(0.6 - depth, 0.5))
    axes.set_title(f"no relation has more than {proof.bound:g} bits", fontsize=9)
    axes.axis("off")
    return axes


def _nodes(proof: Any, names: Any, most: int) -> list[tuple[int, str, str]]:
    """Return (parent, text, color) of the nodes, breadth first."""
    nodes: list[tuple[int, str, str]] = []
    todo: list[tuple[int, str, Any]] = [(-1, "", proof)]
    while todo:
        if len(nodes) >= most:
            return nodes + [(p, "...", "#e5e7eb") for p in sorted({p for p, _, _ in todo})]
        parent, case, node = todo.pop(0)
        said = f"{case}\n{_text(node, names)}" if case else _text(node, names)
        nodes.append((parent, said, COLORS.get(type(node), "#86efac")))
        todo += [(len(nodes) - 1, text, child) for text, child in _children(node)]
    return nodes


def _children(node: Any) -> list[tuple[str, Any]]:
    if isinstance(node, Branch):
        return [("no", node.unrelated), ("yes", node.related)]
    if isinstance(node, Decompose):
        return [(f"{len(part)} elements", child) for part, _, child in node.parts]
    return [("", node.then)] if hasattr(node, "then") else []


def _text(node: Any, names: Any) -> str:
    if isinstance(node, Branch):
        a, b = (k if names is None else names[k] for k in node.pair)
        return f"{a} ~ {b}?"
    if isinstance(node, Decompose):
        return f"{len(node.parts)} parts"
    if isinstance(node, Contract | Merge):
        return f"{int(node.labels.max()) + 1} sets of\n{len(node.labels)} elements"
    if isinstance(node, Fix | Imply):
        return f"{len(node.pairs)} pairs {'fixed' if isinstance(node, Fix) else 'follow'}"
    if isinstance(node, Leaf | Prices):
        rows = sum(len(cuts) for cuts in node.cuts)
        told = f"{rows} row{'s' * (rows != 1)}" if rows else "pair by pair"
        priced = f"\n{len(node.prices)} prices" if isinstance(node, Prices) else ""
        return told + priced + ("\nimpossible" if getattr(node, "infeasible", False) else "")
    return "counted"


def _places(nodes: list[tuple[int, str, str]]) -> list[tuple[float, float]]:
    """Return where nodes stand: leaves side by side, others above the middle of theirs."""
    children: list[list[int]] = [[] for _ in nodes]
    for k, (parent, _, _) in enumerate(nodes):
        if parent >= 0:
            children[parent].append(k)
    x, y = np.zeros(len(nodes)), np.zeros(len(nodes))
    for k, (parent, _, _) in enumerate(nodes):
        y[k] = y[parent] - 1 if parent >= 0 else 0
    column, todo = 0, [0]
    while todo:  # depth first: leaves from left to right
        node = todo.pop()
        todo += children[node][::-1]
        if not children[node]:
            x[node], column = column, column + 1
    for node in range(len(nodes) - 1, -1, -1):  # children come after their parents
        if children[node]:
            x[node] = np.mean(x[children[node]])
    return list(zip(x.tolist(), y.tolist(), strict=True))
