"""Engines for linear programs: our first-order method, HiGHS and SCIP behind one protocol.

`first_order` solves the large relaxations of the exact solvers; `protocol` is what the general
solver needs of an engine, and HiGHS and SCIP are imported when one of them is asked for. This
room imports kernels and errors only. Begin with `protocol`.
"""

from relatum.lp.first_order import FirstOrderLP, RowBlock
from relatum.lp.protocol import LinearProgram

__all__ = ["FirstOrderLP", "LinearProgram", "RowBlock", "engine_named"]


def engine_named(name: str) -> type[LinearProgram]:
    """Return an engine, importing its package only now."""
    if name == "highs":
        from relatum.lp.highs import HighsProgram

        return HighsProgram
    from relatum.lp.scip import ScipProgram

    return ScipProgram
