"""The answer of the checker of a table's clusters."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from relatum.errors import CertificateError


@dataclass(frozen=True)
class TableVerification:
    """What became of checking the clusters of a table; true iff all that is claimed was re-proved.

    Attributes
    ----------
    ok : bool
    reason : str
        What was checked, or the first thing that is wrong.
    elements, components : int
        Elements in clusters, and components of positive pairs.
    by_pairs, by_triangles, by_subsets, by_proof : int
        Parts (components, or pieces of large ones) whose bound was proved pair by pair, by
        packing triangles, by going through all partitions, and by a proof in the certificate.
    value, bound : float
        In bits; what was re-proved.
    stated : tuple of str
        What the certificate says of the problem itself, which nobody else was asked for.
    """

    ok: bool
    reason: str
    elements: int = 0
    components: int = 0
    by_pairs: int = 0
    by_triangles: int = 0
    by_subsets: int = 0
    by_proof: int = 0
    value: float = 0.0
    bound: float = 0.0
    stated: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.ok

    def raise_if_wrong(self) -> None:
        """Raise a `CertificateError` with the reason unless the verification succeeded."""
        if not self.ok:
            raise CertificateError(self.reason)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {**asdict(self), "stated": list(self.stated)}
