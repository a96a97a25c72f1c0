"""Columns of a database or of Arrow record batches as a stream of rows and targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relatum.errors import DataError, MissingDependencyError
from relatum.features import shown
from relatum.measures.validation import is_whole

Part: TypeAlias = tuple[NDArray[Any], NDArray[Any] | None]

# What a source of Arrow record batches can be asked for; none of the libraries is imported.
_READERS = ("to_arrow_reader", "fetch_record_batch", "read_next_batch", "to_reader", "to_batches")


def is_record_source(source: object) -> bool:
    """Say whether `source` is one that RecordBatches reads and that no array can be made of.

    These are DuckDB relations, pyarrow datasets, scanners and RecordBatchReaders. Tables in
    memory, paths and plain iterables are read by RecordBatches, too, but only when asked.
    """
    return not hasattr(source, "__array__") and any(hasattr(source, name) for name in _READERS)


class RecordBatches:
    """A stream of batches (x, y) out of the columns of a table that may not fit in memory.

    Batches have exactly `batch_size` rows (the last may have fewer), whatever the source hands
    out, and the source is asked anew for every reading, so that nothing is kept.

    Parameters
    ----------
    source : DuckDB relation, path of Parquet files (with wildcards), pyarrow Table, Dataset, \
Scanner or RecordBatchReader, or an iterable of record batches or data frames
        A reader or an iterator can be read once only.
    target : str, optional
        The column that says which pairs are related. Without it, batches are (x, None).
    features : str or sequence of str, optional
        The columns of x, in this order; all others by default. For one name (not in a sequence),
        x is that column, as `BernoulliMeasure` wants its classes.
    batch_size : int, default=65536

    Attributes
    ----------
    once : bool
        Whether the source can be read only once.
    feature_columns : list of str or None
        The columns of x; None before the first batch if they were not named.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"same_name": [1, 1, 0], "same_city": [1, 0, 0], "match": [1, 1, 0]})
    >>> for x, y in RecordBatches(table, target="match", batch_size=2):
    ...     print(x.tolist(), y.tolist())
    [[1, 1], [1, 0]] [1, 1]
    [[0, 0]] [0]
    """

    def __init__(
        self,
        source: Any,
        target: str | None = None,
        features: str | Sequence[str] | None = None,
        batch_size: int = 65536,
    ) -> None:
        if not is_whole(batch_size):
            raise DataError(
                f"batch_size must be an integer of at least 1; got {shown(batch_size)}."
            )
        if target is not None and not isinstance(target, str):
            raise DataError(f"target is the name of a column, or None; got {shown(target)}.")
        self.target = target
        self.batch_size = int(batch_size)
        self.single = isinstance(features, str)
        named = [features] if isinstance(features, str) else features
        listed = isinstance(named, list | tuple) and all(isinstance(x, str) for x in named)
        if named is not None and not listed:
            raise DataError(f"features are names of columns, or None; got {shown(features)}.")
        self.feature_columns: list[str] | None = None if named is None else list(named)
        self._read, self.once = _reading(source, self.batch_size)

    def __iter__(self) -> Iterator[Part]:
        held: list[Part] = []
        count = 0
        for batch in self._read():
            part = self._arrays(batch)
            begin, size = 0, len(part[0])
            while count + size - begin >= self.batch_size:
                end = begin + self.batch_size - count
                yield _joined([*held, _cut(part, begin, end)])
                held, count, begin = [], 0, end
            if begin < size:
                held.append(_cut(part, begin, size))
                count += size - begin
        if held:
            yield _joined(held)

    def _arrays(self, batch: Any) -> Part:
        names = _names(batch)
        if self.feature_columns is None:
            self.feature_columns = [name for name in names if name != self.target]
        for name in [*self.feature_columns, *([] if self.target is None else [self.target])]:
            if name not in names:
                raise DataError(
                    f"The batches have no column {name!r}; their columns are {', '.join(names)}."
                )
        columns = [_numbers(batch, name) for name in self.feature_columns]
        if self.single:
            x = columns[0]
        else:
            x = np.column_stack(columns) if columns else np.empty((len(batch), 0))
        return x, None if self.target is None else _values(batch, self.target)


def _reading(source: Any, batch_size: int) -> tuple[Callable[[], Iterable[Any]], bool]:
    """Return what starts a reading of `source`, and whether only one is possible."""
    if isinstance(source, str | Path):
        source = _parquet(source)
    # a DuckDB relation is a query, run once per reading; the second name is that before 1.4
    for name in ("to_arrow_reader", "fetch_record_batch"):
        if hasattr(source, name):
            return partial(getattr(source, name), batch_size), False
    if hasattr(source, "read_next_batch"):
        return lambda: source, True
    for name in ("to_batches", "to_reader"):
        if hasattr(source, name):
            return getattr(source, name), False
    if hasattr(source, "columns"):  # one data frame
        return lambda: [source], False
    if isinstance(source, Iterable):
        try:
            return lambda: source, iter(source) is source
        except TypeError:  # as arrays without dimensions say
            pass
    raise DataError(
        "RecordBatches reads a DuckDB relation, Parquet files, pyarrow tables, datasets or readers,"
        f" or an iterable of record batches; got {type(source).__name__}."
    )


def _parquet(path: str | Path) -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingDependencyError(
            f"Reading {path} batch by batch needs the package duckdb; install it, or pass a "
            "pyarrow dataset."
        ) from None
    try:
        return duckdb.connect().read_parquet(str(path))
    except duckdb.Error as error:
        raise DataError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None


def _names(batch: Any) -> list[str]:
    schema = getattr(batch, "schema", None)
    names = getattr(schema, "names", None)
    if callable(names):  # polars
        names = names()
    if names is None:
        names = getattr(batch, "columns", None)
    if names is None:
        raise DataError(
            f"A record batch has named columns; got {type(batch).__name__}. Batches (x, y) of "
            "arrays go to fit as they are, without a name for y."
        )
    return [str(name) for name in names]


def _values(batch: Any, name: str) -> NDArray[Any]:
    """Return a column as an array; refuse missing values."""
    column = batch.column(name) if hasattr(batch, "column") else batch[name]
    missing = getattr(column, "null_count", 0)
    if callable(missing):  # polars
        missing = missing()
    if hasattr(column, "isna"):  # pandas
        missing = int(column.isna().sum())
    values = _array(column)
    if not missing and np.issubdtype(values.dtype, np.floating):
        missing = int(np.isnan(values).sum())
    if missing:
        raise DataError(
            f"Column {name!r} holds {missing} missing values in a batch of {len(values)} rows. "
            "Fill them, or give missing values a column of their own."
        )
    return values


def _array(column: Any) -> NDArray[Any]:
    try:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    except TypeError:  # not of pyarrow
        return np.asarray(column.to_numpy())


def _numbers(batch: Any, name: str) -> NDArray[Any]:
    values = _values(batch, name)
    if values.dtype != object and np.issubdtype(values.dtype, np.number):
        return values
    if values.dtype == np.bool_:
        return values.astype(np.int8)
    try:
        return np.asarray([float(v) for v in values])  # decimals
    except (TypeError, ValueError):
        raise DataError(
            f"Column {name!r} holds no numbers (the first value is {values[0]!r}). Name the "
            "columns of numbers with RecordBatches(source, target=..., features=[...])."
        ) from None


def _cut(part: Part, begin: int, end: int) -> Part:
    return part[0][begin:end], None if part[1] is None else part[1][begin:end]


def _joined(parts: list[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    targets = [y for _, y in parts if y is not None]
    return np.concatenate([x for x, _ in parts]), np.concatenate(targets) if targets else None
