"""One task of a distributed run: the rows of some components in, their clusters out.

Needs pandas but no engine, so that Spark, Dask or a loop can call it on any machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from relatum.array_types import Index
from relatum.errors import EvidenceError
from relatum.pair_tables.options import Settings
from relatum.pair_tables.solve.batching import batch_of, first_elements
from relatum.pair_tables.solve.component import solve_batch
from relatum.pair_tables.solve.unlisted import with_missing

SCORED, RELATED, UNRELATED = 0, 1, 2  # kinds of rows


def solve_frame(
    frame: Any, settings: Settings, score_missing: Callable[[Any, Any], Any] | None = None
) -> Any:
    """Find the clusters of the components in a data frame.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per listed pair or pair of evidence, with columns ``a`` and ``b`` (ids; and
        ``source_a``, ``source_b`` where ids are unique only within a source), ``bits``, ``kind``
        (scored, known to be related, known to be unrelated), ``component`` and perhaps
        ``group_a``, ``group_b`` (integers; null for elements in no group).
    settings : Settings
    score_missing : callable (ids, ids) -> bits, optional
        Scores the pairs inside components that are not listed, of components of up to
        ``Tuning.scored_elements``. Ids are an array, or a list of (source, id).

    Returns
    -------
    pandas.DataFrame
        One row per element: ``id`` (``source``), ``first`` (``first_source``), the smallest
        element of its cluster, ``size`` and ``gap``; and, in the row of the first element of
        each component, its ``value``, ``bound``, ``cut``, ``added``, ``elements``, ``pieces``,
        how many pairs were ``scored``, and whether it was too large for that (``unscored``).
    """
    codes, names = _numbered(frame)
    i, j = codes[: len(frame)], codes[len(frame) :]
    component = np.empty(len(names), dtype=np.int64)
    own = frame["component"].to_numpy(np.int64)
    component[i], component[j] = own, own
    kind = frame["kind"].to_numpy(np.int64)
    scored = kind == SCORED
    fixed = np.column_stack([i, j, kind == RELATED])[~scored].astype(np.int64)
    bits = frame["bits"].to_numpy(np.float64)
    pairs, groups = (i[scored], j[scored], bits[scored]), _groups(frame, i, j, len(names))
    batch, order = batch_of(component, pairs, fixed, groups)
    listed, most = np.diff(batch.pair_ptr), settings.tuning.scored_elements
    if score_missing is not None:
        batch, _ = with_missing(batch, most, lambda e: _ids(names, order[e]), score_missing)
    try:
        found = solve_batch(batch, settings)
    except EvidenceError as error:
        raise EvidenceError(f"{error} {_shown(error, batch, order, names)}") from None
    sizes, first = np.diff(batch.element_ptr), first_elements(batch, found.labels)
    out: dict[str, Any] = {}
    for name in names.columns:
        values = names[name].to_numpy()[order]
        out |= {name: values, "first" if name == "id" else "first_source": values[first]}
    out |= {"size": np.bincount(first)[first], "gap": np.repeat(found.gap, sizes)}
    told = {name: getattr(found, name) for name in ("value", "bound", "cut", "added", "pieces")}
    told |= {"elements": sizes, "scored": np.diff(batch.pair_ptr) - listed}
    told["unscored"] = (sizes > most) & (score_missing is not None)
    for name, values in told.items():
        out[name] = np.full(len(names), np.nan)
        out[name][batch.element_ptr[:-1]] = values
    return pd.DataFrame(out)


def _numbered(frame: Any) -> tuple[Index, Any]:
    """Return the numbers of both ends, in the order of (sources and) ids, and the elements."""
    ends = {"id": pd.concat([frame["a"], frame["b"]], ignore_index=True)}
    if "source_a" in frame:
        sources = pd.concat([frame["source_a"], frame["source_b"]], ignore_index=True)
        ends = {"source": sources, **ends}
    both = pd.DataFrame(ends)
    if len(both.columns) == 1:
        codes, values = pd.factorize(both["id"], sort=True)
        return np.asarray(codes, np.int64), pd.DataFrame({"id": values})
    names = both.drop_duplicates().sort_values(list(both.columns), ignore_index=True)
    index = pd.MultiIndex.from_frame(names)
    return np.asarray(index.get_indexer(pd.MultiIndex.from_frame(both)), np.int64), names


def _ids(names: Any, rows: Index) -> Any:
    """Return the ids of elements, as users give them: an array, or a list of (source, id)."""
    if "source" not in names:
        return names["id"].to_numpy()[rows]
    return list(names.iloc[rows].itertuples(index=False, name=None))


def _groups(frame: Any, i: Index, j: Index, n: int) -> Index | None:
    if "group_a" not in frame:
        return None
    groups = np.full(n, -1, dtype=np.int64)
    for codes, name in ((i, "group_a"), (j, "group_b")):
        given = frame[name].to_numpy(np.float64)
        known = ~np.isnan(given)
        groups[codes[known]] = given[known].astype(np.int64)
    return groups


def _shown(error: EvidenceError, batch: Any, order: Index, names: Any) -> str:
    k = getattr(error, "number", None)
    if k is None:
        return ""
    rows = order[batch.element_ptr[k] : batch.element_ptr[k + 1]]
    first = names.iloc[rows[:5]].to_numpy()
    ids = ", ".join(str(tuple(r) if len(r) > 1 else r[0]) for r in first)
    return f"Its elements: {ids}{' ...' if len(rows) > 5 else ''}."
