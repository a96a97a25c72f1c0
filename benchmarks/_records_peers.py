"""Logistic regression of scikit-learn, and dedupe, on labelled pairs of the training half."""

from __future__ import annotations

import logging
import random

import numpy as np
from _records_judge import components, judge, of_components
from _records_sets import Comparison
from scipy.optimize import linear_sum_assignment

GRID = np.round(np.concatenate([[0.01, 0.02], np.arange(0.05, 1, 0.05), [0.98, 0.99]]), 2)


FOLDS = 5


# --- scikit-learn -----------------------------------------------------------------------------


def _fit(compare, entity, pairs):
    from sklearn.linear_model import LogisticRegression

    y = entity[pairs[:, 0]] == entity[pairs[:, 1]]
    return LogisticRegression(max_iter=2000).fit(compare(*pairs.T), y)


def _matching(task, pairs, bits, threshold):
    """Label records by the assignment of largest total score above a threshold."""
    labels = np.arange(len(task.records))
    keep = bits > threshold
    left, right = np.unique(pairs[keep, 0]), np.unique(pairs[keep, 1])
    gain = np.zeros((len(left), len(right)))
    at = np.searchsorted(left, pairs[keep, 0]), np.searchsorted(right, pairs[keep, 1])
    gain[at] = bits[keep] - threshold
    i, j = linear_sum_assignment(gain, maximize=True)
    on = gain[i, j] > 0
    labels[right[j[on]]] = left[i[on]]
    return labels


def logistic(task, repeats, clock):
    """Learn from candidates and as many random pairs; choose a threshold out of fold."""
    del repeats  # components and optimal assignments: no ties but those of equal value
    entity, pairs, train = task.entity, task.candidates, task.train
    rng = np.random.default_rng([task.seed, 1])
    with clock("scikit-learn"):
        compare = Comparison(task.records, task.kind.fields, task.text)
        others = rng.choice(train, size=(len(pairs["train"]), 2))
        learned = np.concatenate([pairs["train"], others[others[:, 0] != others[:, 1]]])
        scores = {
            "test": _fit(compare, entity, learned).decision_function(compare(*pairs["test"].T))
        }
        # out of fold, by the entity of the first record: no pair is scored by what it taught
        fold = rng.integers(FOLDS, size=entity.max() + 1)
        scores["train"] = np.empty(len(pairs["train"]))
        for f in range(FOLDS):
            asked = fold[entity[pairs["train"][:, 0]]] == f
            model = _fit(compare, entity, learned[(fold[entity[learned]] != f).all(axis=1)])
            scores["train"][asked] = model.decision_function(compare(*pairs["train"][asked].T))
    judged = of_components(task, scores, {"at .5": 0.0})
    out = {f"scikit-learn, components {name}": value for name, value in judged.items()}
    if task.kind.one_per_source:
        found = {}
        for part, rows in (("train", train), ("test", task.test)):
            for t in np.unique(np.quantile(scores[part], np.linspace(0.5, 1, 60))):
                labels = _matching(task, pairs[part], scores[part], t)
                found[part, float(t)] = judge(entity, labels, rows)["f1"]
        tops = {
            p: max((v, t) for (q, t), v in found.items() if q == p)[1] for p in ("train", "test")
        }
        for name, t in {
            "at .5": 0.0,
            "chosen in training": tops["train"],
            "oracle": tops["test"],
        }.items():
            labels = _matching(task, pairs["test"], scores["test"], t)
            out[f"scikit-learn, assignment {name}"] = judge(entity, labels, task.test)
    return out


# --- dedupe ------------------------------------------------------------------------------------

MOST_MATCHES, MOST_DISTINCT = 500, 1500
"""Labelled pairs given to dedupe: its training of blocking rules takes minutes with more."""


def _variables(fields):
    from dedupe import variables

    kinds = {
        "text": variables.Text,
        "words": variables.Text,
        "name": variables.String,
        "exact": variables.ShortString,
        "date": variables.ShortString,
        "number": variables.Price,
    }
    return [kinds[kind](name, has_missing=True) for name, kind in fields.items()]


def _labelled(task, data, rng):
    """Return candidates of the training half as dedupe wants them, capped, with random pairs."""
    pairs, entity = task.candidates["train"], task.entity
    related = entity[pairs[:, 0]] == entity[pairs[:, 1]]
    match = rng.permutation(pairs[related])[:MOST_MATCHES]
    distinct = rng.permutation(pairs[~related])[:MOST_DISTINCT]
    return {
        "match": [(data[i], data[j]) for i, j in match],
        "distinct": [(data[i], data[j]) for i, j in distinct],
    }


def dedupe(task, repeats, clock):
    """Train dedupe on labelled pairs and cluster at its thresholds, one to one where it can."""
    import dedupe as peer

    del repeats
    logging.getLogger("dedupe").setLevel(logging.ERROR)
    random.seed(task.seed)
    np.random.seed(task.seed)  # noqa: NPY002 - dedupe draws from the global generator
    rng = np.random.default_rng([task.seed, 2])
    fields = task.kind.fields
    data = {}
    for r, row in enumerate(task.records[list(fields)].itertuples(index=False)):
        data[r] = {
            f: (v if v is not None and v == v else None) for f, v in zip(fields, row, strict=True)
        }
        for f, kind in fields.items():  # prices must be positive
            if kind == "number" and not data[r][f]:
                data[r][f] = None
    with clock("dedupe"):
        two = task.kind.one_per_source
        matcher = (peer.RecordLink if two else peer.Dedupe)(_variables(fields), num_cores=0)
        matcher.classifier.n_jobs = 1
        matcher.mark_pairs(_labelled(task, data, rng))
        matcher.prepare_training(*_sides(task, data, task.train))
        matcher.train(recall=0.99)
        scores = {
            part: np.array(matcher.score(matcher.pairs(*_sides(task, data, rows))))
            for part, rows in (("train", task.train), ("test", task.test))
        }
    found = {}
    for part, rows in (("train", task.train), ("test", task.test)):
        for t in GRID:
            if two:
                links = [ids for ids, _ in matcher.one_to_one(scores[part], float(t))]
            else:
                links = [
                    (ids[0], other)
                    for ids, _ in matcher.cluster(scores[part].copy(), float(t))
                    for other in ids[1:]
                ]
            listed = np.array(links, dtype=np.int64).reshape(-1, 2)
            found[part, float(t)] = judge(task.entity, components(len(data), listed), rows)
    tops = {
        p: max((v["f1"], t) for (q, t), v in found.items() if q == p)[1] for p in ("train", "test")
    }
    names = {"at .5": 0.5, "chosen in training": tops["train"], "oracle": tops["test"]}
    return {f"dedupe {name}": found["test", t] for name, t in names.items()}


def _sides(task, data, rows):
    if not task.kind.one_per_source:
        return ({int(r): data[r] for r in rows},)
    source = task.source
    return tuple({int(r): data[r] for r in rows if source[r] == s} for s in "ab")
