"""Maximally probable constrained relations: maps, equivalence relations, linear orders."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module that defines it; imported on first use, so that importing relatum is quick.
_LAZY = {
    "BinaryFeatures": "relatum.features",
    "MultilinearLifting": "relatum.features",
    "LogisticMeasure": "relatum.measures",
    "PairBatches": "relatum.features",
    "PolynomialLifting": "relatum.features",
    "RandomMonomials": "relatum.features",
    "TensorSketch": "relatum.features",
    "pair_features": "relatum.features",
    "regularization_path": "relatum.measures",
    "sample_pairs": "relatum.features",
}

if TYPE_CHECKING:
    from relatum.features import BinaryFeatures as BinaryFeatures
    from relatum.features import MultilinearLifting as MultilinearLifting
    from relatum.features import PairBatches as PairBatches
    from relatum.features import PolynomialLifting as PolynomialLifting
    from relatum.features import RandomMonomials as RandomMonomials
    from relatum.features import TensorSketch as TensorSketch
    from relatum.features import pair_features as pair_features
    from relatum.features import sample_pairs as sample_pairs
    from relatum.measures import LogisticMeasure as LogisticMeasure
    from relatum.measures import regularization_path as regularization_path

__all__ = ["__version__", *_LAZY]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'relatum' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
