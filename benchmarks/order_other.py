"""Weak orders, partial orders and preorders, proved on planted structure with noise.

A relation of the family is planted; every ordered pair gets a log-odds of 1 to 5 bits for or
against being related, and a share of them is turned round. Every estimate is checked by
`relatum.verify`. For preorders the distances of the best one from being an equivalence relation
or an order are listed: numbers of pairs, and the values found for the smaller families. Times are
processor seconds on one core.

    python benchmarks/order_other.py --sizes 20 30 40 --noise 0.02 0.05 0.1 --seeds 3 --limit 60
"""

from __future__ import annotations

import argparse
from itertools import product
from statistics import median
from time import perf_counter, process_time

import numpy as np
from _orders import recorded, save

import relatum as rt

FAMILIES = {
    "WEAK_ORDERS": rt.WEAK_ORDERS,
    "PARTIAL_ORDERS": rt.PARTIAL_ORDERS,
    "PREORDERS": rt.PREORDERS,
}
KINDS = ("tied", "one_way", "incomparable")


def planted(family, n, rng):
    """Return a relation of the family: levels, the product of two orders, classes of such."""
    if family == "WEAK_ORDERS":
        level = rng.integers(0, n // 3, n)
        return level[:, None] <= level[None, :]
    groups = n if family == "PARTIAL_ORDERS" else n // 2
    first, second = rng.permutation(groups), rng.permutation(groups)
    between = (first[:, None] <= first[None, :]) & (second[:, None] <= second[None, :])
    label = np.arange(n) if groups == n else rng.integers(0, groups, n)
    return between[np.ix_(label, label)]


def run(family, n, noise, seed, limit):
    """Plant, disturb, infer, verify; return the record."""
    rng = np.random.default_rng([seed, n, int(1000 * noise)])
    truth = planted(family, n, rng)
    c = np.where(truth, 1.0, -1.0) * rng.integers(1, 6, (n, n))
    c[rng.random((n, n)) < noise] *= -1.0
    np.fill_diagonal(c, 0.0)
    problem = rt.Problem(c, FAMILIES[family])
    cpu = process_time()
    until = cpu + limit
    e = rt.infer(
        problem,
        prove=True,
        time_limit=20 * limit,
        monitor=lambda progress: process_time() > until,
    )
    cpu = process_time() - cpu
    y = e.relation.matrix()
    row = {
        "family": family, "n": n, "noise": noise, "seed": seed, "status": e.status.name,
        "value": e.value, "gap_percent": 100 * e.gap / abs(e.value), "cpu_seconds": cpu,
        "verified": bool(rt.verify(problem, e)), "nodes": e.stats["nodes"],
        "value_of_planted": float((c * truth).sum()),
        "pairs_off_planted": int((y != truth).sum()),
        **{k: e.stats[k] for k in ("classes", *KINDS)},
    }  # fmt: skip
    if "value_of" in e.stats:
        row["value_of"] = dict(e.stats["value_of"])
    return row


def show(row):
    print(
        f"{row['family']:15} n={row['n']:2} noise {row['noise']:.2f} {row['status']:8} "
        f"value {row['value']:.0f} (planted {row['value_of_planted']:.0f}) "
        f"gap {row['gap_percent']:.3f} % {row['cpu_seconds']:.2f} s cpu {row['nodes']} nodes "
        f"verified={row['verified']} tied/one way/incomparable "
        f"{'/'.join(str(row[k]) for k in KINDS)}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="*", type=int, default=[20, 30, 40])
    parser.add_argument("--noise", nargs="*", type=float, default=[0.02, 0.05, 0.1])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="processor seconds each")
    parser.add_argument("--resume", action="store_true", help="leave out what is recorded")
    parser.add_argument("--part", type=float, default=1e9, help="stop after so many seconds")
    args = parser.parse_args()
    until = perf_counter() + args.part
    for family in FAMILIES:
        run(family, 6, 0.1, 0, 30.0)  # load
    rows = recorded("order_other").get("problems", []) if args.resume else []
    done = {(r["family"], r["n"], r["noise"], r["seed"]) for r in rows}
    for key in product(FAMILIES, args.sizes, args.noise, range(args.seeds)):
        if key in done:
            continue
        if perf_counter() > until:
            print("stopped after a part; --resume goes on")
            break
        rows.append(run(*key, args.limit))
        show(rows[-1])
        save("order_other", {"arguments": vars(args), "problems": rows}, quiet=True)
    summary(rows)


def summary(rows):
    """Print, by family and size, how many are certified, their times, and the largest gap."""
    for family, n in sorted({(r["family"], r["n"]) for r in rows}):
        own = [r for r in rows if (r["family"], r["n"]) == (family, n)]
        certified = sum(r["status"] == "OPTIMAL" and r["verified"] for r in own)
        seconds = [r["cpu_seconds"] for r in own]
        print(
            f"{family:15} n={n}: {certified} of {len(own)} certified and verified, cpu median "
            f"{median(seconds):.2f} s, most {max(seconds):.2f} s, largest gap "
            f"{max(r['gap_percent'] for r in own):.3f} %"
        )


if __name__ == "__main__":
    main()
