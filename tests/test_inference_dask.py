"""Many problems on a real Dask cluster, one of whose workers is killed mid-run."""

from __future__ import annotations

import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest

import relatum as rt

distributed = pytest.importorskip(
    "distributed", reason="the package distributed is not installed; it comes with relatum[dask]"
)
pytestmark = pytest.mark.filterwarnings("default")  # a killed worker is mourned with warnings

OPTIONS = {"solver": "partition_local_search", "seed": 7}


@pytest.fixture
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as running:
        yield running


class Killer(threading.Thread):
    """Kills a worker once some problems are solved and others are under way."""

    def __init__(self, cluster: distributed.LocalCluster, pid: int) -> None:
        super().__init__(daemon=True)
        self.scheduler, self.pid = cluster.scheduler, pid
        self.states: list[str] = []

    def run(self) -> None:
        for _ in range(6000):
            states = [task.state for task in list(self.scheduler.tasks.values())]
            if "memory" in states and "processing" in states:
                os.kill(self.pid, signal.SIGKILL)
                self.states = states
                return
            time.sleep(0.01)


def test_a_worker_is_killed_and_nothing_is_lost(cluster):
    rng = np.random.default_rng(0)
    problems = [
        rt.Problem(rng.normal(size=n * (n - 1) // 2), rt.EQUIVALENCES)
        for n in rng.integers(30, 50, size=12)
    ]
    expected = rt.infer_many(problems, n_jobs=1, **OPTIONS)
    with distributed.Client(cluster) as client:
        before = sorted(client.run(os.getpid).values())
        killer = Killer(cluster, before[0])
        killer.start()
        with joblib.parallel_config("dask"):
            found = rt.infer_many(problems, n_jobs=-1, **OPTIONS)
        killer.join(60)
        client.wait_for_workers(2, timeout=60)
        after = sorted(client.run(os.getpid).values())
    assert "processing" in killer.states, "no worker was killed while others were at work"
    assert before[0] not in after
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.relation.labels, other.relation.labels)
        assert one.value == other.value
        assert one.bound == other.bound
