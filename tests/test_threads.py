"""Results in order, and signals that come to another thread than the one that waits."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import relatum as rt
from relatum.solvers.order.search import OrderSearch
from relatum.solvers.partition.search.dense import DenseSearch
from relatum.threads import Threads

needs_signals = pytest.mark.skipif(
    not hasattr(signal, "pthread_kill"), reason="signals to a thread are POSIX's"
)


def test_results_are_those_of_map_in_order():
    with Threads(3) as threads, ThreadPoolExecutor(3) as plain:
        arguments = range(20), range(5, 30)
        assert list(threads.map(pow, *arguments)) == list(plain.map(pow, *arguments))
        assert list(threads.map(abs, [])) == []


def test_the_first_error_is_raised_and_the_rest_is_cancelled():
    begun = []

    def fail(number):
        begun.append(number)
        time.sleep(0.01)  # so that the one that waits hears of it before all have begun
        raise ValueError(number)

    with Threads(1) as threads, pytest.raises(ValueError, match="0"):
        list(threads.map(fail, range(1000)))
    assert len(begun) < 1000


@needs_signals
def test_a_signal_to_a_working_thread_is_heard_by_the_one_that_waits():
    heard = threading.Event()

    def work(number):
        time.sleep(0.2)  # until the main thread waits
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        return heard.wait(20.0)

    before = signal.signal(signal.SIGUSR1, lambda number, frame: heard.set())
    try:
        with Threads(1) as threads:
            assert list(threads.map(work, [0])) == [True]
    finally:
        signal.signal(signal.SIGUSR1, before)


def _interrupted_by(monkeypatch, searcher, method, is_over):
    """Let the first call of a method, on another thread, be where Ctrl-C arrives.

    Returns a list that holds then whether the search is told to end while the thread still works.
    """
    plain, heard = getattr(searcher, method), []

    def interrupted(self, *args):
        if threading.current_thread() is not threading.main_thread() and not heard:
            heard.append(False)
            time.sleep(0.2)  # until the main thread waits
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            end = time.monotonic() + 20.0
            while not is_over(self) and time.monotonic() < end:
                time.sleep(0.01)
            heard[0] = is_over(self)
        return plain(self, *args)

    monkeypatch.setattr(searcher, method, interrupted)
    return heard


@needs_signals
@pytest.mark.parametrize("prove", [False, True])
def test_ctrl_c_that_arrives_at_a_chain_of_an_order_ends_the_search(monkeypatch, prove):
    heard = _interrupted_by(monkeypatch, OrderSearch, "_chain", lambda search: search.expired())
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    problem = rt.Problem(np.random.default_rng(0).normal(size=(300, 300)), rt.LINEAR_ORDERS)
    e = rt.infer(problem, prove=prove, time_limit=120.0)
    assert heard == [True]
    assert e.stats["interrupted"]
    assert rt.verify(problem, e)


@needs_signals
def test_ctrl_c_that_arrives_at_an_annealing_of_a_clustering_ends_the_search(monkeypatch):
    heard = _interrupted_by(monkeypatch, DenseSearch, "anneal", lambda search: search.stop())
    problem = rt.Problem(np.random.default_rng(0).normal(size=(200, 200)), rt.EQUIVALENCES)
    e = rt.infer(problem, solver="partition_memetic", time_limit=120.0)
    assert heard == [True]
    assert e.stats["interrupted"]
