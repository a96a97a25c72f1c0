"""Joint estimation: a measure and a relation together, from partial evidence."""

from relatum.joint.estimator import JointEstimate, JointEstimator, joint_estimate
from relatum.joint.known_pairs import partial_evidence

__all__ = ["JointEstimate", "JointEstimator", "joint_estimate", "partial_evidence"]
