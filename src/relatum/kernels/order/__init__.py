"""Loops over orders: dynamic programs, local search, violated rows.

`states` and `batch` find best orders, of one problem or of many; `search` and `preorder_search`
look for good ones; `rows` and `patterns` separate. Of ours, only the random generator is imported.
Begin with `states`.
"""

from relatum.kernels.variants import searched

__path__ = searched("order")
