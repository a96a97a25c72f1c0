"""Splink, as its documentation says: u by random sampling, m by EM, then its own clusterings.

It learns from all records of a set, without labels, and scores the same candidates as the other
peers. Comparisons follow from the kinds of fields: `NameComparison`, `DateOfBirthComparison`,
Damerau-Levenshtein for codes, percentages for numbers, shares of common words for text.
"""

from __future__ import annotations

import inspect
import logging
import re
import warnings

import numpy as np
import pandas as pd
from _records_judge import judge, mean, of_components

import relatum as rt

GRID = np.arange(-20, 21, 2.5)
"""Thresholds in bits for single best links, where no sweep is cheap."""


def comparisons(fields):
    import splink.comparison_level_library as cll
    import splink.comparison_library as cl

    def words(name):
        left, right = f'"{name}_words_l"', f'"{name}_words_r"'
        both = f"len(list_intersect({left}, {right}))"
        share = f"{both} / (len({left}) + len({right}) - {both})"
        levels = [cll.NullLevel(name), cll.ExactMatchLevel(name), cll.JaroWinklerLevel(name, 0.95)]
        levels += [
            cll.CustomLevel(f"{share} >= {t}", f"words in common >= {t}")
            for t in (0.8, 0.6, 0.45, 0.3, 0.2, 0.1)
        ]
        return cl.CustomComparison([*levels, cll.ElseLevel()], output_column_name=name)

    def number(name):
        levels = [cll.NullLevel(name), cll.ExactMatchLevel(name)]
        levels += [cll.PercentageDifferenceLevel(name, t) for t in (0.02, 0.1, 0.3)]
        return cl.CustomComparison([*levels, cll.ElseLevel()], output_column_name=name)

    def date(name):
        return cl.DateOfBirthComparison(
            name, input_is_string=True, datetime_format="%Y%m%d", invalid_dates_as_null=False
        )

    def often(make):
        return lambda name: make(name).configure(term_frequency_adjustments=True)

    made = {
        "text": words,
        "words": words,
        "number": number,
        "date": date,
        "name": often(cl.NameComparison),
        "exact": often(lambda name: cl.DamerauLevenshteinAtThresholds(name, [1, 2])),
    }
    return [made[kind](name) for name, kind in fields.items()]


def tables(task, ids):
    """Return one table, or one for each source, with lists of words beside texts."""
    table = task.records.copy()
    table["unique_id"] = ids
    for name, kind in task.kind.fields.items():
        if kind in ("text", "words"):
            table[f"{name}_words"] = [
                sorted(set(re.findall(r"\w+", v))) if isinstance(v, str) else None
                for v in table[name]
            ]
    if not task.kind.one_per_source:
        return [table]
    return [table[table["source"] == s].drop(columns="source") for s in "ab"]


def linker_of(task, ids, settings):
    from splink import DuckDBAPI, Linker

    db = DuckDBAPI()
    given = [
        db.register(t, dataset_display_name=name)
        for t, name in zip(tables(task, ids), "ab", strict=False)
    ]
    return db, Linker(given if len(given) > 1 else given[0], settings, log_level=None)


def learned(task):
    """Return a linker whose parameters EM has estimated, without labels."""
    from splink import SettingsCreator, block_on

    kind, n = task.kind, len(task.records)
    settings = SettingsCreator(
        link_type="link_only" if kind.one_per_source else "dedupe_only",
        comparisons=comparisons(kind.fields),
        probability_two_random_records_match=(2 if kind.one_per_source else 1) / n,
        retain_matching_columns=False,
    )
    db, linker = linker_of(task, np.arange(n), settings)
    if kind.sure_rules:
        linker.training.estimate_probability_two_random_records_match(
            [block_on(*rule) for rule in kind.sure_rules], recall=kind.sure_recall
        )
    linker.training.estimate_u_using_random_sampling(max_pairs=1.1e6, seed=1)
    for rule in kind.em_rules:
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(*rule))
    return db, linker


def scored(task, db, linker):
    """Return the match weights of the candidates of both halves, in their order."""
    pairs = np.concatenate([task.candidates["train"], task.candidates["test"]])
    keys = pairs.astype(str)
    if task.kind.one_per_source:
        source = task.records["source"].to_numpy()
        keys = np.array([[f"{source[v]}-__-{v}" for v in pair] for pair in pairs])
    table = pd.DataFrame({"match_key": "0", "join_key_l": keys[:, 0], "join_key_r": keys[:, 1]})
    if not task.kind.one_per_source:
        table[["join_key_l", "join_key_r"]] = pairs
    linker.table_management.register_blocked_pairs_for_predict(db.register(table))
    found = linker.inference.predict(warning_mode="never").as_pandas_dataframe()
    n = len(task.records)
    ends = found[["unique_id_l", "unique_id_r"]].to_numpy(np.int64)
    weight = dict(
        zip((np.sort(ends, axis=1) @ [n, 1]).tolist(), found["match_weight"], strict=True)
    )
    bits = np.array([weight[key] for key in (np.sort(pairs, axis=1) @ [n, 1]).tolist()])
    cut = len(task.candidates["train"])
    return {"train": bits[:cut], "test": bits[cut:]}, found


