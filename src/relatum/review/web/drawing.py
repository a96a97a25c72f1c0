"""Pictures as SVG: the scores of a component by cluster, its graph of strong pairs, sizes.

Nothing but numbers and escaped names goes in; colours are classes of the style sheet, so that light
and dark pages have their own. Pairs carry their elements in ``data-`` attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from relatum.array_types import Floats, Index
from relatum.plots import layout
from relatum.problem import SparseScores
from relatum.review.warm import Solved

READABLE = 200  # elements of a picture; of larger components, the clusters around one element
NAMED = 40  # elements up to which all have their names beside them
LETTERS = 14  # of a name in a picture
EDGES = 800  # lines of a graph: the strongest pairs
LEVELS = 4  # of colours on each side of zero
SIDE = 460.0  # of a picture, in its own units


@dataclass(frozen=True, eq=False)
class Extract:
    """The part of a component that is drawn.

    Attributes
    ----------
    places : integer array
        Elements within the component, cluster by cluster.
    labels : integer array
        Their clusters.
    bits : float array (n, n)
        Listed scores; NaN where nobody scored a pair.
    facts : mapping of pairs of places, in the order drawn, to whether they are the same
    """

    solved: Solved
    places: Index
    labels: Index
    bits: Floats
    facts: Mapping[tuple[int, int], bool]

    @property
    def n(self) -> int:
        """How many elements are drawn."""
        return len(self.places)

    @property
    def elements(self) -> list[int]:
        """Their numbers in the table."""
        return [int(e) for e in self.solved.base.elements[self.places]]

    def name(self, k: int, letters: int | None = None) -> str:
        """Return the id of one of them, cut to a number of letters."""
        own = self.solved.base.ids[int(self.places[k])]
        text = " ".join(map(str, own)) if isinstance(own, tuple) else str(own)
        text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:200])
        return text if letters is None or len(text) <= letters else text[: letters - 1] + "…"


def extract(solved: Solved, focus: int | None = None, most: int = READABLE) -> Extract:
    """Choose what is drawn: all, or the cluster of an element and those nearest to it.

    Parameters
    ----------
    solved : Solved
    focus : int, optional
        An element, by its number in the table.
    most : int
    """
    scores = solved.base.problem.scores
    assert isinstance(scores, SparseScores)
    labels, n = solved.labels, solved.base.n
    chosen = np.arange(n)
    if n > most:
        middle = 0 if focus is None else solved.base.place(focus)
        chosen = _around(scores, labels, middle, most)
    sizes = np.bincount(labels)
    order = np.lexsort((chosen, labels[chosen], -sizes[labels[chosen]]))
    places = chosen[order]
    where = np.full(n, -1, np.int64)
    where[places] = np.arange(len(places))
    bits = np.full((len(places), len(places)), np.nan)
    i, j = where[scores.i], where[scores.j]
    inside = (i >= 0) & (j >= 0)
    bits[i[inside], j[inside]] = bits[j[inside], i[inside]] = scores.log_odds[inside]
    facts = {}
    for fact in solved.facts:
        a, b = (int(where[solved.base.place(e)]) for e in (fact.a, fact.b))
        if a >= 0 and b >= 0:
            facts[min(a, b), max(a, b)] = fact.same
    return Extract(solved, places, labels[places], bits, facts)


def _around(scores: SparseScores, labels: Index, middle: int, most: int) -> Index:
    """Return an element's cluster and those nearest to it."""
    ends = np.concatenate([scores.i, scores.j]), np.concatenate([scores.j, scores.i])
    weight = np.tile(np.asarray(scores.log_odds, np.float64), 2)
    taken = labels == labels[middle]
    while taken.sum() < most:
        out = taken[ends[0]] & ~taken[ends[1]]
        near = np.full(int(labels.max()) + 1, -np.inf)
        np.maximum.at(near, labels[ends[1][out]], weight[out])
        if not np.isfinite(near).any():
            break
        following = labels == int(near.argmax())
        if taken.sum() + following.sum() > most:
            break
        taken |= following
    return np.flatnonzero(taken)[:most]


