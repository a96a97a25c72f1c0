"""One Spark session for all tests of pair tables, which takes ten seconds to start; forgeries."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def forge(tmp_path):
    """A function that writes a certificate again, changed, with hashes that fit.

    ``manifest`` and ``arrays`` are updated; an array that is None is left out; ``files`` are
    members as bytes.
    """
    from relatum.pair_tables.check.container import MANIFEST, Archive, write_archive

    def forged(path, manifest=None, arrays=None, files=None):
        with zipfile.ZipFile(path) as old:
            names = [n for n in old.namelist() if n != MANIFEST]
            found = {n: old.read(n) for n in names if n.endswith(".npz")}
            have = {n: np.load(old.open(n)) for n in names if n.endswith(".npy")}
        claims = dict(Archive(path).manifest)
        claims.pop("members")
        have |= {} if arrays is None else arrays
        folder = tmp_path / "forged"
        shutil.rmtree(folder, ignore_errors=True)
        for name, data in (found | ({} if files is None else files)).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        target = tmp_path / "forged.cert"
        kept = {name: array for name, array in have.items() if array is not None}
        write_archive(target, claims | ({} if manifest is None else manifest), kept, folder)
        return target

    return forged


@pytest.fixture(scope="session")
def spark():
    pyspark = pytest.importorskip(
        "pyspark", reason="pyspark is not installed; it comes with relatum[spark]"
    )
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17, and there is no java here")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = pyspark.sql.SparkSession.builder.master("local[2,4]")  # a task may fail thrice
        for key, value in {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.default.parallelism": "2",
            "spark.sql.adaptive.enabled": "false",
            # a session of a minute: compiling its code well takes longer than running it
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.codegen.wholeStage": "false",
        }.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
