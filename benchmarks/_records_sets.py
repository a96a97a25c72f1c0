"""Sets of records with known entities, as `benchmarks/records.py` reads and splits them.

What a field is was declared from the names of the columns, before anything was run, and is the
same for every method: ``text``, ``name``, ``exact``, ``number``, ``date`` or ``words``. Every
method gets the same cleaned table: lower case, nothing for an empty value, only letters and
digits in fields that are exact or dates, only a number in fields that are numbers.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import NearestNeighbors

PERSON = {
    "given_name": "name",
    "surname": "name",
    "street_number": "exact",
    "address_1": "text",
    "address_2": "text",
    "suburb": "name",
    "postcode": "exact",
    "state": "exact",
    "date_of_birth": "date",
    "soc_sec_id": "exact",
}
PAPER = {
    "address": "text",
    "author": "text",
    "editor": "text",
    "institution": "text",
    "month": "exact",
    "note": "text",
    "pages": "text",
    "publisher": "text",
    "title": "text",
    "venue": "text",
    "volume": "exact",
    "year": "exact",
}
PRODUCT = {"name": "text", "description": "text", "price": "number"}
RESTAURANT = {"name": "name", "addr": "text", "phone": "exact", "city": "name", "type": "words"}


@dataclass(frozen=True)
class Kind:
    """How one set is compared: declared beforehand, the same on every split."""

    fields: dict
    one_per_source: bool = False
    k: int = 10
    """Candidates for the peers: each record and its k nearest; entities of Cora are large."""
    em_rules: tuple = ()
    """For Splink: columns (or SQL) to block on while learning by EM, one rule after the other."""
    sure_rules: tuple = ()
    """For Splink: rules that nearly only matches meet, to estimate how many matches there are."""
    sure_recall: float = 0.7


_PEOPLE = Kind(
    PERSON,
    em_rules=(("soc_sec_id",), ("given_name", "surname"), ("date_of_birth",)),
    sure_rules=(("soc_sec_id",), ("given_name", "surname", "date_of_birth")),
)
_PRODUCTS = Kind(
    PRODUCT,
    one_per_source=True,
    em_rules=(("split_part(name, ' ', -1)",), ("price",)),
)
SETS = {
    "abt_buy": _PRODUCTS,
    "abt_buy_thinned": _PRODUCTS,
    "cora": Kind(
        PAPER, k=50, em_rules=(("title",), ("author",)), sure_rules=(("title",),), sure_recall=0.5
    ),
    "fodors_zagat": Kind(
        RESTAURANT,
        one_per_source=True,
        em_rules=(("phone",), ("name",)),
        sure_rules=(("phone",), ("name", "city")),
    ),
    "febrl1": _PEOPLE,
    "febrl2": _PEOPLE,
    "febrl3": _PEOPLE,
}


@dataclass
class Task:
    """One set, split in two by entity: learn from `train`, link the records of `test`."""

    name: str
    kind: Kind
    records: pd.DataFrame
    entity: np.ndarray
    train: np.ndarray
    test: np.ndarray
    seed: int
    text: sparse.csr_matrix = field(repr=False, default=None)
    candidates: dict = field(repr=False, default_factory=dict)
    """Pairs of row numbers within "train" and within "test", for the peers."""

    @property
    def source(self):
        return self.records["source"].to_numpy() if self.kind.one_per_source else None


def _read(path):
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return [
            {k.strip(): (v or "").strip() for k, v in row.items() if k and k.strip()}
            for row in csv.DictReader(file)
        ]


def _rows(folder: Path, name: str):
    """Return raw rows, entities and sources (or None)."""
    if name == "cora":
        rows = _read(folder / "cora" / "records.csv")
        return rows, [row["entity"] for row in _read(folder / "cora" / "entities.csv")], None
    if name.startswith("febrl"):
        rows = _read(folder / "febrl" / f"dataset{name[-1]}.csv")
        return rows, [row["rec_id"].split("-")[1] for row in rows], None
    if name == "fodors_zagat":
        rows = _read(folder / name / "records.csv")
        entity = [row["entity"] for row in _read(folder / name / "entities.csv")]
        # one guide writes telephone numbers as 310/246-1501, the other as 310-246-1501
        return rows, entity, ["ab"["/" not in row["phone"]] for row in rows]
    sides = [_read(folder / "abt_buy" / f"{s}.csv") for s in "ab"]
    number = {(s, row["id"]): k for s, side in enumerate(sides) for k, row in enumerate(side)}
    entity = list(range(len(sides[0]) + len(sides[1])))
    for row in _read(folder / "abt_buy" / "matches.csv"):
        a, b = number[0, row["a_id"]], number[1, row["b_id"]] + len(sides[0])
        entity[b] = entity[a]
    return [*sides[0], *sides[1]], entity, ["a"] * len(sides[0]) + ["b"] * len(sides[1])


def _clean(value, kind):
    value = value.lower()
    if kind == "number":
        found = re.search(r"\d+(\.\d+)?", value.replace(",", ""))
        return float(found.group()) if found else None
    if kind in ("exact", "date"):
        value = re.sub(r"[\W_]", "", value)
    return value or None


def load(folder: Path, name: str):
    """Return the cleaned table (with `unique_id` and perhaps `source`) and the entities."""
    rows, entity, source = _rows(folder, name)
    fields = SETS[name].fields
    table = {f: [_clean(row[f], kind) for row in rows] for f, kind in fields.items()}
    records = pd.DataFrame({"unique_id": np.arange(len(rows)), **table})
    if source is not None:
        records["source"] = source
    entity = np.unique(np.array(entity), return_inverse=True)[1]
    if name == "abt_buy_thinned":
        rng = np.random.default_rng(19)
        thinned = rng.permutation(entity.max() + 1) < (entity.max() + 1) // 2
        side = np.array(["a", "b"])[rng.integers(2, size=entity.max() + 1)]
        keep = ~(thinned[entity] & (records["source"].to_numpy() == side[entity]))
        records, entity = records[keep].reset_index(drop=True), entity[keep]
        records["unique_id"] = np.arange(len(records))
    return records, entity


def split(folder: Path, name: str, seed: int) -> Task:
    """Split the entities in two halves at random, and propose the candidates of the peers."""
    records, entity = load(folder, name)
    kind = SETS[name]
    half = np.random.default_rng(seed).permutation(entity.max() + 1) < (entity.max() + 1) // 2
    halves = np.flatnonzero(half[entity]), np.flatnonzero(~half[entity])
    task = Task(name, kind, records, entity, *halves, seed)
    whole = [
        " ".join(str(v) for v in row if v is not None and v == v)
        for row in records[list(kind.fields)].itertuples(index=False)
    ]
    task.text = vectors(whole, "char_wb")
    for part, rows in (("train", task.train), ("test", task.test)):
        task.candidates[part] = nearest_pairs(task.text, rows, kind.k, task.source)
    return task


# --- candidates and features of the peers ---------------------------------------------------------


def vectors(texts, analyzer):
    if analyzer == "word":
        maker = TfidfVectorizer(token_pattern=r"\w+", sublinear_tf=True)
    else:
        maker = TfidfVectorizer(analyzer=analyzer, ngram_range=(2, 3), sublinear_tf=True)
    try:
        return maker.fit_transform(texts).tocsr()
    except ValueError:  # no words at all
        return sparse.csr_matrix((len(texts), 1))


def nearest_pairs(table, rows, k, source):
    """Return each of the rows and its k nearest, of the other source if there are two."""
    sides = [(rows, rows)]
    if source is not None:
        a, b = (rows[source[rows] == s] for s in "ab")
        sides = [(a, b), (b, a)]
    found = []
    for asking, asked in sides:
        near = NearestNeighbors(n_neighbors=min(k + (source is None), len(asked)), metric="cosine")
        hits = near.fit(table[asked]).kneighbors(table[asking], return_distance=False)
        found.append(np.column_stack([np.repeat(asking, hits.shape[1]), asked[hits.ravel()]]))
    pairs = np.sort(np.concatenate(found), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


LEVELS = (0.15, 0.3, 0.45, 0.6, 0.75, 0.85, 0.95, 0.999)
RATIOS = (0.001, 0.02, 0.1, 0.3, 0.7)


class Comparison:
    """Binned similarities of the fields of two records; missing values have columns of their own.

    Each similarity, of letter groups and of words, becomes one 01-column per level that it reaches
    (a thermometer), so that the log-odds are a step function of it.
    """

    def __init__(self, records, fields, whole):
        self.tables, self.given, self.numbers = [], [], []
        for name, kind in fields.items():
            column = records[name]
            if kind == "number":
                self.numbers.append(column.to_numpy(float, na_value=np.nan))
                continue
            texts = [v if isinstance(v, str) else "" for v in column]
            self.given.append(np.array([bool(t) for t in texts]))
            self.tables.append([vectors(texts, "char_wb"), vectors(texts, "word")])
        self.given.append(np.ones(len(records), bool))
        self.tables.append([whole])

    def __call__(self, i, j):
        parts = []
        for given, tables in zip(self.given, self.tables, strict=True):
            both = given[i] & given[j]
            parts += [both, ~given[i] & ~given[j]]
            for table in tables:
                like = np.asarray(table[i].multiply(table[j]).sum(axis=1)).ravel()
                parts += [both & (like >= level) for level in LEVELS]
        for values in self.numbers:
            ratio = np.abs(np.log(np.maximum(values[i], 0.01) / np.maximum(values[j], 0.01)))
            parts += [np.isfinite(ratio), *[ratio <= level for level in RATIOS]]
        return np.column_stack(parts).astype(np.int8)
