"""What the manifest of a certificate claims, number by number, each of the type that it must be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from relatum.errors import CertificateError, ProblemError
from relatum.pair_tables.options import MOST_OFFSET, Names, Settings
from relatum.problem import float_up, nearest_float


@dataclass(frozen=True)
class Stated:
    """The claims of a manifest, and the problem that they are about."""

    background: float  # bits of pairs that are not listed
    max_size: int | None
    one_per_group: str | None  # the columns that name groups, without their endings
    odd_rows: str
    columns: tuple[str, str, str, bool]  # left, right, score, whether that is a probability
    elements: int
    components: int
    parts: int
    scored: int  # pairs that `score_missing` scored
    value: float  # the float nearest to the sum of the scores inside clusters
    bound: float  # not below the exact bound; the float of the value where that is the bound
    pairs: str  # fingerprints
    ids: str
    offset: float = 0.0  # bits added to every listed score

    @property
    def settings(self) -> Settings:
        """What holds for every part."""
        return Settings(self.background, self.max_size)

    @property
    def names(self) -> Names:
        """The columns as `find_columns` takes them."""
        left, right, score, is_probability = self.columns
        return (left, right, None, score) if is_probability else (left, right, score, None)

    def require_sums(self, value: Fraction, gaps: Fraction) -> None:
        """Refuse another value than the exact one, rounded, and a bound below the exact one."""
        if self.value != nearest_float(value):
            raise CertificateError(
                f"The clusters are worth {nearest_float(value)!r} bits, and {self.value!r} is "
                "claimed."
            )
        bound = rounded_bound(value, gaps)
        if self.bound < bound:
            raise CertificateError(
                f"What is proved adds up to the bound {bound!r}, and {self.bound!r} is claimed."
            )


def rounded_bound(value: Fraction, gaps: Fraction) -> float:
    """Return a bound as a float: rounded up or, where there is no gap, the float of the value."""
    return nearest_float(value) if gaps == 0 else float_up(value + gaps)


_KINDS: dict[str, tuple[type, ...]] = {
    "background": (float,),
    "max_size": (int, type(None)),
    "one_per_group": (str, type(None)),
    "odd_rows": (str,),
    "columns": (list,),
    "elements": (int,),
    "components": (int,),
    "parts": (int,),
    "scored": (int,),
    "value": (float,),
    "bound": (float,),
    "pairs": (str,),
    "ids": (str,),
    "offset": (float,),
}
_UNSAID = {"offset": 0.0}  # what older certificates do not say


def read_claims(manifest: Mapping[str, Any]) -> Stated:
    """Return the claims of a manifest, refusing what is not of the right type."""
    manifest = {**_UNSAID, **manifest}
    for name, kinds in _KINDS.items():
        if name not in manifest:
            raise CertificateError(f"Its manifest does not say {name!r}.")
        found = manifest[name]
        if type(found) not in kinds or (isinstance(found, float) and not math.isfinite(found)):
            raise CertificateError(f"Its manifest says {found!r} of {name!r}.")
    columns = manifest["columns"]
    if [type(x) for x in columns] != [str, str, str, bool]:
        raise CertificateError(f"Its manifest says {columns!r} of 'columns'.")
    stated = Stated(**{name: manifest[name] for name in _KINDS} | {"columns": tuple(columns)})
    try:
        _ = stated.settings
    except ProblemError as error:
        raise CertificateError(str(error)) from None
    if abs(stated.offset) > MOST_OFFSET:
        raise CertificateError(f"Its manifest says {stated.offset!r} of 'offset'.")
    if stated.odd_rows not in ("refuse", "handle"):
        raise CertificateError(f"Its manifest says {stated.odd_rows!r} of 'odd_rows'.")
    return stated
