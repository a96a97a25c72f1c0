"""What notebooks show of results: a sentence, some numbers, and a picture if it can be drawn.

Everything that users wrote is escaped. Text has the colours of the page around it, and pictures lie
on a white card, so that both light and dark pages can be read. A picture is drawn with matplotlib,
if it is there, and left out otherwise, or where it would be large.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from typing import Any

__all__ = ["card", "picture"]

LARGEST = 200_000  # letters of a picture
DOTS = 84  # per inch
_CARD = (
    "border:1px solid rgba(128,128,128,.45);border-radius:8px;padding:10px 14px;max-width:760px;"
    "display:inline-block;color:inherit;font-family:system-ui,sans-serif;font-size:13px;"
    "line-height:1.45"
)
_CELL = "padding:1px 14px 1px 0;text-align:left;color:inherit;background:none;vertical-align:top"


def card(
    title: str, sentences: Sequence[str], rows: Sequence[tuple[str, str]], image: str = ""
) -> str:
    """Return a piece of HTML.

    Parameters
    ----------
    title : str
    sentences : sequence of str
    rows : sequence of (str, str)
        What, and what it is.
    image : str
        What `picture` returned.

    Examples
    --------
    >>> "a &lt; b" in card("Estimate", ["a < b"], [("value", "1")])
    True
    """
    told = "".join(f'<div style="margin-top:3px">{escape(text)}</div>' for text in sentences)
    cells = "".join(
        f'<tr style="background:none"><th style="{_CELL};font-weight:600">{escape(what)}</th>'
        f'<td style="{_CELL}">{escape(value)}</td></tr>'
        for what, value in rows
    )
    table = f'<table style="border-collapse:collapse;margin:6px 0 2px">{cells}</table>'
    head = f'<div style="font-weight:700">{escape(title)}</div>'
    return f'<div style="{_CARD}">{head}{told}{table if rows else ""}{image}</div>'


def picture(draw: Callable[[Any], Any], told: str) -> str:
    """Return an image in HTML; nothing without matplotlib, if it is large, or cannot be drawn.

    Parameters
    ----------
    draw : callable (plots) -> axes or figure
        Is handed `relatum.plots`, which stands above what is drawn and is asked for by its name.
    told : str
        What those read who do not see it.
    """
    if find_spec("matplotlib") is None:
        return ""
    try:
        drawn = draw(import_module("relatum.plots"))
        figure = getattr(drawn, "figure", drawn)
        data = BytesIO()
        figure.savefig(data, format="png", dpi=DOTS, facecolor="white")
    except Exception:  # a notebook shows the rest all the same
        return ""
    text = b64encode(data.getvalue()).decode()
    if len(text) > LARGEST:
        return ""
    style = "background:white;border-radius:6px;padding:4px;margin-top:6px;max-width:100%"
    return f'<img alt="{escape(told)}" style="{style}" src="data:image/png;base64,{text}"/>'
