"""What a linker says of itself: how it was fitted, and how good it is on held-out records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SHARE = 0.25  # bits for each doubling of the records


@dataclass(frozen=True)
class LinkReport:
    """Numbers about a fitted `RecordLinker`.

    Attributes
    ----------
    learned_from : str
        "labels", "records" (without labels), or "labels and records".
    records, labelled, entities : int
        Records given, those with a known entity, and how many entities are known.
    candidates : int
        Pairs of records that were worth comparing.
    neighbors : int
        The nearest records of each, by letters and by words, that are candidates.
    block_recall : float
        Share of true pairs that are candidates: counted on labels, or estimated.
    examples, related : int
        Pairs that were learned from, and how many of them are related.
    strength : float or None
        Of the prior of the measure, 1 / sigma^2, the best on held-out entities.
    offset : float
        Bits added to every score, learned from held-out records as `relatum.pair_tables.offsets`
        says: by F1, or by the likelihood of the matching of two sources.
    background : float
        Bits of pairs that are neither candidates nor scored later.
    precision, recall, f1, spread : float or None
        Of related pairs, in clusters of records that were not learned from; and the standard
        deviation of F1 over folds.
    offsets : mapping
        Held-out F1 by offset, of those tried.
    seconds : mapping
        Of the processor, by stage.
    among : int
        Records among which it was learned; see `shifted`.
    """

    learned_from: str
    records: int
    labelled: int = 0
    entities: int = 0
    candidates: int = 0
    neighbors: int = 0
    block_recall: float = float("nan")
    examples: int = 0
    related: int = 0
    strength: float | None = None
    offset: float = 0.0
    background: float = 0.0
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    spread: float | None = None
    offsets: Mapping[float, float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    among: int = 0

    def shifted(self, records: int) -> float:
        """Return the offset, in bits, for clusters of so many records.

        Of twice as many records of the same kind, a record has as many partners as before, and
        twice as many others that look like it by chance: the odds of a match fall by half, by one
        bit. So far the theory; it costs many true pairs, and a quarter of it does best where it
        was measured, see docs/results/records.md.

        Examples
        --------
        >>> LinkReport("labels", 1000, offset=2.0, among=1000).shifted(16_000)
        1.0
        """
        if not 0 < self.among < records:
            return self.offset
        return self.offset - SHARE * math.log2(records / self.among)

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers, for JSON."""
        out = asdict(self)
        out["offsets"] = {f"{key:g}": value for key, value in self.offsets.items()}
        return out

    def __str__(self) -> str:
        lines = [
            f"{self.records} records, {self.labelled} of them labelled, {self.entities} entities",
            f"{self.candidates} candidates, {self.neighbors} neighbors; block recall "
            f"{self.block_recall:.3f}{'' if self.labelled else ' (estimated)'}",
            f"learned from {self.learned_from}: {self.examples} pairs, {self.related} related"
            + ("" if self.strength is None else f"; strength {self.strength:g}"),
            f"offset {self.offset:+.3g} bits, background {self.background:.3g}",
        ]
        if self.f1 is not None and self.precision is not None and self.recall is not None:
            lines.append(
                f"held out: precision {self.precision:.3f}, recall {self.recall:.3f}, "
                f"F1 {self.f1:.3f} ± {self.spread or 0:.3f}"
            )
        if self.seconds:
            lines.append(", ".join(f"{k} {v:.1f} s" for k, v in self.seconds.items()))
        return "\n".join(lines)
