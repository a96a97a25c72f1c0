"""Results of parts of a run, kept on disk, so that a killed run continues where it was.

A cell is one file: JSON for numbers, npz for arrays. It holds the settings that it was
computed with, and is computed anew when they differ. Files are written beside their place
and moved there when complete: a cell is there as a whole or not at all.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


class NotComputed(Exception):  # noqa: N818  nothing is wrong: it is just not there yet
    """A cell is not there, and nothing is to be computed."""


def _quiet(line: str) -> None:
    """Say nothing."""


class Cells:
    """Cells in a folder, by name.

    Parameters
    ----------
    folder : Path
        Made on the first write. Names may contain slashes.
    say : callable, optional
        Told, in one line, what is computed.
    compute : bool
        Whether to compute cells that are not there; if not, they raise NotComputed.
    """

    def __init__(
        self, folder: Path, say: Callable[[str], None] = _quiet, compute: bool = True
    ) -> None:
        self.folder = folder
        self.compute = compute
        self._say = say
        self._began = time.monotonic()

    def say(self, line: str) -> None:
        """Tell one line of progress, with the time since the beginning."""
        seconds = int(time.monotonic() - self._began)
        self._say(f"[{seconds // 60:3d}:{seconds % 60:02d}] {line}")

    def numbers(
        self, name: str, settings: Mapping[str, Any], compute: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the numbers of a cell, computed if they are not there.

        Parameters
        ----------
        name : str
        settings : mapping
            Whatever the numbers depend on, as JSON can hold it.
        compute : callable
            Returns the numbers, as JSON can hold them.
        """
        path = self.folder / f"{name}.json"
        wanted = _plain(settings)
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            held = {}
        if held.get("settings") == wanted:
            return dict(held["result"])
        self._begin(name)
        result = compute()
        write_json(path, {"settings": wanted, "result": result})
        return dict(_plain(result))

    def arrays(
        self, name: str, settings: Mapping[str, Any], compute: Callable[[], Arrays]
    ) -> Arrays:
        """Return the arrays of a cell, computed if they are not there."""
        held = self.held_arrays(name, settings)
        if held is not None:
            return held
        self._begin(name)
        result = compute()
        self.keep_arrays(name, settings, result)
        return result

    def _begin(self, name: str) -> None:
        if not self.compute:
            raise NotComputed(name)
        self.say(f"{name}: computing")

    def held_arrays(self, name: str, settings: Mapping[str, Any]) -> Arrays | None:
        """Return the arrays of a cell, or None if they are not there."""
        try:
            with (
                (self.folder / f"{name}.npz").open("rb") as opened,
                np.load(opened, allow_pickle=False) as file,
            ):
                if json.loads(str(file["settings"])) == _plain(settings):
                    return {key: file[key] for key in file.files if key != "settings"}
        except Exception:  # not there, or damaged in any way: it is computed anew
            return None
        return None

    def keep_arrays(self, name: str, settings: Mapping[str, Any], result: Arrays) -> None:
        """Write the arrays of a cell."""
        path = self.folder / f"{name}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        with partial.open("wb") as file:
            np.savez(file, settings=np.array(json.dumps(_plain(settings))), **result)  # type: ignore[arg-type]
        partial.replace(path)


def _plain(value: Any) -> Any:
    """Return `value` as it comes back from JSON."""
    return json.loads(json.dumps(value))


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


@contextmanager
def clock(record: dict[str, Any], name: str) -> Iterator[None]:
    """Add the processor and elapsed seconds of the body to `record`."""
    cpu, wall = time.process_time(), time.perf_counter()
    yield
    for kind, spent in (("cpu", time.process_time() - cpu), ("wall", time.perf_counter() - wall)):
        key = f"{name}_{kind}_seconds"
        record[key] = round(record.get(key, 0.0) + spent, 3)
