"""Rank aggregation: from rankings or comparisons to one order, with a proof that it is best.

Every vote says of ordered pairs (a, b) whether a comes before b or is tied with it. The
log-odds of "a before or tied with b" come from these counts, either as

* ``"kemeny"``: votes for minus votes against. The most probable linear or weak order then
  has the least total Kemeny-Snell distance to the votes: the number of ordered pairs on
  which it disagrees (for strict rankings twice Kendall's).
* ``"bernoulli"``: base-2 log-odds of the Bernoulli measure with a Beta prior, in bits.

May import inference and what is below it. Begin with `consensus`; `votes` counts.
"""

from relatum.aggregate.consensus import Consensus, consensus
from relatum.aggregate.votes import Votes

__all__ = ["Consensus", "Votes", "consensus"]
