"""Records of components are what their view expects."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.kernels.tables.places import ComponentsView
from relatum.kernels.tables.records import Components


def test_a_view_refuses_an_array_of_another_type():
    two, none = np.zeros(2, np.int64), np.zeros(0, np.int64)
    pairs, fixed = np.zeros(0, np.int32), np.zeros((0, 3), np.int32)
    components = Components(two, two, pairs, pairs, np.zeros(0), two, fixed, none, none)
    ComponentsView(components)
    for name, wrong in (("log_odds", np.zeros(0, np.float32)), ("i", none), ("fixed_ptr", pairs)):
        with pytest.raises(ValueError, match="dtype mismatch"):
            ComponentsView(components._replace(**{name: wrong}))
