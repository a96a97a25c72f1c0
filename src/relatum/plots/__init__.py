"""Pictures of relations, learning and search, with matplotlib (extra ``plots``).

Every function draws into the axes given, or into new ones, and returns them; blue is related, red
unrelated, in bits. `pictures` are of any relation, `components` of clusters of tables, `trust` of
probabilities, `trees` of certificates, `svg` of elements beside their matrix, for pages. Imports
what problems and estimates are. Begin with `pictures`.
"""

from relatum.plots.components import component
from relatum.plots.components import layout as layout
from relatum.plots.pictures import (
    curves,
    explanation,
    gallery,
    places,
    probabilities,
    progress,
    relation,
)
from relatum.plots.trees import certificate
from relatum.plots.trust import reliability

__all__ = [
    "certificate",
    "component",
    "curves",
    "explanation",
    "gallery",
    "places",
    "probabilities",
    "progress",
    "relation",
    "reliability",
]