def matrix(drawn: Extract) -> Markup:
    """Draw the scores as a matrix, elements ordered by cluster: blue for, red against."""
    n = max(1, drawn.n)
    room = 96.0 if drawn.n <= NAMED else 8.0
    step = SIDE / n
    known = np.abs(drawn.bits[np.triu(~np.isnan(drawn.bits), 1)])
    limit = float(np.quantile(known, 0.9)) if known.size else 1.0
    with np.errstate(invalid="ignore"):
        level = np.ceil(np.abs(drawn.bits) / (limit or 1.0) * LEVELS)
    level = np.where(np.isnan(drawn.bits), 0, np.clip(level, 1, LEVELS) * np.sign(drawn.bits))
    np.fill_diagonal(level, 0)
    parts = [f'<rect class="unscored" x="0" y="0" width="{SIDE:g}" height="{SIDE:g}"/>']
    for k in (*range(-LEVELS, 0), *range(1, LEVELS + 1)):
        path = _cells(level == k)
        if path:
            name = f"{'for' if k > 0 else 'not'}{abs(k)}"
            parts.append(f'<path class="{name}" transform="scale({step:.4f})" d="{path}"/>')
    for start, end in _runs(drawn.labels):
        x, width = start * step, (end - start) * step
        parts.append(
            f'<rect class="cluster" x="{x:.2f}" y="{x:.2f}" width="{width:.2f}" '
            f'height="{width:.2f}"/>'
        )
    for (a, b), same in drawn.facts.items():
        for x, y in ((a, b), (b, a)):
            parts.append(
                f'<circle class="{"same" if same else "different"}" cx="{(x + 0.5) * step:.2f}" '
                f'cy="{(y + 0.5) * step:.2f}" r="{max(1.5, min(6, step * 0.28)):.2f}"/>'
            )
    parts += [f'<rect class="cursor" x="0" y="0" width="{step:.3f}" height="{step:.3f}"/>']
    if drawn.n <= NAMED:
        size = min(12.0, max(7.0, step * 0.7))
        for k in range(drawn.n):
            name, at = escape(drawn.name(k, LETTERS)), (k + 0.5) * step
            parts.append(
                f'<text class="name" x="-5" y="{at:.2f}" font-size="{size:.1f}" dy="0.32em" '
                f'text-anchor="end">{name}</text>'
                f'<text class="name" font-size="{size:.1f}" dy="0.32em" text-anchor="end" '
                f'transform="translate({at:.2f},{SIDE + 6:.1f}) rotate(-60)">{name}</text>'
            )
    label = f"Scores of {drawn.n} records, ordered by cluster"
    below = room if drawn.n <= NAMED else 8.0
    return _svg(
        f"{-room:g} -8 {SIDE + room + 8:g} {SIDE + below + 8:g}",
        label,
        parts,
        f'class="matrix" data-side="{SIDE:g}" data-elements="{_listed(drawn.elements)}"',
    )


def _cells(chosen: Any) -> str:
    """Return the path of some cells of a matrix, one wide and high, neighbours in a row as one."""
    out = []
    for row in range(len(chosen)):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], chosen[row].astype(np.int8), [0]])))
        for start, end in edges.reshape(-1, 2).tolist():
            out.append(f"M{start} {row}h{end - start}v1h{start - end}z")
    return "".join(out)


def _runs(labels: Index) -> list[tuple[int, int]]:
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1])[: len(labels)])
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(labels)], strict=True))


def _listed(numbers: Sequence[int]) -> str:
    return ",".join(str(int(k)) for k in numbers)


def graph(drawn: Extract) -> Markup:
    """Draw the graph of strong pairs: for and inside a cluster, for and cut, against and inside."""
    if not drawn.n:
        return Markup("")
    with np.errstate(invalid="ignore"):
        strong = np.where(drawn.bits > 0, drawn.bits, 0.0)
    at = layout(strong, drawn.labels)
    low, high = at.min(axis=0), at.max(axis=0)
    span = float(max((high - low).max(), 1e-6))
    margin = 34.0
    at = (at - (low + high) / 2) / span * (SIDE - 2 * margin) + SIDE / 2
    parts = [_edge(drawn, at, *edge) for edge in _edges(drawn)]
    radius = float(np.clip(60 / np.sqrt(drawn.n), 3.2, 11))
    for k, element in enumerate(drawn.elements):
        x, y = at[k]
        parts.append(
            f'<a href="#r{element}" tabindex="-1"><circle class="record c{drawn.labels[k] % 8}" '
            f'data-element="{element}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">'
            f"<title>{escape(drawn.name(k))}</title></circle></a>"
        )
        if drawn.n <= NAMED:
            parts.append(
                f'<text class="name" x="{x:.1f}" y="{y - radius - 3:.1f}" text-anchor="middle" '
                f'font-size="{11 if drawn.n <= 25 else 8}">{escape(drawn.name(k, LETTERS))}</text>'
            )
    return _svg(f"0 0 {SIDE:g} {SIDE:g}", f"Strong pairs of {drawn.n} records", parts,
                'class="graph"')  # fmt: skip


