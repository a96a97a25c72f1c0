"""Relations as columns by name: for pandas, polars, or anything that takes columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.errors import MissingDependencyError, RelationError
from relatum.problem.names import names_of

# what the column of a relation that says one thing of each element is called
SAYS = {"partition": "set", "weak order": "rank", "linear order": "rank"}
SAYS |= {"map": "label", "partial map": "label"}


class Tabular:
    """What relations have in common: they can be written as a table."""

    __slots__ = ()

    def table(self, names: Any = None) -> dict[str, NDArray[Any]]:
        """Return the relation as columns, such as for ``pandas.DataFrame``.

        ``element`` and ``set`` of a clustering, ``element`` and ``rank`` of a ranking, ``element``
        and ``label``, its image, of a map; of other relations ``a`` and ``b``, a row for each
        related pair.

        Parameters
        ----------
        names : sequence, or (sequence, sequence), optional
            What the elements are called, as in `Problem`; numbers otherwise. What has no image in
            a partial map has the label None, or -1 without names of images.

        Examples
        --------
        >>> from relatum.problem import Partition
        >>> {k: v.tolist() for k, v in Partition([0, 1, 0]).table(["ann", "bob", "cy"]).items()}
        {'element': ['ann', 'bob', 'cy'], 'set': [0, 1, 0]}
        """
        return columns_of(self, names)

    def to_pandas(self, names: Any = None) -> Any:
        """Return a pandas Series by name: what `table` says of each element.

        Of relations that are no clustering, ranking or map, a DataFrame of the related pairs.

        Parameters
        ----------
        names : sequence, or (sequence, sequence), optional
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingDependencyError("to_pandas needs the package pandas.") from None
        columns = self.table(names)
        if "element" not in columns:
            return pd.DataFrame(columns)
        (_, element), (name, said) = columns.items()
        return pd.Series(said, index=pd.Index(element, name="element"), name=name)

    def to_polars(self, names: Any = None) -> Any:
        """Return `table` as a polars DataFrame.

        Parameters
        ----------
        names : sequence, or (sequence, sequence), optional
        """
        try:
            import polars
        except ImportError:
            raise MissingDependencyError("to_polars needs the package polars.") from None
        columns = self.table(names).items()
        return polars.DataFrame(
            {k: v.tolist() if v.dtype.kind == "O" else v for k, v in columns}, strict=False
        )


def columns_of(relation: Any, names: Any) -> dict[str, NDArray[Any]]:
    """Return a relation as columns, by names of its elements."""
    says = SAYS.get(relation.kind)
    try:
        known = names_of(names, relation.shape, homogeneous=False)
    except ValueError as error:
        raise RelationError(str(error)) from None
    rows, images = (None, None) if known is None else known.arrays
    if says is None:
        a, b = relation.pairs().T
        return {"a": a if rows is None else rows[a], "b": b if images is None else images[b]}
    element = np.arange(relation.shape[0]) if rows is None else rows
    said: NDArray[Any] = getattr(relation, "ranks" if says == "rank" else "labels")
    if says == "label" and images is not None:
        said = images[said] if (said >= 0).all() else _or_none(images, said)
    return {"element": element, says: said}


def _or_none(images: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Return the names of images, None where there is none."""
    found = np.full(len(labels), None, dtype=object)
    found[labels >= 0] = images[labels[labels >= 0]]
    return found
