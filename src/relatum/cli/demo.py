"""The demo: learn from embedded data, infer three kinds of relation, check the proofs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Floats
from relatum.cli.output import console, table_of
from relatum.datasets import Digits, load_digits, load_sentences
from relatum.errors import DataError
from relatum.features import BinaryFeatures, TensorSketch, pair_features, sample_pairs
from relatum.inference import infer
from relatum.measures import (
    BernoulliMeasure,
    LogisticMeasure,
    encode_sequences,
    regularization_path,
)
from relatum.metrics import rand_error
from relatum.problem import (
    EQUIVALENCES,
    LINEAR_ORDERS,
    MAPS,
    LinearOrder,
    Partition,
    Problem,
    evidence,
    whole_number,
)
from relatum.proof import Estimate, verify
from relatum.solvers import Progress

if TYPE_CHECKING:
    from relatum.cli.page import Section

THRESHOLDS = [4, 8, 12]  # grey values of the digits run from 0 to 16


@dataclass(frozen=True)
class Case:
    """One inferred relation and what it means to a person."""

    relation: str
    problem: Problem
    estimate: Estimate
    remark: str
    names: Sequence[str] | None = None


def cases(seed: int = 0, quick: bool = False) -> Iterator[Case]:
    """Yield the cases one by one."""
    whole_number(seed, "seed", 0, (1 << 63) - 1, DataError)
    train, test = load_digits()
    yield _map(train, test)
    some = _some_digits(test, seed, quick)
    scores = _pair_scores(train, some, seed)
    clusters = _clustering(scores, some)
    yield clusters
    yield _clustering_with_evidence(scores, some, clusters)
    yield _order(seed)


def _some_digits(test: Digits, seed: int, quick: bool) -> Digits:
    """Return a few digits to cluster."""
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(len(test.labels), 40 if quick else 90, replace=False))
    return Digits(test.images[chosen], test.labels[chosen])


def _code(train: Digits) -> BinaryFeatures:
    return BinaryFeatures(code="thermometer", thresholds=THRESHOLDS).fit(train.images)


def _map(train: Digits, test: Digits) -> Case:
    code = _code(train)
    measure = LogisticMeasure(inverse_sigma_squared=1.0, fit_intercept=True).fit(
        code.transform(train.images), train.labels
    )
    problem = Problem(measure.log_odds(code.transform(test.images)), MAPS)
    estimate = infer(problem, prove=True)
    assert estimate.relation is not None
    labels = estimate.relation.labels  # type: ignore[attr-defined]
    error = np.mean(measure.classes_[labels] != test.labels)
    return Case("map", problem, estimate, f"{error:.1%} of {len(labels)} digits mislabelled")


def _pair_scores(train: Digits, some: Digits, seed: int) -> Floats:
    """Learn from labelled pairs whether two images show the same digit; score all pairs."""
    code = _code(train)
    lift = TensorSketch(degree=2, n_components=2048, random_state=seed)
    i, j, y = sample_pairs(train.labels, 6000, stratified=False, random_state=seed)
    v = code.transform(train.images)
    x = lift.fit_transform(pair_features(v[i], v[j]))
    measure = LogisticMeasure(inverse_sigma_squared=0.03, relative=True).fit(x, y)
    w = code.transform(some.images)
    a, b = np.triu_indices(len(w), 1)
    return np.asarray(measure.log_odds(lift.transform(pair_features(w[a], w[b]))))


def _clustering(scores: Floats, some: Digits) -> Case:
    problem = Problem(scores, EQUIVALENCES)
    estimate = infer(problem, prove=True)
    labels = estimate.relation.labels  # type: ignore[union-attr]
    remark = f"{labels.max() + 1} sets, {rand_error(some.labels, labels):.1%} of pairs wrong"
    return Case("equivalence", problem, estimate, remark)


def _clustering_with_evidence(scores: Floats, some: Digits, before: Case) -> Case:
    """Tell it the truth about six pairs that it got wrong."""
    labels = before.estimate.relation.labels  # type: ignore[union-attr]
    a, b = np.triu_indices(len(labels), 1)
    wrong = (labels[a] == labels[b]) != (some.labels[a] == some.labels[b])
    pairs = np.column_stack([a, b])[wrong][:: max(1, int(wrong.sum()) // 6)][:6]
    same = some.labels[pairs[:, 0]] == some.labels[pairs[:, 1]]
    known = evidence(related=pairs[same], unrelated=pairs[~same])
    problem = Problem(scores, EQUIVALENCES & known)
    estimate = infer(problem, prove=True)
    labels = estimate.relation.labels  # type: ignore[union-attr]
    error = rand_error(some.labels, labels)
    remark = f"told the truth about {len(pairs)} pairs: {error:.1%} of pairs wrong"
    return Case("  + evidence", problem, estimate, remark)


def _order(seed: int) -> Case:
    """Learn from 99 sentences which word comes first; put the words of the other in order."""
    sentences = load_sentences()
    held_out = sentences.pop((89 + seed) % len(sentences))
    words = sorted({w for s in [*sentences, held_out] for w in s})
    tokens, offsets, _ = encode_sequences(sentences, words)
    measure = BernoulliMeasure(sigma=2.0).fit_sequences(tokens, offsets, len(words))
    shuffled = sorted(held_out)
    scores = measure.pair_log_odds(encode_sequences([shuffled], words).tokens)
    problem = Problem(scores, LINEAR_ORDERS)
    estimate = infer(problem, prove=True)
    order = estimate.relation.order  # type: ignore[union-attr]
    sentence = " ".join(shuffled[k] for k in order)
    return Case("linear order", problem, estimate, sentence, shuffled)


COLUMNS = ("relation", "pairs", "value", "bound", "gap in bits", "status", "verified", "seconds")


def _row(case: Case) -> tuple[str, ...]:
    e = case.estimate
    return (
        case.relation,
        f"{case.problem.n_pairs:,}",
        f"{e.value:,.2f}",
        f"{e.bound:,.2f}",
        "< 1e-6" if 0 < e.gap < 1e-6 else f"{e.gap:.3g}",
        e.status.name,
        "yes" if verify(case.problem, e) else "NO",
        f"{e.stats['seconds']:.2f}",
    )


def run(seed: int = 0, quick: bool = False, page: Path | None = None) -> None:
    """Print the table and the remarks; write the page if a path is given."""
    screen = console()
    table = table_of(COLUMNS, words=("relation", "status", "verified"))
    started = time.perf_counter()
    with screen.status("learning and inferring"):
        found = list(cases(seed, quick))
        rows = [_row(case) for case in found]
    for row in rows:
        table.add_row(*row)
    screen.print(table)
    screen.print()
    for case in found:
        screen.print(f"[bold]{case.relation.strip(' +')}[/bold]: {case.remark}")
    screen.print(
        f"\nLearned and inferred in {time.perf_counter() - started:.1f} s. Value and bound are in "
        "bits: no feasible relation is more than 2^gap times as probable as the one found."
    )
    if page is not None:
        _write_page(page, rows, found, seed, quick)
        screen.print(f"Pictures are in {page}.")


def _write_page(
    page: Path, rows: list[tuple[str, ...]], found: list[Case], seed: int, quick: bool
) -> None:
    from relatum.cli.page import write_page

    test = load_digits()[1]
    some = _some_digits(test, seed, quick)
    sections = [
        _clusters_section(found[1], some),
        _evidence_section(found[1], found[2], some),
        _order_section(found[3]),
        _map_section(found[0], test),
        _learning_section(seed, quick),
    ]
    write_page(page, sections, COLUMNS, rows)


def _sure(case: Case, what: str) -> str:
    """Return the sentence that the estimate proves, and whether it was checked."""
    e, checked = case.estimate, verify(case.problem, case.estimate)
    times = "1" if e.gap < 1e-6 else f"2^{e.gap:.2f}"
    power = "2^0 = 1 times" if times == "1" else f"{times} times"
    told = "Checked, without a solver, in exact arithmetic" if checked else "NOT VERIFIED"
    return f"No other {what} is more than {power} as probable. {told}."


def _both(problem: Problem) -> Floats:
    scores = problem.dense()
    return np.asarray(scores + scores.T)


def _clusters_section(case: Case, some: Digits) -> Section:
    from relatum.cli.page import Section, figure, sized
    from relatum.explanation import explain
    from relatum.plots import svg

    images, found = some.images.astype(np.float64), case.estimate.relation
    assert isinstance(found, Partition)
    why = explain(case.problem, case.estimate, *_surprising(case))
    drawn = svg.clusters(_both(case.problem), found, images, "Log-odds of all pairs, by cluster")
    cost = f"{'' if why.apart.exact else 'at least '}{why.apart.low:.1f} bits"
    reason = (
        "The two images at the ends look different to the measure "
        f"({why.log_odds:+.1f} bits), and are together all the same: this chain decides. "
        f"Forcing them apart would cost {cost}."
    )
    return Section(
        f"Which of {len(images)} images show the same digit?",
        "Nobody said which digits there are, nor how many. Every cell is a pair of images, blue if "
        "the two look the same; frames are the clusters found.",
        [figure(sized(drawn, "large"), "The images stand along both sides, in two rows.")],
        case.remark[0].upper() + case.remark[1:] + ".",
        _sure(case, "clustering"),
        [figure(sized(svg.chain(why, images, why.sentence), "small"), reason)],
    )


def _evidence_section(before: Case, after: Case, some: Digits) -> Section:
    from relatum.cli.page import Section, figure, sized
    from relatum.plots import svg

    images, known = some.images.astype(np.float64), after.problem.evidence
    first, second = before.estimate.relation, after.estimate.relation
    assert isinstance(first, Partition)
    assert isinstance(second, Partition)
    told = [(int(a), int(b), True) for a, b in known.related]
    told += [(int(a), int(b), False) for a, b in known.unrelated]
    changed = int((first.matrix() != second.matrix()).sum()) // 2
    drawn = svg.clusters(
        _both(before.problem),
        second,
        images,
        "The clusters after that",
        [(a, b) for a, b, _ in told],
    )
    wrong = [rand_error(some.labels, x.labels) for x in (first, second)]
    return Section(
        f"What do {len(told)} answers of a person change?",
        "Somebody looked at these pairs. The answers are taken for sure, and the most probable "
        "clustering that obeys them is found anew.",
        [
            figure(
                sized(svg.pairs(told, images, "Pairs that were told"), "small"), "What was said."
            ),
            figure(sized(drawn, "large"), "Pairs that were told are framed in orange."),
        ],
        f"{len(told)} pairs told, {changed} changed: wrong pairs {wrong[0]:.1%} before, "
        f"{wrong[1]:.1%} after.",
        _sure(after, "clustering that obeys them"),
    )


def _order_section(case: Case) -> Section:
    from relatum.cli.page import Section, figure, sized
    from relatum.plots import svg

    found, names = case.estimate.relation, list(case.names or ())
    assert isinstance(found, LinearOrder)
    drawn = svg.order(case.problem.dense(), found, names, "Log-odds that one word comes first")
    return Section(
        "In which order do these words stand?",
        f"The words {', '.join(names)} of a sentence that was not learned from. A number says how "
        "many bits speak for its row coming before its column, as in 99 other sentences.",
        [figure(sized(drawn, "middle"), "All that is above the steps is in the order found.")],
        case.remark,
        _sure(case, "order"),
    )


def _map_section(case: Case, test: Digits) -> Section:
    from relatum.cli.page import Section, figure, sized
    from relatum.plots import svg

    found = case.estimate.relation.labels  # type: ignore[union-attr]
    wrong = np.flatnonzero(found != test.labels)[:6]
    right = np.flatnonzero(found == test.labels)[: 30 - len(wrong)]
    shown = np.concatenate([right, wrong])
    drawn = svg.labels(
        case.problem.dense()[shown],
        found[shown],
        [str(k) for k in range(10)],
        test.images[shown].astype(np.float64),
        "Log-odds of ten labels",
    )
    return Section(
        "Which digit is it?",
        f"Learned from 1,000 labelled images, asked about {len(found)} others; {len(shown)} of "
        "them are shown. A column has the log-odds of the ten labels of one image.",
        [figure(sized(drawn, "large"), f"The last {len(wrong)} are mistakes.")],
        case.remark[0].upper() + case.remark[1:] + ".",
        _sure(case, "map"),
    )


def _learning_section(seed: int, quick: bool) -> Section:
    from relatum import plots
    from relatum.cli.page import Section, figure, picture

    n = 20 if quick else 32
    reports, path = _watched(seed, n), _regularization()
    curves = "Digits mislabelled against the strength of the prior."
    met = bool(reports) and reports[-1].bound - reports[-1].value < 1e-6
    end = "until they meet" if met else "which did not meet within a second"
    search = f"A random order of {n} elements: value and bound over time, {end}."
    return Section(
        "How it learns, and how it searches",
        "Left to themselves, measures believe too much: a prior holds them back. A search raises "
        "the value and lowers the bound, until nothing better is possible or time is over.",
        [
            figure(picture(lambda: plots.curves(*path), curves), curves),
            figure(picture(lambda: plots.progress(reports), search), search),
        ],
    )


def _surprising(case: Case) -> tuple[int, int]:
    """Return the two elements of one cluster that speak most against it."""
    labels = case.estimate.relation.labels  # type: ignore[union-attr]
    scores = case.problem.dense()
    apart = labels[:, None] != labels[None, :]
    scores[apart | np.tri(len(labels), dtype=np.bool_)] = np.inf
    first, second = np.unravel_index(np.argmin(scores), scores.shape)
    return int(first), int(second)


def _regularization() -> tuple[NDArray[np.floating], dict[str, ArrayLike]]:
    train, test = load_digits()
    code = _code(train)
    x, z = code.transform(train.images), code.transform(test.images)
    strengths = 2.0 ** np.arange(-4, 13, 4)
    path = regularization_path(
        x, train.labels, strengths, measure=LogisticMeasure(fit_intercept=True)
    )
    errors: dict[str, ArrayLike] = {
        "training": path.errors(x, train.labels),
        "test": path.errors(z, test.labels),
    }
    return strengths, errors


def _watched(seed: int, n: int) -> list[Progress]:
    """Search for the best of all orders of n elements; return what a monitor is told."""
    reports: list[Progress] = []
    scores = np.random.default_rng(seed).normal(size=(n, n))
    infer(Problem(scores, LINEAR_ORDERS), prove=True, time_limit=1.0, monitor=reports.append)
    return reports
