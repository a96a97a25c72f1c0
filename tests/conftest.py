"""Shared fixtures, and the order and company in which two workers run the tests."""

from __future__ import annotations

import errno
import importlib.util
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

# Two workers with two BLAS threads each wait for one another: a small eigenproblem that takes a
# second took eleven. Set before numpy is imported, and inherited by commands that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Kernels come first: what fails there fails everywhere. Then what takes long, so that no worker
# ends with it alone.
FIRST = (
    "tests/kernels/",
    "tests/pair_tables/on_spark/",
    "tests/reproduction/",
    "tests/test_inference_dask.py",
    "tests/test_inference.py",
    "tests/solvers/",
    "tests/cli/",
    "tests/test_console_snippets.py",
)
# Tests that start processes, a cluster or a session, one after another: all of them are slow.
SLOW = (
    "tests/pair_tables/on_spark/",
    "tests/reproduction/",
    "tests/cli/test_bench.py",
    "tests/cli/test_demo.py",
    "tests/cli/test_page.py",
    "tests/cli/test_reproduce.py",
    "tests/cli/test_startup.py",
    "tests/cli/test_terminal.py",
    "tests/test_console_snippets.py",
    "tests/test_examples.py",
    "tests/test_inference_dask.py",
)
# Rooms whose tests share what takes long to make: a Spark session, one small reproduction.
TOGETHER = ("tests/pair_tables/on_spark/", "tests/reproduction/")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse to test kernels that were compiled before their sources were edited."""
    import build_kernels
    import relatum.kernels.variants

    checked = relatum.kernels.variants.chosen() == "checked"
    variant = build_kernels.CHECKED if checked else build_kernels.BASELINE
    for source in Path(relatum.kernels.__file__).resolve().parent.rglob("*.pyx"):
        module = importlib.util.find_spec(module_name(source))
        if module is not None:
            if Path(str(module.origin)).stat().st_mtime >= source.stat().st_mtime:
                continue
            folder = build_kernels.WORK / f"c{'_checked' * checked}"
            stamp = folder / source.relative_to(build_kernels.ROOT).with_suffix(".stamp")
            word = build_kernels.fingerprint(source, variant)
            if stamp.is_file() and stamp.read_text("utf-8") == word:
                continue  # a checkout made it look new
        run = "check-bounds" if checked else "kernels"
        pytest.exit(f"{source.name} is newer than its compiled kernel: run make {run}.", 3)


def module_name(source: Path) -> str:
    """Return the full name of a module of ours from its source."""
    parts = source.with_suffix("").parts
    return ".".join(parts[len(parts) - parts[::-1].index("relatum") - 1 :])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def turn(item: pytest.Item) -> int:
        return next((k for k, part in enumerate(FIRST) if item.nodeid.startswith(part)), len(FIRST))

    items.sort(key=turn)
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a worker one file after another, or one room where its files share what they make."""
    from xdist.scheduler import LoadScopeScheduling

    class ByRoom(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return next((room for room in TOGETHER if file.startswith(room)), file)

    config.option.loadscopereorder = False
    return ByRoom(config, log)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder named by RELATUM_DATA; tests that need it are skipped where it is absent."""
    folder = os.environ.get("RELATUM_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("set RELATUM_DATA to the benchmark data folder to run this test")
    return Path(folder)


@pytest.fixture(autouse=True)
def interrupts_as_in_a_terminal() -> Iterator[None]:
    """Undo what some shells do to background jobs: ignore Ctrl-C."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], AbstractContextManager[None]]:
    """Return how a file is made one that may only be read, also by root, whom no mode stops."""
    real = os.open

    @contextmanager
    def only_read(path: Path) -> Iterator[None]:
        def guarded(name, flags, *more, **options):
            if os.fspath(name) == os.fspath(path) and flags & (os.O_RDWR | os.O_WRONLY):
                raise PermissionError(errno.EACCES, "Permission denied", str(name))
            return real(name, flags, *more, **options)

        with monkeypatch.context() as patched:
            patched.setattr("os.open", guarded)
            yield

    return only_read