def _edges(drawn: Extract) -> list[tuple[int, int, str]]:
    """Return the pairs that are drawn as lines: answers, and the strongest scores."""
    same = drawn.labels[:, None] == drawn.labels[None, :]
    upper = np.triu(np.ones_like(same), 1)
    with np.errstate(invalid="ignore"):
        told = upper & ((drawn.bits > 0) | (same & (drawn.bits < 0)))
    a, b = np.nonzero(told)
    order = np.argsort(-np.abs(drawn.bits[a, b]), kind="stable")[:EDGES]
    out = []
    for p, q in zip(a[order].tolist(), b[order].tolist(), strict=True):
        kind = "against" if drawn.bits[p, q] < 0 else "inside" if same[p, q] else "cut"
        out.append((p, q, kind))
    known = [(p, q, "same" if yes else "different") for (p, q), yes in drawn.facts.items()]
    return sorted(out, key=lambda e: ("inside", "against", "cut").index(e[2])) + known


def _edge(drawn: Extract, at: Floats, p: int, q: int, kind: str) -> str:
    bits, elements = drawn.bits[p, q], drawn.elements
    own = "not scored" if np.isnan(bits) else f"{bits:+.2f} bits"
    told = {"same": "answered: same", "different": "answered: different"}.get(kind, kind)
    title = escape(f"{drawn.name(p)} – {drawn.name(q)}: {own}, {told}")
    ends = f'x1="{at[p][0]:.1f}" y1="{at[p][1]:.1f}" x2="{at[q][0]:.1f}" y2="{at[q][1]:.1f}"'
    return (
        f'<a href="?a={elements[p]}&amp;b={elements[q]}#pair" tabindex="-1">'
        f'<line class="edge {kind}" data-a="{elements[p]}" data-b="{elements[q]}" {ends}>'
        f"<title>{title}</title></line></a>"
    )


def histogram(sizes: Mapping[int, int]) -> Markup:
    """Draw how many clusters there are of each size; from ten on, by powers of ten."""
    bars: dict[str, int] = {}
    for size, count in sorted(sizes.items()):
        name = str(size) if size < 10 else _decade(size)
        bars[name] = bars.get(name, 0) + count
    top, parts = max(bars.values(), default=1), []
    width, height, base = 46.0, 120.0, 140.0
    for k, (name, count) in enumerate(bars.items()):
        tall = max(2.0, height * count / top)
        x = 8 + k * width
        parts.append(
            f'<rect class="bar" x="{x:.1f}" y="{base - tall:.1f}" width="{width - 10:.1f}" '
            f'height="{tall:.1f}"><title>{count:,} clusters of {name}</title></rect>'
            f'<text class="name" x="{x + width / 2 - 5:.1f}" y="{base - tall - 4:.1f}" '
            f'text-anchor="middle" font-size="11">{_short(count)}</text>'
            f'<text class="name" x="{x + width / 2 - 5:.1f}" y="{base + 14:.1f}" '
            f'text-anchor="middle" font-size="11">{name}</text>'
        )
    told = ", ".join(f"{count:,} of {name}" for name, count in bars.items())
    wide = 16 + width * max(1, len(bars))
    return _svg(f"0 0 {wide:g} {base + 22:g}", f"Clusters by size: {told}", parts,
                f'class="histogram" width="{wide:g}"')  # fmt: skip


def _decade(size: int) -> str:
    low = 10 ** (len(str(size)) - 1)
    return f"{low:,}+" if size < 10**7 else "10^7+"


def _short(count: int) -> str:
    for unit, name in ((1_000_000, "m"), (10_000, "k")):
        if count >= unit:
            return f"{count / (unit if name == 'm' else 1000):.3g}{name}"
    return f"{count:,}"


def _svg(box: str, label: str, parts: Sequence[str], more: str) -> Markup:
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" '
        f'aria-label="{escape(label)}" {more}>{"".join(parts)}</svg>'
    )
