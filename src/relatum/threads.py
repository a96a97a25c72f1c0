"""Threads whose results are waited for so that Ctrl-C is heard.

A main thread that waits for a lock without an end hears of a signal only if that comes while it
waits, and to this thread. One that comes a moment before, or to another thread, has no effect until
the wait is over: with a time limit of ten minutes, after ten minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

__all__ = ["Threads"]

TICK = 0.05  # seconds after which a wait is begun anew, so that the interpreter looks for signals


class Threads(ThreadPoolExecutor):
    """A pool of threads; its `map` lets the main thread look for signals while it waits.

    Examples
    --------
    >>> with Threads(2) as threads:
    ...     list(threads.map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[Any]:
        """Call the function with all arguments now; return the results in order."""
        return _results([self.submit(fn, *given) for given in zip(*iterables, strict=False)])


def _results(futures: list[Future[Any]]) -> Iterator[Any]:
    try:
        for future in futures:
            while not future.done():
                wait([future], TICK)
            yield future.result()
    finally:
        for future in futures:
            future.cancel()
