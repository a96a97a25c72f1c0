"""Linear orders: words of sentences put in order by how often one precedes the other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.datasets import data_path, load_sentences, read_sentences
from relatum.errors import DataError
from relatum.inference import infer_many
from relatum.measures import BernoulliMeasure, encode_sequences
from relatum.metrics import PERMUTATION_METRICS, expected_distance, largest_distance
from relatum.problem import LINEAR_ORDERS, Problem
from relatum.proof import Status, verify
from relatum.reproduction.cells import Cells, NotComputed, clock
from relatum.reproduction.settings import Settings

METRICS = ("kendall", "spearman_footrule", "ulam")
_LONGEST = 60  # words; longer lines are lists, not sentences


@dataclass(frozen=True)
class Corpus:
    """Sentences, as numbers of words, for learning and for testing."""

    name: str
    train: list[NDArray[np.int32]]
    test: list[NDArray[np.int32]]
    words: int


def corpora(settings: Settings) -> list[Corpus]:
    """Return the sentences: of Wikipedia, made of its 1,000 and 3,000 most frequent words."""
    if settings.data != "mnist":
        return [_divided("embedded", load_sentences(), settings)]
    folder = data_path("wikipedia")
    if folder is None:
        raise DataError(
            "There are no sentences: RELATUM_DATA must name a folder with wikipedia/, holding "
            "union_top3000.txt.gz (a sentence per line) and dictionary_top1000.txt (words). "
            "Any text will do: relatum.datasets.read_sentences reads it, one sentence per line."
        )
    large = read_sentences(folder / "union_top3000.txt.gz")
    words = (folder / "dictionary_top1000.txt").read_text(encoding="utf-8").split()
    small = [s for s in large if set(words).issuperset(s)]
    for name in ("enwiki_top1000.txt.gz", "simplewiki_top1000.txt.gz"):
        if (folder / name).is_file():
            small += read_sentences(folder / name, words)
    return [_divided("1000", small, settings), _divided("3000", large, settings)]


def _divided(name: str, sentences: Sequence[Sequence[str]], settings: Settings) -> Corpus:
    distinct = sorted({tuple(s) for s in sentences if len(s) <= _LONGEST})
    encoded = encode_sequences(distinct)
    parts = np.split(encoded.tokens, encoded.offsets[1:-1])
    rng = np.random.default_rng(settings.seed)
    order = rng.permutation(len(parts))
    count = min(settings.sentences, len(parts) // 2)
    return Corpus(
        name,
        [parts[k] for k in order[count:]],
        [parts[k] for k in order[:count]],
        len(encoded.words),
    )


def orders(cells: Cells, settings: Settings, corpus: Corpus) -> dict[str, Any]:
    """Return distances from the true orders for every sigma, and seconds by length."""
    rows = []
    for sigma in settings.sigmas:
        key = {**_key(settings, corpus), "sigma": sigma}
        run = partial(_ordered, corpus, sigma, settings)
        with suppress(NotComputed):
            rows.append(cells.numbers(f"orders/{corpus.name}_{sigma}", key, run))
    seconds = cells.numbers(
        f"orders/{corpus.name}_seconds", _key(settings, corpus), lambda: _seconds(corpus)
    )
    return {
        "sentences": len(corpus.test),
        "learned_from": len(corpus.train),
        "words": corpus.words,
        "random": _random(corpus),
        "by_sigma": rows,
        "by_length": seconds["by_length"],
    }


def _key(settings: Settings, corpus: Corpus) -> dict[str, Any]:
    return {"train": len(corpus.train), "test": len(corpus.test), "seed": settings.seed}


def _measure(corpus: Corpus, sigma: float) -> BernoulliMeasure:
    offsets = np.concatenate([[0], np.cumsum([len(t) for t in corpus.train])])
    return BernoulliMeasure(sigma=sigma).fit_sequences(
        np.concatenate(corpus.train), offsets, corpus.words
    )


def _problems(corpus: Corpus, measure: BernoulliMeasure) -> tuple[list[Problem], list[Any]]:
    """Return a problem per sentence, its words sorted so that their true order is not shown."""
    shown = [np.argsort(t, kind="stable") for t in corpus.test]
    bits = [measure.pair_log_odds(t[s]) for t, s in zip(corpus.test, shown, strict=True)]
    return [Problem(b, LINEAR_ORDERS) for b in bits], shown


def _ordered(corpus: Corpus, sigma: float, settings: Settings) -> dict[str, Any]:
    result: dict[str, Any] = {"sigma": sigma}
    with clock(result, "learn"):
        measure = _measure(corpus, sigma)
    with clock(result, "score"):
        problems, shown = _problems(corpus, measure)
    with clock(result, "infer"):
        estimates = infer_many(problems, n_jobs=1, prove=True, time_limit=settings.time_limit)
    with clock(result, "verify"):
        verified = sum(bool(verify(p, e)) for p, e in zip(problems, estimates, strict=True))
    result["optimal"] = sum(e.status is Status.OPTIMAL for e in estimates)
    result["verified"] = verified
    found = [
        _same_words_in_order(t, s[e.relation.order])  # type: ignore[union-attr]
        for t, s, e in zip(corpus.test, shown, estimates, strict=True)
    ]
    for metric in METRICS:
        distance = PERMUTATION_METRICS[metric]
        values = [
            distance(np.arange(len(order)), order) / largest_distance(metric, len(order))
            for order in found
        ]
        result[metric] = float(np.mean(values))
        result[f"{metric}_standard_error"] = float(np.std(values) / np.sqrt(len(values)))
    return result


def _same_words_in_order(words: NDArray[np.int32], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Exchange occurrences of one word, which look the same, so that the earlier come first."""
    out = order.copy()
    at = words[order]
    for word in np.unique(at):
        places = np.flatnonzero(at == word)
        out[places] = np.sort(order[places])
    return out


def _random(corpus: Corpus) -> dict[str, float]:
    """Return the mean normalised distance of random orders, for these lengths."""
    lengths = [len(t) for t in corpus.test]
    return {
        metric: float(
            np.mean([expected_distance(metric, n) / largest_distance(metric, n) for n in lengths])
        )
        for metric in METRICS
    }


def _seconds(corpus: Corpus) -> dict[str, Any]:
    """Return processor seconds of exact inference by the length of the sentence, at sigma = 2."""
    problems, _ = _problems(corpus, _measure(corpus, 2.0))
    lengths = np.array([len(t) for t in corpus.test])
    out = []
    for n in np.unique(lengths):
        some = [problems[k] for k in np.flatnonzero(lengths == n)]
        begin = process_time()
        infer_many(some, n_jobs=1, prove=True)
        spent = process_time() - begin
        out.append({"length": int(n), "sentences": len(some), "cpu_seconds": spent / len(some)})
    return {"by_length": out}
