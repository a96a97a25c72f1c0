"""Kemeny consensus of every PrefLib file at hand, certified, with and without ties.

For the dots data, whose true order is known, the consensus is compared with it. With `--peers`,
corankco orders some of the complete sets beside us, with the same penalties: exactly (by PuLP and
CBC, as CPLEX is not at hand) and by its heuristic BioConsert. It runs in a process of its own, by
the interpreter named, since its licence (GPL) and its requirements are not ours. Times are
processor seconds, of children included.

    RELATUM_DATA=folder python benchmarks/order_consensus.py --limit 30 --peers path/to/python
"""

from __future__ import annotations

import argparse
import json
import subprocess
from time import process_time

import numpy as np
from _orders import data_folder, save

import relatum as rt
from relatum.io import read_preflib


def kendall_to_truth(consensus, names):
    """Return how many pairs are turned round; the names of dots are their numbers, few first."""
    rank = {name: k for k, name in enumerate(consensus)}
    true = sorted(names, key=int)
    places = np.array([rank[name] for name in true])
    return int(np.triu(places[:, None] > places[None, :], 1).sum())


CORANKCO = """
import json, resource, sys
from importlib.metadata import version
from corankco.algorithms.bioconsert.bioconsert import BioConsert
from corankco.algorithms.exact.exactalgorithmpulp import ExactAlgorithmPulp
from corankco.dataset import Dataset
from corankco.scoringscheme import ScoringScheme

def seconds():
    both = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in both)

# a pair costs 2 if turned round and 1 if tied on one side only
scheme = ScoringScheme([[0.0, 2.0, 1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]])
tiny = Dataset.from_raw_list([[{1}, {2}], [{2}, {1}]])
out = {}
for name, algorithm in (("BioConsert", BioConsert()), ("exact", ExactAlgorithmPulp())):
    algorithm.compute_consensus_rankings(tiny, scheme, True)  # compile
    data = Dataset.from_raw_list([[set(b) for b in r] for r in json.loads(sys.argv[1])])
    began = seconds()
    consensus = algorithm.compute_consensus_rankings(data, scheme, True)
    taken = seconds() - began
    buckets = consensus.consensus_rankings[0].buckets
    out[name] = [taken, [[int(str(e)) for e in b] for b in buckets]]
print("RESULT" + json.dumps(out))
print("VERSION" + version("corankco"))
"""


def by_corankco(python, rankings, limit):
    """Return {algorithm: (processor seconds, distance)} of corankco, or why there is none.

    Its version is there too.
    """
    ballots = []
    for ranks, count in zip(rankings.ranks.tolist(), rankings.counts.tolist(), strict=True):
        buckets = [[a for a, r in enumerate(ranks) if r == place] for place in sorted(set(ranks))]
        ballots += [buckets] * int(count)
    try:
        done = subprocess.run(
            [python, "-c", CORANKCO, json.dumps(ballots)],
            capture_output=True, text=True, check=False, timeout=limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"not done within {limit} s"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    result, version = done.stdout.split("RESULT")[-1].split("VERSION")
    out = {
        name: [cpu, distance(rankings, buckets)]
        for name, (cpu, buckets) in json.loads(result).items()
    }
    return {"version": version.strip(), **out}


def distance(rankings, buckets):
    """Sum over voters and pairs: 2 if turned round, 1 if tied on one side only."""
    place = np.empty(rankings.n)
    for k, bucket in enumerate(buckets):
        place[bucket] = k
    i, j = np.triu_indices(rankings.n, 1)
    apart = np.abs(
        np.sign(rankings.ranks[:, i] - rankings.ranks[:, j]) - np.sign(place[i] - place[j])
    )
    return float(rankings.counts @ apart.sum(axis=1))


def run_peers(paths, args):
    """Order complete sets of 18 elements and more beside corankco."""
    rows = []
    for path in paths:
        rankings = read_preflib(path)
        if not rankings.complete or not 18 <= rankings.n <= 40 or rankings.counts.sum() > 60:
            continue
        if len(rows) >= args.peer_files:
            break
        cpu = process_time()
        result = rt.consensus(rt.Votes.from_rankings(rankings), ties=True, time_limit=args.limit)
        cpu = process_time() - cpu
        row = {
            "file": path.name, "n": rankings.n, "relatum": [cpu, result.distance],
            "status": result.estimate.status.name,
            "corankco": by_corankco(args.peers, rankings, args.peer_limit),
        }  # fmt: skip
        rows.append(row)
        print(row, flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=30.0, help="seconds a consensus")
    parser.add_argument("--every", type=int, default=1, help="take every so many files")
    parser.add_argument("--peers", metavar="PYTHON", help="an interpreter with corankco")
    parser.add_argument("--peer-files", type=int, default=12)
    parser.add_argument("--peer-limit", type=float, default=120.0)
    args = parser.parse_args()
    rt.consensus(rt.Votes.from_rankings([[0, 1, 2], [1, 2, 0], [2, 0, 1]]), ties=True)
    rows = []
    paths = sorted((data_folder() / "preflib").rglob("*.*o[ci]"))
    for path in paths[:: args.every]:
        rankings = read_preflib(path)
        votes = rt.Votes.from_rankings(rankings)
        for ties in (False, True):
            cpu = process_time()
            result = rt.consensus(votes, ties=ties, time_limit=args.limit)
            cpu = process_time() - cpu
            e = result.estimate
            row = {
                "file": path.name, "n": rankings.n, "ties": ties, "status": e.status.name,
                "distance": result.distance, "gap": e.gap, "cpu_seconds": cpu,
                "verified": bool(rt.verify(result.problem, e)),
            }  # fmt: skip
            if "dots" in str(path):
                row["pairs_off_the_true_order"] = kendall_to_truth(result.ranking, rankings.names)
            rows.append(row)
            if e.status is not rt.Status.OPTIMAL or cpu > 5 or "dots" in str(path):
                print(row, flush=True)
    for ties in (False, True):
        own = [r for r in rows if r["ties"] is ties]
        certified = [r for r in own if r["status"] == "OPTIMAL" and r["verified"]]
        seconds = sorted(r["cpu_seconds"] for r in own)
        print(
            f"{'with' if ties else 'without'} ties: {len(certified)} of {len(own)} certified, "
            f"cpu median {seconds[len(seconds) // 2]:.3f} s, max {seconds[-1]:.2f} s"
        )
    results = {"arguments": vars(args), "files": rows}
    if args.peers:
        args.peers = str(args.peers)
        results["peers"] = run_peers(paths[::5], args)
    results["arguments"] = {k: v for k, v in vars(args).items() if k != "peers"}
    save("order_consensus", results)


if __name__ == "__main__":
    main()
