"""Sets of any size that are worth more than the prices of their elements.

Of ours, only the watch is imported. Begin with `dear_sets`, the only module.
"""

from relatum.kernels.variants import searched

__path__ = searched("partition/pricing")
