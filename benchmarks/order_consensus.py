"""Kemeny consensus of every PrefLib file at hand, certified, with and without ties.

For the dots data, whose true order is known, the consensus is compared with it. Times are
processor seconds on one core.

    RELATUM_DATA=folder python benchmarks/order_consensus.py --limit 30
"""

from __future__ import annotations

import argparse
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=30.0, help="seconds a consensus")
    parser.add_argument("--every", type=int, default=1, help="take every so many files")
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
    save("order_consensus", {"arguments": vars(args), "files": rows})


if __name__ == "__main__":
    main()
