"""Records of arrays are what the views of kernels expect."""

from __future__ import annotations

import numpy as np
import pytest

from instances.partitions import free_rules
from relatum.kernels.partition.rules import RulesView


def test_a_view_refuses_an_array_of_another_type():
    rules = free_rules(4)
    RulesView(rules)
    with pytest.raises(ValueError, match="dtype mismatch"):
        RulesView(rules._replace(sizes=rules.sizes.astype(np.int32)))
    with pytest.raises(ValueError, match="contiguous"):
        RulesView(rules._replace(sizes=np.repeat(rules.sizes, 2)[::2]))
