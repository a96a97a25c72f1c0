"""Maximally probable constrained relations: maps, equivalence relations, linear orders.

>>> import relatum as rt
>>> problem = rt.Problem([[0, 3, -2], [3, 0, 1], [-2, 1, 0]], rt.EQUIVALENCES)
>>> estimate = rt.infer(problem, prove=True)
>>> estimate.relation.labels.tolist(), estimate.value, estimate.gap
([0, 0, 1], 6.0, 0.0)
>>> bool(rt.verify(problem, estimate))
True
"""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import get_data
from typing import Any

__version__ = "0.1.0"

# Every public name and the module that defines it, as `__init__.pyi` lists them. Each is imported
# on first use, so that importing relatum, and `relatum --help`, are quick. The package's loader
# reads that file, so that relatum can also be imported from a zip archive.
_STUB = (get_data(__name__, "__init__.pyi") or b"").decode()
_PUBLIC = {name: module for module, name in re.findall(r"(?m)^from (\S+) import (\w+) as", _STUB)}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'relatum' has no attribute {name!r}")
    if _PUBLIC[name] == "relatum":  # a module, which its import makes an attribute
        return import_module(f"relatum.{name}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
