"""Joint estimation: a measure and a relation together, from partial evidence.

`inputs` reads a problem, `alternation` learns and infers in turn, `bernoulli_exact` and
`logistic_exact` search for the global optimum. This room imports measures, problems, inference and,
for the exact search, mixed programs and the rows of the general solver. Begin with `estimator`,
then `alternation`.
"""

from relatum.joint.estimator import JointEstimate, JointEstimator, joint_estimate
from relatum.joint.known_pairs import partial_evidence

__all__ = ["JointEstimate", "JointEstimator", "joint_estimate", "partial_evidence"]
