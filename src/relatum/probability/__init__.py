"""How sure: probabilities of pairs, sets and relations, draws, and decisions by expected loss.

`asking` holds `probabilities` and `sample`, `answer` what they return, `methods` who computes it,
`posterior` the record in between; `exact` holds the exact methods; `matchings` are those of many
listed pairs; `calibration` learns from labelled problems; `questions` says what to ask, and
`linkage` what of large clusterings. This room imports `inference`, `solvers`, `proof`, `problem`
and kernels. Begin with `asking`, then `methods`.
"""

# Importing a module registers its methods; exact ones come first.
from relatum.probability import exact, sampling
from relatum.probability.answer import Probabilities
from relatum.probability.asking import probabilities, sample
from relatum.probability.beliefs import EXACT, NEAR, OpenPairs, open_pairs_of
from relatum.probability.calibration import Calibration, calibrate
from relatum.probability.decisions import decide
from relatum.probability.matchings import Matchings, best_matching, matching_probabilities
from relatum.probability.questions import (
    Asked,
    Question,
    entropy_of,
    learn_by_asking,
    questions,
)

__all__ = [
    "EXACT",
    "NEAR",
    "Asked",
    "Calibration",
    "Matchings",
    "OpenPairs",
    "Probabilities",
    "Question",
    "best_matching",
    "calibrate",
    "decide",
    "entropy_of",
    "exact",
    "learn_by_asking",
    "matching_probabilities",
    "open_pairs_of",
    "probabilities",
    "questions",
    "sample",
    "sampling",
]
