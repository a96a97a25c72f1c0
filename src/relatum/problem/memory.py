"""How much memory there is, and the sentence that refuses what does not fit into it.

What an array takes is known before it is made. Asking costs less than a thousandth of a second,
and only what is large is asked for.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from relatum.errors import DataError, ProblemError, RelatumError
from relatum.problem.arguments import shown

UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20}
UNITS |= {"GIB": 2**30, "TIB": 2**40, "B": 1}
VARIABLE = "RELATUM_MEMORY"  # of the environment: a limit such as 2GB
SMALL = 1 << 26  # bytes that are always there
_GROUPS = (  # limit and use of a group of processes, as containers have one
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def parse_memory(limit: str | int) -> int:
    """Return an amount of memory such as "2GB" in bytes.

    Examples
    --------
    >>> parse_memory("2GB"), parse_memory("1 KiB")
    (2000000000, 1024)
    """
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        return limit
    text = limit.strip().upper() if isinstance(limit, str) else ""
    for unit in sorted(UNITS, key=len, reverse=True):
        if text.endswith(unit):
            with suppress(ValueError, OverflowError):
                size = int(float(text.removesuffix(unit)) * UNITS[unit])
                if size > 0:
                    return size
            break
    raise DataError(f"A memory limit is a number and a unit, such as '2GB', got {shown(limit)}.")


def as_text(size: int) -> str:
    """Return an amount of memory in words.

    Examples
    --------
    >>> as_text(3_200_000_000), as_text(1 << 80)
    ('3.2 GB', '1.21e+12 TB')
    """
    unit = next((u for u in ("TB", "GB", "MB") if size >= UNITS[u]), "KB")
    return f"{size / UNITS[unit]:.3g} {unit}"


def available_memory() -> int | None:
    """Return how many bytes can be had, or None where nothing tells.

    The least of what the environment variable ``RELATUM_MEMORY``, the group of processes (a
    container) and the limits of the process allow, and of what the machine has left.
    """
    told = os.environ.get(VARIABLE)
    amounts = [parse_memory(told)] if told else []
    amounts += _left_of_machine() + _left_of_group() + _left_of_process()
    return max(0, min(amounts)) if amounts else None


def _left_of_machine() -> list[int]:
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable")]
    with suppress(OSError, ValueError, AttributeError):
        return [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    return []


def _left_of_group() -> list[int]:
    found = []
    for limit, used in _GROUPS:
        with suppress(OSError, ValueError):  # "max" is no number: there is no limit
            most = int(Path(limit).read_text(encoding="ascii"))
            found.append(most - int(Path(used).read_text(encoding="ascii")))
    return found


def _left_of_process() -> list[int]:
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
            return [most - int(pages) * os.sysconf("SC_PAGE_SIZE")]
    return []


def require_memory(
    needed: int, what: str, way_out: str, error: type[RelatumError] = ProblemError
) -> None:
    """Refuse what does not fit into memory, before anything is made.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        What needs them: the beginning of the error's sentence.
    way_out : str
        What to do instead: the end of it.
    error : class

    Raises
    ------
    ProblemError
        Or the error given, if there are fewer bytes than needed.

    Examples
    --------
    >>> require_memory(1 << 60, "A matrix", "list the pairs that count")
    Traceback (most recent call last):
    relatum.errors.ProblemError: A matrix takes 1.15e+06 TB of memory, and there are ...
    """
    if needed <= SMALL and VARIABLE not in os.environ:
        return
    there = available_memory()
    if there is not None and needed > there:
        raise error(
            f"{what} takes {as_text(needed)} of memory, and there are {as_text(there)}; {way_out}."
        )
