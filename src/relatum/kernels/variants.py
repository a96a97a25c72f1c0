"""Which compiled kernels this process imports: those of its processor, or those asked for.

The same modules lie beside their sources, compiled for every processor, and in ``_v3``, compiled
for x86-64-v3; a package of kernels looks in the folder of the variant first. Set the environment
variable ``RELATUM_KERNELS`` to ``baseline``, ``v3`` or ``checked`` to choose by hand; results are
the same bit for bit.
"""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).parent
FOLDERS = {"baseline": "", "v3": "_v3", "checked": "_checked"}


def chosen() -> str:
    """Return the name of the variant that this process uses."""
    try:
        from relatum.kernels._processor import runs_x86_64_v3
    except ImportError as error:
        raise ImportError(
            "the kernels of relatum are not compiled; install a wheel, or compile them "
            "in a checkout with `pip install -e .`"
        ) from error
    asked = os.environ.get("RELATUM_KERNELS", "")
    if not asked:
        return "v3" if _is_compiled("v3") and runs_x86_64_v3() else "baseline"
    if asked not in FOLDERS:
        raise ImportError(
            f"the environment variable RELATUM_KERNELS is {asked!r}; "
            f"it names a variant of the kernels: {', '.join(FOLDERS)}"
        )
    if not _is_compiled(asked):
        raise ImportError(
            f"the environment variable RELATUM_KERNELS asks for the kernels {asked!r}, which "
            "are not compiled here; unset it, or compile them with build_kernels.py"
        )
    if asked == "v3" and not runs_x86_64_v3():
        raise ImportError(
            "the environment variable RELATUM_KERNELS asks for the kernels 'v3', which this "
            "processor does not run; unset it"
        )
    return asked


def _is_compiled(variant: str) -> bool:
    return any((HERE / FOLDERS[variant]).glob("_processor.*[do]"))  # .so or .pyd


def searched(room: str) -> list[str]:
    """Return the folders in which a room of kernels (``""`` for the first) looks for modules."""
    folder = FOLDERS[chosen()]
    return [str(HERE / folder / room), str(HERE / room)] if folder else [str(HERE / room)]
