"""Estimators: learn a measure and infer a relation in one scikit-learn object.

One module per kind of relation: `maps`, `clustering`, `ranking`; `common` holds what they share.
This room may import all that is needed to learn and to infer; only the reproduction of the paper
and the command line stand above it. Begin with `maps`.
"""

from relatum.estimators.clustering import PartitionClustering
from relatum.estimators.maps import MapClassifier
from relatum.estimators.ranking import LinearRanker

__all__ = ["LinearRanker", "MapClassifier", "PartitionClustering"]
