"""Games with draws and races: rankings by `fit_comparisons` beside Bradley-Terry and Elo.

Formula 1 seasons of PrefLib: what a random half of the races says of the other, over all pairs of
drivers that finished a race. And invented leagues of 20 teams, 4 games of each pair in a random
60 % of the pairs, a fifth of them draws; the games are split at random. Each way gives a
ranking, learned from the first half: ours is the most probable weak order, Bradley-Terry (with
Davidson's parameter for draws, fitted by maximum likelihood with a weak prior) and Elo (K = 24, one
pass) rank by strength. Share of decisive pairs or games of the second half that the ranking has the
right way, where teams that a ranking has level count one half. No setting was tuned.

    RELATUM_DATA=... python benchmarks/games.py [--seasons 40] [--leagues 20]
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations
from pathlib import Path
from time import process_time

import numpy as np
from _machine import machine
from scipy.optimize import minimize

import relatum as rt
from relatum.io import read_preflib

RESULTS = Path(__file__).parent / "results"


def ours(games, n):
    first, second, result = (list(column) for column in zip(*games, strict=True))
    ranker = rt.LinearRanker(feasible=rt.WEAK_ORDERS, time_limit=10.0)
    ranker.fit_comparisons(first, second, result)
    place = np.full(n, np.nan)
    place[list(ranker.items_)] = ranker.predict_ranks()
    return -np.nan_to_num(place, nan=np.nanmean(place))


def davidson(games, n):
    a, b, result = (np.array(column) for column in zip(*games, strict=True))

    def loss(x):
        s, tie = x[:n], x[n]
        up, down = s[a], s[b]
        level = tie + 0.5 * (up + down)
        total = np.logaddexp(np.logaddexp(up, down), level)
        taken = np.where(result == 1, up, np.where(result == 0, down, level))
        share = [np.exp(part - total) for part in (up, down, level)]
        slope = np.zeros(n + 1)
        np.add.at(slope, a, share[0] + 0.5 * share[2] - (result == 1) - 0.5 * (result == 0.5))
        np.add.at(slope, b, share[1] + 0.5 * share[2] - (result == 0) - 0.5 * (result == 0.5))
        slope[n] = float((share[2] - (result == 0.5)).sum()) + 0.1 * tie
        slope[:n] += 0.1 * s
        return float((total - taken).sum() + 0.05 * (s @ s + tie**2)), slope

    return minimize(loss, np.zeros(n + 1), jac=True, method="L-BFGS-B").x[:n]


def elo(games, n):
    rating = np.zeros(n)
    for a, b, result in games:
        change = 24.0 * (result - 1.0 / (1.0 + 10.0 ** ((rating[b] - rating[a]) / 400.0)))
        rating[a] += change
        rating[b] -= change
    return rating


METHODS = {"relatum": ours, "Bradley-Terry, Davidson": davidson, "Elo": elo}


def races(path):
    """Return the comparisons of two random halves of a season, and the number of drivers."""
    votes = read_preflib(path)
    rows = [
        r for r, count in zip(votes.ranks, votes.counts, strict=True) for _ in range(int(count))
    ]
    rows = [rows[k] for k in np.random.default_rng(0).permutation(len(rows))]
    halves = []
    for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
        pairs = []
        for ranks in half:
            there = [k for k, place in enumerate(ranks) if place >= 0]
            for a, b in combinations(there, 2):
                if ranks[a] != ranks[b]:
                    pairs.append((a, b, float(ranks[a] < ranks[b])))
        halves.append(pairs)
    return *halves, len(votes.names)


def league(seed, n=20):
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=n)
    games = []
    for a, b in combinations(range(n), 2):
        if rng.random() < 0.6:
            for _ in range(4):
                up, down = np.exp(strength[a]), np.exp(strength[b])
                weights = np.array([up, down, 0.7 * np.sqrt(up * down)])
                games.append((a, b, (1.0, 0.0, 0.5)[rng.choice(3, p=weights / weights.sum())]))
    order = rng.permutation(len(games))
    half = len(games) // 2
    return [games[k] for k in order[:half]], [games[k] for k in order[half:]], n


def right(strength, games):
    kept = [(strength[a] - strength[b], result) for a, b, result in games if result != 0.5]
    gap, result = (np.array(column) for column in zip(*kept, strict=True))
    return float(np.mean(np.where(gap == 0, 0.5, (gap > 0) == (result == 1))))


def measured(sets):
    found = {name: {"right": [], "seconds": []} for name in METHODS}
    for learn, test, n in sets:
        for name, rank in METHODS.items():
            start = process_time()
            strength = rank(learn, n)
            found[name]["seconds"].append(process_time() - start)
            found[name]["right"].append(right(strength, test))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seasons", type=int, default=40)
    parser.add_argument("--leagues", type=int, default=20)
    options = parser.parse_args()
    sets = {"leagues with draws": [league(seed) for seed in range(options.leagues)]}
    folder = rt.datasets.data_path("preflib")
    if folder is None:
        print("seasons skipped: there is no folder preflib in RELATUM_DATA")
    else:
        files = sorted(Path(folder).glob("00052*/*.soi"))[-options.seasons :]
        sets["Formula 1 seasons"] = [races(file) for file in files]
    out = {"machine": machine(), "sets": {}}
    for name, given in sets.items():
        out["sets"][name] = found = measured(given)
        print(f"{name}: {len(given)}")
        for method, one in found.items():
            print(
                f"  {method:24} right {100 * np.mean(one['right']):5.1f} +- "
                f"{100 * np.std(one['right']):4.1f} %   {np.mean(one['seconds']):6.3f} s"
            )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "games.json").write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
