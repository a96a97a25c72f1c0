"""Records of parts are what the kernel expects."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.kernels.checking.part_bounds import PartsView
from relatum.kernels.checking.records import Parts


def test_a_view_refuses_an_array_of_another_type():
    two, none = np.zeros(2, np.int64), np.zeros(0, np.int64)
    pairs, fixed = np.zeros(0, np.int32), np.zeros((0, 3), np.int32)
    parts = Parts(two, two, pairs, pairs, two, fixed, none)
    PartsView(parts)
    for name, wrong in (("groups", pairs), ("i", none), ("fixed_ptr", pairs)):
        with pytest.raises(ValueError, match="dtype mismatch"):
            PartsView(parts._replace(**{name: wrong}))
