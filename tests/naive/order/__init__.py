"""Plain twins of the kernels of orders: linear ones and preorders."""
# ruff: noqa: F403

from __future__ import annotations

from naive.order.linear import *
from naive.order.preorders import *
