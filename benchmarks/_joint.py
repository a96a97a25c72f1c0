"""What the benchmarks of joint estimation share: methods run on drawn instances, and a table."""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from _machine import machine

import relatum as rt
from relatum.errors import DegenerateWarning
from relatum.joint.inputs import read_joint_problem

RESULTS = Path(__file__).parent / "results"
FIRST_SEED = 1000  # settings were chosen while looking at seeds below


def outcomes(feasible, draw, methods, seeds, time_limit):
    """Errors and objectives by method, one entry per instance, and how many optima were proven.

    `draw(seed)` gives classes, evidence and the truth. Left out are instances without unknown
    pairs and, of clusterings, those whose known pairs are all related or all unrelated.
    """
    errors, objectives = ({name: [] for name in methods} for _ in range(2))
    proven = 0
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        classes, known, truth = draw(seed)
        table, _, _ = read_joint_problem(classes, feasible, evidence=known)
        one_kind = feasible.has("symmetric") and len(np.unique(table.state[~table.unknown])) < 2
        if one_kind or not table.unknown.any():
            continue
        right = table.targets(truth)
        for name, options in methods.items():
            result = rt.joint_estimate(
                classes,
                feasible,
                measure=rt.BernoulliMeasure(1.5),
                evidence=known,
                time_limit=time_limit,
                **options,
            )
            proven += name == "joint, exact" and result.optimal
            wrong = table.targets(result.estimate.relation) != right
            errors[name].append(float(wrong[table.unknown].mean()))
            objectives[name].append(result.objective)
    return errors, objectives, proven


def summary(found):
    """Mean error of every method, and its paired difference to evidence alone; printed, too."""
    base = np.array(found["evidence alone"])
    out = {}
    for name, values in found.items():
        v = np.array(values)
        difference = v - base
        out[name] = {
            "mean error": round(float(v.mean()), 4),
            "difference": round(float(difference.mean()), 4),
            "standard error": round(float(difference.std(ddof=1) / np.sqrt(len(v))), 4),
            "better / equal / worse": [
                int((difference < 0).sum()),
                int((difference == 0).sum()),
                int((difference > 0).sum()),
            ],
        }
        row = out[name]
        print(
            f"  {name:<36}{row['mean error']:8.3f}{row['difference']:+9.3f} "
            f"+- {row['standard error']:.3f}   {row['better / equal / worse']}",
            flush=True,
        )
    return out


def main(description, settings, run, name):
    """Run every setting, `run(setting, seeds, time_limit)`, and write what it returns."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds for each estimate")
    parser.add_argument("--output", type=Path, default=RESULTS / f"{name}.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DegenerateWarning)
    results = [run(setting, options.seeds, options.time_limit) for setting in settings]
    told = {"machine": machine("highspy"), "settings": results}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(told, indent=2) + "\n")
    return 0
