"""MNIST for the experiments: images, labels, clocks, and where results go."""

from __future__ import annotations

import json
import os
import platform
import resource
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time

from relatum.datasets import load_mnist

RESULTS = Path(__file__).parent.parent / "docs" / "results"


def load(part):
    """Images as (n, 784) bytes, and labels; `part` is "train" or "t10k"."""
    return load_mnist()[("train", "t10k").index(part)]


@contextmanager
def clock(record, name):
    """Write elapsed and processor seconds of the body to record[name]."""
    start = perf_counter(), process_time()
    yield
    record[name] = {
        "elapsed seconds": round(perf_counter() - start[0], 2),
        "processor seconds": round(process_time() - start[1], 2),
    }


def peak_gib():
    """Largest resident memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def machine():
    packages = ("numpy", "scipy", "numba", "scikit-learn")
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
    }


def write(result, name, folder=None):
    """Write `result` as JSON, with the machine."""
    path = Path(folder or RESULTS) / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), **result}, indent=1) + "\n")
    print(json.dumps(result, indent=1))
