"""Figures: one per part and experiment, with curves through the numbers."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from instances.reproduction import TINY
from relatum.reproduction import FULL, figures
from relatum.reproduction.settings import Lifting

NAMES = [
    "maps_error",
    "maps_seconds",
    "pairs_error",
    "pairs_seconds",
    "equivalences",
    "orders_metrics",
    "orders_seconds",
]


def test_all_figures_are_drawn_in_both_formats(tiny):
    made = {path.name for path in (tiny.folder / "figures").iterdir()}
    assert made == {f"{name}.{kind}" for name in NAMES for kind in ("png", "svg")}


def test_curves_pass_through_the_numbers(tiny):
    maps = tiny.results("maps")
    panels = Figure().subplots(1, 2)
    figures._maps_error(panels, TINY, maps)
    for line, lifting in zip(panels[1].lines, TINY.liftings, strict=False):
        errors = [100 * fit["test_error"] for fit in maps[lifting.name]]
        assert np.allclose(line.get_ydata(), errors)


def test_the_papers_curve_is_beside_ours_for_mnist():
    maps = {
        lifting.name: [
            {"power": p, "train_error": 0.1, "test_error": 0.2}
            for p in FULL.powers_of_maps(lifting)
        ]
        for lifting in FULL.liftings
    }
    panels = Figure().subplots(1, 2)
    figures._maps_error(panels, FULL, maps)
    dotted = [line for line in panels[1].lines if line.get_linestyle() == ":"]
    assert len(dotted) == len(FULL.liftings)
    assert min(dotted[0].get_ydata()) == pytest.approx(8.53, abs=0.005)


def test_strengths_are_shown_in_natural_units():
    assert figures._strengths([0])[0] == pytest.approx(1 / np.log(2) ** 2)


def test_liftings_have_colours_of_their_own():
    assert len(set(figures._colours(FULL).values())) == len(FULL.liftings)
    assert figures._colours(TINY)[Lifting(1).name] == "tab:red"
