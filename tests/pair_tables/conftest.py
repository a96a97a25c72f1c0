"""One Spark session for all tests of pair tables; it takes ten seconds to start."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"


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
