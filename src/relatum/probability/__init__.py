"""How sure: probabilities of pairs, sets and relations, draws, and decisions by expected loss.

`asking` holds `probabilities` and `sample`, `answer` what they return, `methods` who computes it,
`posterior` the record in between; `exact` holds the exact methods; `matchings` are those of many
listed pairs. This room imports `inference`, `solvers`, `proof`, `problem` and kernels. Begin with
`asking`, then `methods`.
"""

# Importing a module registers its methods; exact ones come first.
from relatum.probability import exact
from relatum.probability.answer import Probabilities
from relatum.probability.asking import probabilities, sample
from relatum.probability.decisions import decide
from relatum.probability.matchings import Matchings, matching_probabilities

__all__ = [
    "Matchings",
    "Probabilities",
    "decide",
    "exact",
    "matching_probabilities",
    "probabilities",
    "sample",
]
