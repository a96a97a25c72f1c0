"""The public names: what `relatum` offers, and which room defines it.

`relatum/__init__.py` reads this list and imports each name on first use.
"""

from relatum import datasets as datasets
from relatum import errors as errors
from relatum import io as io
from relatum import metrics as metrics
from relatum import pair_tables as pair_tables
from relatum import plots as plots
from relatum import testing as testing
from relatum.aggregate import Consensus as Consensus
from relatum.aggregate import Votes as Votes
from relatum.aggregate import consensus as consensus
from relatum.estimators import LinearRanker as LinearRanker
from relatum.estimators import MapClassifier as MapClassifier
from relatum.estimators import PartitionClustering as PartitionClustering
from relatum.explanation import Explanation as Explanation
from relatum.explanation import explain as explain
from relatum.explanation import place_costs as place_costs
from relatum.features import BinaryFeatures as BinaryFeatures
from relatum.features import MultilinearLifting as MultilinearLifting
from relatum.features import PairBatches as PairBatches
from relatum.features import PolynomialLifting as PolynomialLifting
from relatum.features import RandomMonomials as RandomMonomials
from relatum.features import TensorSketch as TensorSketch
from relatum.features import pair_features as pair_features
from relatum.features import sample_pairs as sample_pairs
from relatum.inference import infer as infer
from relatum.inference import infer_many as infer_many
from relatum.joint import JointEstimate as JointEstimate
from relatum.joint import JointEstimator as JointEstimator
from relatum.joint import joint_estimate as joint_estimate
from relatum.joint import partial_evidence as partial_evidence
from relatum.measures import BernoulliMeasure as BernoulliMeasure
from relatum.measures import BilinearPairMeasure as BilinearPairMeasure
from relatum.measures import LogisticMeasure as LogisticMeasure
from relatum.measures import RecordBatches as RecordBatches
from relatum.measures import encode_sequences as encode_sequences
from relatum.measures import precedence_counts as precedence_counts
from relatum.measures import regularization_path as regularization_path
from relatum.pair_tables import Clusters as Clusters
from relatum.pair_tables import PairScorer as PairScorer
from relatum.pair_tables import cluster_pairs as cluster_pairs
from relatum.probability import Probabilities as Probabilities
from relatum.probability import decide as decide
from relatum.probability import probabilities as probabilities
from relatum.probability import sample as sample
from relatum.problem import ANTISYMMETRIC as ANTISYMMETRIC
from relatum.problem import BIJECTIONS as BIJECTIONS
from relatum.problem import CONNEX as CONNEX
from relatum.problem import EQUIVALENCES as EQUIVALENCES
from relatum.problem import HAS_IMAGE as HAS_IMAGE
from relatum.problem import HAS_PREIMAGE as HAS_PREIMAGE
from relatum.problem import INJECTIONS as INJECTIONS
from relatum.problem import LINEAR_ORDERS as LINEAR_ORDERS
from relatum.problem import MAPS as MAPS
from relatum.problem import PARTIAL_MAPS as PARTIAL_MAPS
from relatum.problem import PARTIAL_ORDERS as PARTIAL_ORDERS
from relatum.problem import PREORDERS as PREORDERS
from relatum.problem import REFLEXIVE as REFLEXIVE
from relatum.problem import RELATIONS as RELATIONS
from relatum.problem import SYMMETRIC as SYMMETRIC
from relatum.problem import TRANSITIVE as TRANSITIVE
from relatum.problem import UNIQUE_IMAGE as UNIQUE_IMAGE
from relatum.problem import UNIQUE_PREIMAGE as UNIQUE_PREIMAGE
from relatum.problem import WEAK_ORDERS as WEAK_ORDERS
from relatum.problem import FeasibleSet as FeasibleSet
from relatum.problem import LinearOrder as LinearOrder
from relatum.problem import Map as Map
from relatum.problem import PartialMap as PartialMap
from relatum.problem import Partition as Partition
from relatum.problem import Problem as Problem
from relatum.problem import Relation as Relation
from relatum.problem import WeakOrder as WeakOrder
from relatum.problem import at_most as at_most
from relatum.problem import evidence as evidence
from relatum.problem import one_per_group as one_per_group
from relatum.proof import Certificate as Certificate
from relatum.proof import Estimate as Estimate
from relatum.proof import Status as Status
from relatum.proof import Verification as Verification
from relatum.proof import verify as verify
from relatum.records import RecordLinker as RecordLinker

__version__: str
__all__: list[str]