def single_best_links(task, linker, found, repeats):
    """Judge `cluster_using_single_best_links`, with ids in several orders, as ties go by id."""
    settings = linker.misc.save_model_to_json()
    n = len(task.records)
    sums = []
    for repeat in range(repeats):
        ids = np.random.default_rng([task.seed, repeat]).permutation(n)
        db, other = linker_of(task, ids, settings)
        table = found.copy()
        for end in "lr":
            table[f"unique_id_{end}"] = ids[table[f"unique_id_{end}"].to_numpy(np.int64)]
        predicted = other.table_management.register_table_predict(db.register(table))
        rows = []
        for t in [0.0, *GRID]:
            clusters = other.clustering.cluster_using_single_best_links(
                predicted, duplicate_free_datasets=["a", "b"], threshold_match_weight=float(t)
            ).as_pandas_dataframe()
            labels = np.empty(n, np.int64)
            place = np.argsort(ids)[clusters["unique_id"].to_numpy(np.int64)]
            labels[place] = pd.factorize(clusters["cluster_id"])[0]
            rows.append([judge(task.entity, labels, part) for part in (task.train, task.test)])
        sums.append(rows)
    means = [[mean([s[t][part] for s in sums]) for part in (0, 1)] for t in range(len(GRID) + 1)]
    chosen = max(range(1, len(means)), key=lambda t: means[t][0]["f1"])
    oracle = max(range(1, len(means)), key=lambda t: means[t][1]["f1"])
    names = {"at .5": 0, "chosen in training": chosen, "oracle": oracle}
    return {name: means[t][1] for name, t in names.items()}


def clustered(task, scores, options, repeats):
    """Judge what `cluster_pairs` makes of Splink's scores, rows and ids in several orders."""
    pairs = np.concatenate([task.candidates["train"], task.candidates["test"]])
    bits = np.concatenate([scores["train"], scores["test"]])
    n, found = len(task.records), []
    options = dict(options)
    needs_labels = options.pop("labels", False)
    for repeat in range(repeats):
        rng = np.random.default_rng([task.seed, repeat])
        ids, rows = rng.permutation(n), rng.permutation(len(pairs))
        table = pd.DataFrame(ids[pairs[rows]], columns=["unique_id_l", "unique_id_r"])
        table["match_weight"] = bits[rows]
        if needs_labels:
            options["labels"] = {int(ids[r]): int(task.entity[r]) for r in task.train}
        if task.source is not None:
            options["one_per_group"] = {int(ids[r]): s for r, s in enumerate(task.source)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # block recall is told in the table
            clusters = rt.cluster_pairs(table, **options).table
        clusters = clusters if isinstance(clusters, pd.DataFrame) else clusters.to_pandas()
        labels = np.arange(n) + n  # records without candidates stay alone
        place = np.argsort(ids)[clusters["unique_id"].to_numpy(np.int64)]
        labels[place] = clusters["cluster_id"].to_numpy(np.int64)
        found.append(judge(task.entity, labels, task.test))
    return mean(found)


def run(task, repeats, clock):
    logging.getLogger("splink").setLevel(logging.ERROR)
    out = {}
    with clock("splink"):
        db, linker = learned(task)
        scores, found = scored(task, db, linker)
    judged = of_components(task, scores, {"at .5": 0.0, "at .9": float(np.log2(9))})
    out |= {f"Splink, components {name}": value for name, value in judged.items()}
    if task.kind.one_per_source:
        with clock("splink single best links"):
            judged = single_best_links(task, linker, found, repeats)
        out |= {f"Splink, single best links {name}": value for name, value in judged.items()}
    ways = {"": {}, " background learned,": {"background": "learned", "labels": True}}
    if "offset" in inspect.signature(rt.cluster_pairs).parameters:
        ways[" offset learned,"] = {"offset": "learned", "labels": True}
    for name, options in ways.items():
        with clock(f"relatum{name} on Splink's scores"):
            out[f"relatum,{name} on Splink's scores"] = clustered(task, scores, options, repeats)
    return out
