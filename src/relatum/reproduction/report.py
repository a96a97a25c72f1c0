"""The tables of a reproduction as Markdown, what its parts found, and what it has to show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log2
from typing import Any

from relatum.measures import LN2
from relatum.reproduction.orders import METRICS
from relatum.reproduction.paper_values import QUOTED, curve, table
from relatum.reproduction.settings import Settings

Check = tuple[str, bool]


def _table(head: str, rows: Iterable[Sequence[Any]]) -> str:
    """Return a table; `head` holds the headings, with bars between them."""
    names = [name.strip() for name in head.split("|")]
    lines = [names, ["---"] + ["---:"] * (len(names) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def _percent(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{100 * value:.{digits}f}"


def markdown(settings: Settings, results: dict[str, Any], made: Sequence[str]) -> str:
    """Return the whole report."""
    data = {"mnist": "MNIST and sentences of Wikipedia", "digits": "embedded data"}[settings.data]
    out = [f"# Reproduction, {settings.name}: {data}\n"]
    writers = {
        "maps": _maps,
        "pairs": _pairs,
        "equivalences": _equivalences,
        "orders": _orders,
        "beyond": _beyond,
    }
    for part, write in writers.items():
        if part in results:
            out += [f"## {part.capitalize()}\n", *write(settings, results[part])]
            out += [f"![{name}](figures/{name}.png)\n" for name in made if name.startswith(part)]
    out.append("## What it has to show\n")
    out += [f"- {'yes' if holds else 'NO'}: {claim}" for claim, holds in checks(settings, results)]
    return "\n".join(out) + "\n"


def _maps(settings: Settings, maps: dict[str, Any]) -> list[str]:
    rows = []
    for lifting in settings.liftings:
        best = min(maps[lifting.name], key=lambda fit: fit["test_error"])
        x, y = curve("map-error", lifting, "test")
        if settings.data != "mnist":
            x = y = x[:0]
        rows.append(
            [
                lifting.title,
                f"{100 * y.min():.2f} at {_power(x[y.argmin()])}" if len(x) else "-",
                f"{_percent(best['test_error'])} at {_power(2.0 ** best['power'] / LN2**2)}",
                _percent(best["train_error"]),
                f"{best['features_cpu_seconds']:.1f} + {best['train_cpu_seconds']:.1f}",
                f"{best['test_cpu_seconds']:.2f}",
            ]
        )
    head = "lifting | paper: test error in % | test error in % | training error in %"
    head += " | features + training, CPU s | test, CPU s"
    out = [_table(head, rows)]
    out.append("The strength with the least test error is shown, as in the paper.\n")
    if "fewer" in maps:
        out.append("With the first 50,000 training images instead of 60,000 (test errors in %):\n")
        for name, fits in maps["fewer"].items():
            shown = ", ".join(f"2^{f['power']}: {_percent(f['test_error'])}" for f in fits)
            out.append(f"- {name}, by 1/sigma^2 in bits: {shown}")
        out.append("")
    return out


def _power(strength: float) -> str:
    """Write a strength of the prior, in natural units, as a power of two."""
    return f"2^{log2(strength):.1f}".replace(".0", "")


def _pairs(settings: Settings, pairs: dict[str, Any]) -> list[str]:
    rows = []
    for lifting in settings.liftings:
        for sample in ("stratified", "unstratified"):
            found = pairs[lifting.name][sample]
            column = f"error_{sample}"
            k = min(range(len(found["powers"])), key=lambda i: found[column][i])
            rows.append(
                [
                    lifting.title,
                    sample,
                    f"{_power(2.0 ** found['powers'][k] / LN2**2)}",
                    _percent(found["error_stratified"][k], 1),
                    _percent(found["error_unstratified"][k], 1),
                    found["epochs"],
                    f"{found['train_cpu_seconds']:.0f}",
                ]
            )
    head = "lifting | training pairs | best strength | error, stratified, in %"
    head += " | error, unstratified, in % | readings"
    head += f" | CPU s, all {len(settings.pair_powers)} strengths"
    out = [_table(head, rows)]
    if settings.data == "mnist":
        found = pairs[settings.measure.name]
        s = settings.pair_powers.index(settings.stratified_power)
        u = settings.pair_powers.index(settings.unstratified_power)
        quoted = [
            ("pairs, stratified training and test", found["stratified"]["error_stratified"][s]),
            ("pairs, stratified training", found["stratified"]["error_unstratified"][s]),
            ("pairs, unstratified", found["unstratified"]["error_unstratified"][u]),
        ]
        out.append(f"At the paper's strengths, {settings.measure.title}:\n")
        lines = [[name, QUOTED[name], _percent(error, 1)] for name, error in quoted]
        out.append(_table(" | paper, % | ours, %", lines))
    return out


def _equivalences(settings: Settings, found: dict[str, Any]) -> list[str]:
    out = []
    titles = {
        "stratified": "Measure learned from stratified pairs (the paper's table 1)",
        "unstratified": "Measure learned from unstratified pairs (the paper's table 2)",
        "bilinear": "Bilinear measure, beyond the paper",
    }
    for name, title in titles.items():
        paper = table(name) if settings.data == "mnist" else {}
        rows = []
        for line in sorted(found[name]["summary"], key=lambda r: (r["n"], r["method"])):
            printed = paper.get((line["method"], line["n"]), {})
            rows.append(_clustering_row(line, printed))
        head = "method | elements | e_RI, % | paper | VI, nats | paper | sets | paper"
        head += " | objective per pair x 100, nats | paper | CPU s | paper"
        head += " | relative gap | proven and verified"
        out.append(f"### {title}\n")
        alone = found[name].get("pair_errors")
        if alone is not None:
            out.append(
                f"Of all pairs, {_percent(alone['unstratified'])} % are wrong when classified one "
                f"by one (stratified: {_percent(alone['stratified'])} %).\n"
            )
        out.append(_table(head, rows))
    return out


def _clustering_row(line: dict[str, Any], printed: dict[str, float]) -> list[str]:
    def spread(column: str, factor: float, digits: int) -> str:
        value, sd = factor * line[column], abs(factor) * line[f"{column}_sd"]
        return f"{value:.{digits}f}" + (f" ± {sd:.{digits}f}" if line["subsets"] > 1 else "")

    def paper(column: str) -> str:
        return f"{printed[column]:g}" if column in printed else "-"

    return [
        {"exact": "exact", "kl": "Kernighan-Lin", "search": "local search"}[line["method"]],
        f"{line['n']:,}",
        spread("rand_error", 100, 2),
        paper("rand_error_percent"),
        spread("vi_nats", 1, 2),
        paper("variation_of_information"),
        spread("sets", 1, 1),
        paper("sets"),
        spread("objective_per_pair", 100 * LN2, 2),
        paper("objective_per_pair_x100"),
        spread("infer_cpu_seconds", 1, 2),
        paper("seconds"),
        f"{line['relative_gap']:.1e}" if line["relative_gap"] > 0 else "0",
        f"{line['optimal']} of {line['subsets']}" if line["method"] == "exact" else "-",
    ]


def _orders(settings: Settings, orders: dict[str, Any]) -> list[str]:
    out = []
    for name, found in orders.items():
        title = f"{found['sentences']:,} sentences, learned from {found['learned_from']:,} others"
        rows = [["random order", *(f"{found['random'][m]:.3f}" for m in METRICS), "", "", ""]]
        for row in found["by_sigma"]:
            speed = found["sentences"] / max(row["infer_cpu_seconds"], 1e-9)
            rows.append(
                [
                    f"sigma = {row['sigma']:g}",
                    *(f"{row[m]:.3f}" for m in METRICS),
                    row["optimal"],
                    row["verified"],
                    f"{speed:,.0f}",
                ]
            )
        head = f" | {' | '.join(METRICS)} | proven | verified | sentences per CPU second"
        out += [f"### {name}: {found['words']:,} words, {title}\n", _table(head, rows)]
    return out


def _beyond(settings: Settings, found: dict[str, Any]) -> list[str]:
    rows = [
        [
            row["lifting"],
            row["components"],
            _percent(row["test_error"]),
            f"{row['features_cpu_seconds']:.1f} + {row['train_cpu_seconds']:.1f}",
        ]
        for row in found["liftings"].values()
    ]
    out = [_table("lifting | features | test error in % | features + training, CPU s", rows)]
    pairs = found["bilinear"]
    out.append(
        f"Bilinear measure of pairs: {_percent(pairs['error_stratified'])} % of stratified and "
        f"{_percent(pairs['error_unstratified'])} % of all pairs wrong; "
        f"{pairs['train_cpu_seconds']:.0f} CPU s to learn, {pairs['score_cpu_seconds']:.1f} to "
        "score all pairs.\n"
    )
    joint = found["joint"]
    out.append(
        f"Orders of 14 elements, known for 5 of them, {joint['instances']} instances: "
        f"{_percent(joint['error, evidence alone'], 1)} % of unknown pairs wrong when learning "
        f"from the evidence, {_percent(joint['error, joint'], 1)} % when measure and order are "
        f"estimated together (difference {100 * joint['difference']:.1f} "
        f"± {100 * joint['difference_standard_error']:.1f}).\n"
    )
    if found["images"]:
        rows = [
            [
                row["name"],
                _percent(row["map_error"]),
                f"{_percent(row['pair_error_unstratified'])} "
                f"({_percent(row['pair_error_stratified'])})",
                _percent(row["clusters"]["rand_error"]),
                row["clusters"]["sets"],
            ]
            for row in found["images"]
        ]
        head = "images | map error in % | pair error (stratified) in % | e_RI of all, % | sets"
        out.append(_table(head, rows))
    return out


def checks(settings: Settings, results: dict[str, Any]) -> list[Check]:
    """Return what a reproduction has to show, and whether it does."""
    out: list[Check] = []
    full = settings.data == "mnist"
    if full and "maps" in results:
        out += _map_checks(settings, results["maps"])
    if "equivalences" in results:
        out += _clustering_checks(results["equivalences"], full)
    for name, found in results.get("orders", {}).items():
        better = all(
            row[m] + 3 * row[f"{m}_standard_error"] < found["random"][m]
            for row in found["by_sigma"]
            for m in METRICS
        )
        proven = all(row["verified"] == found["sentences"] for row in found["by_sigma"])
        out.append((f"orders, {name}: better than random at every sigma, in every metric", better))
        out.append((f"orders, {name}: every order proven optimal and verified", proven))
    if full and "beyond" in results:
        least = min(row["test_error"] for row in results["beyond"]["liftings"].values())
        out.append((f"best lifting: {_percent(least)} %, at most 1.5 %", least <= 0.015))
    return out


def _map_checks(settings: Settings, maps: dict[str, Any]) -> list[Check]:
    one, two = settings.liftings[0], settings.measure
    linear = min(fit["test_error"] for fit in maps[one.name])
    square = min(fit["test_error"] for fit in maps[two.name])
    return [
        (
            f"d=1: {_percent(linear)} %, within 0.3 points of 8.53 %",
            abs(100 * linear - QUOTED["map, d=1"]) <= 0.3,
        ),
        (
            f"d=2: {_percent(square)} %, at most 3.14 %",
            100 * square <= QUOTED["map, d=2, m=16384"] + 1e-9,
        ),
    ]


def _clustering_checks(found: dict[str, Any], full: bool) -> list[Check]:
    out: list[Check] = []
    for name in ("stratified", "unstratified", "bilinear"):
        lines = found[name]["summary"]
        exact = [line for line in lines if line["method"] == "exact"]
        proven = all(line["optimal"] == line["verified"] == line["subsets"] for line in exact)
        count = sum(line["subsets"] for line in exact)
        out.append((f"{name}: all {count} exact clusterings proven and verified", proven))
    if full:
        for name, most in (("stratified", 0.075), ("bilinear", 0.01)):
            large = [line for line in found[name]["summary"] if line["n"] > 1000]
            if not large:  # not computed yet
                continue
            whole = max(large, key=lambda line: line["method"] == "search")
            claim = f"{name}: e_RI of all {whole['n']:,} images {_percent(whole['rand_error'])} %, "
            out.append((claim + f"at most {100 * most:g} %", whole["rand_error"] <= most))
    return out


def findings(settings: Settings, part: str, found: dict[str, Any]) -> str:
    """Return what a part found.

    Parameters
    ----------
    settings : Settings
    part : str
        One of `relatum.reproduction.PARTS`.
    found : dict
        Its results.
    """
    return _SENTENCES[part](settings, found)


def _share(value: float) -> str:
    return f"{_percent(value)} %"


def _found_maps(settings: Settings, found: dict[str, Any]) -> str:
    least = {
        lifting.title: min(fit["test_error"] for fit in found[lifting.name])
        for lifting in settings.liftings
    }
    best = min(least, key=lambda title: least[title])
    first = settings.liftings[0].title
    other = "" if best == first else f", {_share(least[first])} with {first}"
    return f"test error {_share(least[best])} with {best}{other}"


def _found_pairs(settings: Settings, found: dict[str, Any]) -> str:
    least = {
        sample: min(
            min(found[lifting.name][sample][f"error_{sample}"]) for lifting in settings.liftings
        )
        for sample in ("stratified", "unstratified")
    }
    return ", ".join(f"{_share(error)} of {name} pairs wrong" for name, error in least.items())


def _found_equivalences(settings: Settings, found: dict[str, Any]) -> str:
    told = []
    for name in ("stratified", "unstratified", "bilinear"):
        exact = [line for line in found[name]["summary"] if line["method"] == "exact"]
        if exact:
            largest = max(exact, key=lambda line: line["n"])
            told.append(
                f"{_share(largest['rand_error'])} of pairs of {largest['n']:,} wrong ({name}; "
                f"{sum(line['optimal'] for line in exact)} of "
                f"{sum(line['subsets'] for line in exact)} proven)"
            )
    return "; ".join(told) or "nothing exact"


def _found_orders(settings: Settings, found: dict[str, Any]) -> str:
    told = []
    for name, corpus in found.items():
        metric = METRICS[0]
        best = min(row[metric] for row in corpus["by_sigma"])
        told.append(
            f"{name}: {metric} {best:.3f} (random {corpus['random'][metric]:.3f}), "
            f"{corpus['sentences']:,} sentences"
        )
    return "; ".join(told)


def _found_beyond(settings: Settings, found: dict[str, Any]) -> str:
    least = min(row["test_error"] for row in found["liftings"].values())
    joint = found["joint"]
    return (
        f"best lifting {_share(least)}; bilinear pairs "
        f"{_share(found['bilinear']['error_unstratified'])} wrong; joint orders "
        f"{_share(joint['error, joint'])}, from evidence alone "
        f"{_share(joint['error, evidence alone'])}"
    )


_SENTENCES: dict[str, Callable[[Settings, dict[str, Any]], str]] = {
    "maps": _found_maps,
    "pairs": _found_pairs,
    "equivalences": _found_equivalences,
    "orders": _found_orders,
    "beyond": _found_beyond,
}
