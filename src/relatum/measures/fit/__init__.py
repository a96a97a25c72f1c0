"""How logistic measures are fitted: dual ascent, L-BFGS, Newton, in memory or from a stream.

A `Task` says what is minimised, `Controls` when to stop, a `Solution` what was reached and its
duality gap; natural logarithms inside. This room imports kernels, and the objective and the checks
of measures. Begin with `sdca`.
"""

from relatum.measures.fit.lbfgs import certified, solve_lbfgs
from relatum.measures.fit.newton import SOLVERS, solve_newton
from relatum.measures.fit.rows import Rows, computing_type
from relatum.measures.fit.sdca import Controls, Solution, Task, natural_lambda, prior

__all__ = [
    "SOLVERS",
    "Controls",
    "Rows",
    "Solution",
    "Task",
    "certified",
    "computing_type",
    "natural_lambda",
    "prior",
    "solve_lbfgs",
    "solve_newton",
]
