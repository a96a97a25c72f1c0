"""`relatum.RecordLinker`: with labels of the training half, and without any labels.

"relatum" learns from the records of the training half. Splink learns from those of both halves, and
so does "relatum, all records": it is given all records, and the labels of the training half.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from _records_judge import judge, mean

import relatum as rt
from relatum.errors import RelatumError


def linker_of(task):
    options = {"id": "unique_id"}
    if task.kind.one_per_source:
        options |= {"source": "source", "one_per_source": True}
    return rt.RecordLinker(task.kind.fields, **options)


def predicted(task, linker, repeats, clock, name):
    """Judge the clusters of the test records in several orders; tell the share of them proven."""
    n, judged, closed, gaps = len(task.records), [], [], []
    for repeat in range(repeats):
        order = np.random.default_rng([task.seed, repeat]).permutation(task.test)
        given = task.records.iloc[order].reset_index(drop=True)
        with clock(name):
            found = linker.predict(given)
        table = found.table if isinstance(found.table, pd.DataFrame) else found.table.to_pandas()
        labels = np.arange(n) + n
        labels[table["unique_id"].to_numpy(np.int64)] = pd.factorize(table["cluster_id"])[0]
        judged.append(judge(task.entity, labels, task.test))
        gap = table.groupby("cluster_id")["cluster_gap"].max()  # of a cluster's component
        closed.append(float((gap <= 1e-6).mean()))
        gaps.append(float(found.summary.gap))
    clock.seconds[name] /= repeats
    told = {"largest_gap": max(gaps), "clusters_proven": float(np.mean(closed))}
    return mean(judged), told


def run(task, repeats, clock):
    if not hasattr(rt, "RecordLinker"):
        raise NotImplementedError("this relatum has no RecordLinker")
    out, notes = {}, {}
    train = task.records.iloc[task.train].reset_index(drop=True)
    some = task.entity.astype(float)
    some[task.test] = np.nan
    ways = {
        "relatum": (train, task.entity[task.train]),
        "relatum, all records": (task.records, some),
        "relatum without labels": (task.records, None),
    }
    for name, (records, entity) in ways.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # block recall is told in the report
            linker = linker_of(task)
            try:
                with clock(f"{name}, fit"):
                    linker.fit(records, entity)
            except RelatumError as error:
                notes[name] = f"failed: {error}"
                continue
            out[name], told = predicted(task, linker, repeats, clock, f"{name}, predict")
        notes[name] = {**linker.report_.as_dict(), **told}
    return {**out, "notes": notes}
