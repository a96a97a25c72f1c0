"""The names of array types, the same in every room."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Flags", "Floats", "Index"]

Floats: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
