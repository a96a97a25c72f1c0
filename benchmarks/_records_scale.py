"""Many records of invented persons: linked end to end in a process of its own, or at offsets."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FIELDS = {
    "given_name": "name",
    "surname": "name",
    "street": "text",
    "town": "name",
    "postcode": "exact",
    "born": "date",
    "phone": "exact",
}
LABELLED = 1500
"""Persons whose records are labelled and learned from; they are not among those linked."""


def make(n, folder):
    """Write about n records and their entities, and apart from them the labelled ones."""
    import pyarrow.parquet as pq

    import relatum as rt

    for name, persons, seed in (("labelled", LABELLED, 1), ("records", int(n / 2.5), 2)):
        people = rt.datasets.load_people(persons, seed=seed)
        pq.write_table(people.records, folder / f"{name}.parquet")
        np.save(folder / f"{name}.npy", people.entity)


def link(folder):
    """Learn and link, and print what it took."""
    import relatum as rt

    labels = np.load(folder / "labelled.npy")
    linker = rt.RecordLinker(FIELDS)
    start = time.process_time()
    linker.fit(str(folder / "labelled.parquet"), labels)
    fitted = time.process_time()
    found = linker.predict(str(folder / "records.parquet"), output=folder / "clusters.parquet")
    took = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    told = {
        "fit_seconds": fitted - start,
        "predict_seconds": took - fitted,
        "peak_bytes": peak,
        "gap": float(found.summary.gap),
        "report": linker.report_.as_dict(),
    }
    print("RESULT " + json.dumps(told), flush=True)


# --- what more records do to an offset

SHARES = (0.0, 0.125, 0.25, 0.5, 0.75, 1.0)
"""Bits for each doubling of the records, tried."""


def shifts(persons=4000, labelled=250, seeds=(201, 202)):
    """Learn from few records and link many, offsets falling by some bits for each doubling.

    Labelled persons are drawn from those that are linked ("sample"), or are of another, smaller
    population ("apart"), where fewer have the same surname by chance.
    """
    import relatum as rt

    told = {}
    for seed in seeds:
        many = rt.datasets.load_people(persons, mistakes=2.5, seed=seed)
        few = rt.datasets.load_people(labelled, mistakes=2.5, seed=seed + 1000)
        drawn = np.random.default_rng(seed).permutation(persons)[:labelled]
        own = np.isin(many.entity, drawn)
        rest = many.records.filter((~own).tolist()), many.entity[~own]
        cases = {
            "sample": ((many.records.filter(own.tolist()), many.entity[own]), rest),
            "apart": ((few.records, few.entity), (many.records, many.entity)),
        }
        for name, (known, linked) in cases.items():
            found = told.setdefault(name, {})
            for share, judged in _shifted(known, linked).items():
                found.setdefault(str(share), []).append(judged)
                print(name, seed, share, *(f"{x:.3f}" for x in judged), flush=True)
    return told


def _shifted(known, linked):
    """Return precision, recall and F1 by share."""
    import relatum as rt

    (records, entity), linker = linked, rt.RecordLinker(FIELDS)
    linker.fit(*known)
    doublings, out = np.log2(len(entity) / len(known[1])), {}
    place = {v: k for k, v in enumerate(records["id"].to_pylist())}
    for share in SHARES:
        # a given offset is left as it is
        other = rt.RecordLinker(FIELDS, offset=linker.offset_ - share * doublings)
        vars(other).update({k: v for k, v in vars(linker).items() if k.endswith("_")})
        other.offset_ = other.offset
        table = other.predict(records).table
        labels = np.arange(len(entity)) + len(entity)
        rows = [place[v] for v in table["id"].to_pylist()]
        labels[rows] = np.unique(table["cluster_id"].to_pylist(), return_inverse=True)[1]
        found = rt.metrics.pair_precision_recall_f1(entity, labels)
        out[share] = [float(x) for x in found]
    return out


def run(n):
    """Make, link, and judge: three processes, so that each has its own peak of memory."""
    import pyarrow.parquet as pq

    import relatum as rt

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for job in ("make", "link"):
            done = subprocess.run(
                [sys.executable, __file__, job, str(n), place],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
        told = json.loads(done.stdout.split("RESULT ")[1].splitlines()[0])
        entity = np.load(folder / "records.npy")
        clusters = pq.read_table(folder / "clusters.parquet")
        ids = clusters["id"].to_numpy()
        labels = clusters["cluster_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    found = rt.metrics.pair_precision_recall_f1(entity[ids], labels)
    told |= dict(zip(("precision", "recall", "f1"), map(float, found), strict=True))
    told["records"] = len(entity)
    print(
        f"{len(entity)} records: {told['fit_seconds']:.0f} s of the processor to learn, "
        f"{told['predict_seconds']:.0f} s to link, peak {told['peak_bytes'] / 1e9:.2f} GB; "
        f"precision {found[0]:.3f}, recall {found[1]:.3f}, F1 {found[2]:.3f}"
    )
    return told


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        link(Path(sys.argv[3]))
