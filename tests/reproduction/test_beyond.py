"""Beyond the paper: other liftings, other images, joint estimation."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

from instances.reproduction import TINY
from relatum.datasets import load_digits, load_images
from relatum.reproduction.beyond import LIFTINGS, other_images
from relatum.reproduction.cells import Cells


def test_polynomials_beat_bits(tiny):
    found = tiny.results("beyond")["liftings"]
    assert set(found) == set(LIFTINGS)
    bits = min(fit["test_error"] for fit in tiny.results("maps")["d1"])
    assert found["polynomial"]["test_error"] < bits


def test_joint_estimation_counts_shares(tiny):
    joint = tiny.results("beyond")["joint"]
    assert joint["instances"] == TINY.joint_instances
    assert 0 <= joint["error, joint"] <= 1
    difference = joint["error, joint"] - joint["error, evidence alone"]
    assert joint["difference"] == pytest.approx(difference)


def write_idx(path, array):
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    path.write_bytes(gzip.compress(head + array.astype(np.uint8).tobytes()))


def test_another_set_of_images_is_one_more_row(tmp_path):
    for part, digits in zip(("train", "t10k"), load_digits(), strict=True):
        write_idx(tmp_path / f"{part}-images-idx3-ubyte.gz", digits.images.reshape(-1, 8, 8)[:400])
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte.gz", digits.labels[:400])
    row = other_images(Cells(tmp_path / "cells"), TINY, "other", *load_images(tmp_path))
    assert (row["train"], row["test"]) == (400, 400)
    assert row["map_error"] < 0.2
    assert row["clusters"]["rand_error"] < 0.2
