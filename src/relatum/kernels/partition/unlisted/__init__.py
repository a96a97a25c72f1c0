"""Packing of conflicts with pairs that are not listed, into which a negative background goes.

`wedges` has the table of what is packed into these pairs, and packs paths of two listed pairs;
`closing` packs longer ones. Of ours, the views of `partition.packing`, the hash table and the watch
are imported. Begin with `wedges`.
"""

from relatum.kernels.variants import searched

__path__ = searched("partition/unlisted")
