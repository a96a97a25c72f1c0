"""Matrices with their elements drawn beside them, as SVG for pages: sharp at every size.

Lines and letters have the colour of the page's text, so that they are seen on light and on dark
pages; blue is related, red unrelated, as in all pictures.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.problem import LinearOrder, Partition

__all__ = ["chain", "clusters", "labels", "order", "pairs"]

Colors = NDArray[np.uint8]
CELL = 10  # units of a cell, and of an image beside it


def _png(pixels: Colors) -> str:
    from matplotlib.image import imsave

    buffer = io.BytesIO()
    imsave(buffer, pixels, format="png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _colors(scores: Floats) -> Colors:
    from matplotlib import colormaps

    limit = float(np.quantile(np.abs(scores), 0.97)) or 1.0
    found = colormaps["RdBu"](np.clip(0.5 + scores / (2 * limit), 0, 1), bytes=True)
    return np.asarray(found)[..., :3]


def _ink(images: Floats) -> Floats:
    """Return square images as ink on paper: 255 is white."""
    side = round(images.shape[1] ** 0.5)
    ink = images.reshape(-1, side, side) / max(float(images.max()), 1.0)
    return np.pad(255 * (1 - ink), ((0, 0), (1, 1), (1, 1)), constant_values=255)


def _strip(images: Floats, axis: int) -> str:
    grey = np.concatenate(list(_ink(images)), axis=axis).astype(np.uint8)
    return _png(np.repeat(grey[..., None], 3, axis=2))


def _image(source: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<image x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
        f'preserveAspectRatio="none" href="{source}"></image>'
    )


def _rectangle(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"></rect>'


def _text(
    x: float, y: float, said: str, size: float, anchor: str = "middle", more: str = ""
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"{more}>'
        f"{html.escape(said)}</text>"
    )


def _drawing(width: float, height: float, parts: Iterable[str], told: str) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{html.escape(told)}">'
        f"{''.join(parts)}</svg>"
    )


def clusters(
    scores: Floats, found: Partition, images: Floats, told: str, marked: Sequence[Any] = ()
) -> str:
    """Draw scores of pairs, clusters as blocks, the elements along both sides.

    Parameters
    ----------
    scores : array of shape (n, n)
    found : Partition
    images : array of shape (n, side * side)
    told : str
        What the picture shows, for those who do not see it.
    marked : sequence of (int, int)
        Pairs that are framed, such as evidence.
    """
    sets = sorted(found.sets(), key=len, reverse=True)
    by_set: Index = np.concatenate(sets)
    n, at = len(by_set), 4.3 * CELL
    size = n * CELL
    parts = [_image(_png(_colors(scores[np.ix_(by_set, by_set)])), at, at, size, size)]
    for turn in (0, 1):  # in two rows, twice as large as cells: each over the middle of its own
        own = images[by_set[turn::2]]
        start, long = at + (turn - 0.5) * CELL, len(own) * 2 * CELL
        if len(own):
            parts.append(_image(_strip(own, 1), start, turn * 2.1 * CELL, long, 2 * CELL))
            parts.append(_image(_strip(own, 0), turn * 2.1 * CELL, start, 2 * CELL, long))
    start = 0.0
    for one in sets:
        side = len(one) * CELL
        parts.append(_rectangle(at + start, at + start, side, side, "block"))
        start += side
    place = np.argsort(by_set)
    for a, b in marked:
        for row, column in ((place[a], place[b]), (place[b], place[a])):
            parts.append(_rectangle(at + column * CELL, at + row * CELL, CELL, CELL, "told"))
    return _drawing(at + size + CELL, at + size + CELL, parts, told)


def labels(scores: Floats, chosen: Index, names: Sequence[str], images: Floats, told: str) -> str:
    """Draw a map: elements side by side, a row for each label, the label chosen framed."""
    n, height = len(images), CELL * len(names)
    at, top = 1.2 * CELL, 1.2 * CELL
    parts = [
        _image(_strip(images, 1), at, 0, n * CELL, CELL),
        _image(_png(_colors(scores.T)), at, top, n * CELL, height),
    ]
    for k, name in enumerate(names):
        parts.append(_text(at - 3, top + (k + 0.75) * CELL, name, 7, "end"))
    for k, label in enumerate(chosen.tolist()):
        parts.append(_rectangle(at + k * CELL, top + label * CELL, CELL, CELL, "block"))
    return _drawing(at + n * CELL, top + height, parts, told)


def order(scores: Floats, found: LinearOrder, names: Sequence[str], told: str) -> str:
    """Draw log-odds of "row before column" with their numbers, from first to last."""
    by_rank = np.asarray(found.order)
    n, wide, high = len(by_rank), 34.0, 22.0
    at, top = 62.0, 20.0
    arranged = scores[np.ix_(by_rank, by_rank)]
    parts = [_image(_png(_colors(arranged)), at, top, n * wide, n * high)]
    for k, element in enumerate(by_rank.tolist()):
        parts.append(_text(at - 5, top + (k + 0.65) * high, names[element], 11, "end"))
        parts.append(_text(at + (k + 0.5) * wide, top - 6, names[element], 9))
        for other in range(n):
            if other != k:
                x, y = at + (other + 0.5) * wide, top + (k + 0.65) * high
                dark = abs(arranged[k, other]) > 0.6 * np.abs(arranged).max()
                ink = f' style="fill:{"#fff" if dark else "#111"}"'
                parts.append(_text(x, y, f"{arranged[k, other]:.1f}", 9, "middle", ink))
    stairs = " ".join(f"V{top + k * high:g} H{at + k * wide:g}" for k in range(1, n + 1))
    parts.append(f'<path class="block" d="M{at:g},{top:g} {stairs}"></path>')
    return _drawing(at + n * wide + 4, top + n * high + 4, parts, told)


def chain(why: Any, images: Floats, told: str) -> str:
    """Draw the chain of pairs that decides a pair, the elements as images."""
    elements = [why.pair[0]]
    for link in why.chain:
        elements.append(link.b if link.a == elements[-1] else link.a)
    step, side, parts = 62.0, 30.0, []
    for k, link in enumerate(why.chain):
        x = k * step + side
        kind = "for" if link.related else "against"
        parts.append(f'<path class="{kind}" d="M{x:g},26 h{step - side:g}"></path>')
        parts.append(_text(x + (step - side) / 2, 20, f"{link.log_odds:+.1f}", 9))
    for k, element in enumerate(elements):
        parts.append(_image(_strip(images[[element]], 0), k * step, 26 - side / 2, side, side))
    return _drawing((len(elements) - 1) * step + side, 44, parts, told)


def pairs(some: Sequence[tuple[int, int, bool]], images: Floats, told: str) -> str:
    """Draw pairs of elements with = or ≠ between, side by side."""
    side, parts = 30.0, []
    for k, (a, b, same) in enumerate(some):
        x, y = (k % 3) * 116.0, (k // 3) * 40.0
        parts.append(_image(_strip(images[[a]], 0), x, y, side, side))
        parts.append(_text(x + side + 12, y + 21, "=" if same else "≠", 18))
        parts.append(_image(_strip(images[[b]], 0), x + side + 24, y, side, side))
    rows = max(1, -(-len(some) // 3))
    return _drawing(316, rows * 40 - 10, parts, told)
