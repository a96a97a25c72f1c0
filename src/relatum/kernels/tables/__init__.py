"""Loops over tables of scored pairs: components, places, and many small clusterings.

`union_find` connects pairs that come in batches, `places` turns ids into numbers, and
`component_batch` solves the components. Of ours, only the search of `partition.polish` is
imported. Begin with `union_find`.
"""

from relatum.kernels.variants import searched

__path__ = searched("tables")
