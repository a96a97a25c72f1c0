"""Models come back as they were; files that are damaged, foreign or hostile are refused."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from typing import ClassVar

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

import relatum as rt
from instances.models import MODELS, elements, fitted, opened, said, written, zipped
from relatum.errors import DataError
from relatum.io.models import read_model


def refused(path, match):
    with pytest.raises(DataError, match=match) as told:
        rt.io.load_model(path)
    assert "\n" not in str(told.value)
    assert str(path) in str(told.value)


@pytest.fixture
def path(tmp_path):
    """A sound file: a map with a sketch, whose tables an unchecked kernel reads."""
    rt.io.save_model(tmp_path / "good.model", fitted("map sketch"))
    return tmp_path / "good.model"


@pytest.mark.parametrize("name", MODELS)
def test_models_say_the_same_after_they_were_loaded(name, tmp_path):
    model = fitted(name)
    rt.io.save_model(tmp_path / "a", model)
    again = rt.io.load_model(tmp_path / "a")
    assert type(again) is type(model)
    assert str(again) == str(model)
    assert np.array_equal(said(name, again), said(name, model))
    rt.io.save_model(tmp_path / "b", again)  # the same content gives the same bytes
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


def test_what_is_kept_and_what_is_not(tmp_path):
    model = fitted("sets")
    rt.io.save_model(tmp_path / "m", model, {"columns": ["u", "v"], "share": float("inf")})
    again, notes = read_model(tmp_path / "m")
    assert notes == {"columns": ["u", "v"], "share": float("inf")}
    assert again.feasible == model.feasible
    assert np.array_equal(again.labels_, model.labels_)
    assert again.gap_ == model.gap_
    assert not hasattr(again, "estimate_")


def test_a_loaded_model_can_be_fitted_anew(tmp_path):
    X, y = elements()
    rt.io.save_model(tmp_path / "m", fitted("map polynomial"))
    again = rt.io.load_model(tmp_path / "m").fit(X[:, ::-1].copy(), y)
    assert (again.predict(X[:, ::-1]) == y).mean() > 0.9


def test_saving_says_what_cannot_be_kept(tmp_path):
    X, y = elements()
    out = tmp_path / "m"
    with pytest.raises(DataError, match="MapClassifier is not fitted yet"):
        rt.io.save_model(out, rt.MapClassifier())
    own = rt.MapClassifier(FunctionTransformer(np.abs)).fit(X, y)
    with pytest.raises(DataError, match=r"cannot hold a FunctionTransformer .'lifting' of MapC"):
        rt.io.save_model(out, own)
    with pytest.raises(DataError, match="cannot hold a LogisticRegression"):
        rt.io.save_model(out, LogisticRegression().fit(X, y))
    seeded = rt.TensorSketch(random_state=np.random.RandomState(0)).fit(X)
    with pytest.raises(DataError, match=r"cannot hold a RandomState .'random_state' of TensorSk"):
        rt.io.save_model(out, seeded)
    with pytest.raises(DataError, match="holds a fitted model, got a int"):
        rt.io.save_model(out, 7)
    broken = rt.BernoulliMeasure().fit([0, 1], [1, 0])
    broken.related_ = broken.related_[:1]
    with pytest.raises(DataError, match=r"cannot be kept in a file: related_ .* shape \(1,\)"):
        rt.io.save_model(out, broken)
    with pytest.raises(DataError, match="there is no folder"):
        rt.io.save_model(tmp_path / "none" / "m", fitted("order"))
    assert not out.exists()


class Trap:
    """Whoever loads a pickle of it opens a door."""

    opened: ClassVar[list[int]] = []

    def __reduce__(self):
        return Trap.opened.append, (1,)


def test_pickles_are_not_read(tmp_path):
    old = tmp_path / "old.model"
    for dump in (lambda: old.write_bytes(pickle.dumps(Trap())), lambda: joblib.dump(Trap(), old)):
        dump()
        refused(old, "is a pickle, .*can run code, so it is not read any more. Fit the model again")
    joblib.dump(Trap(), old, compress=True)
    refused(old, "is not a model of relatum")
    assert Trap.opened == []


def npy(array, **header):
    """Bytes of an array, perhaps with a head that says something else."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    data = buffer.getvalue()
    if not header:
        return data
    head = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape} | header
    text = f"{head!r}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + array.tobytes()


def with_array(path, number, data):
    """Replace an array in a file by any bytes."""
    with zipfile.ZipFile(path) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    entries[1 + number] = (f"a{number}.npy", data)
    return zipped(path, entries)


def test_pickles_inside_an_archive_are_not_read(path):
    trapped = np.array([Trap()], dtype=object)
    refused(with_array(path, 0, npy(trapped)), "arrays of type object are not read")
    refused(with_array(path, 0, pickle.dumps(Trap())), "is damaged")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model.pkl", pickle.dumps(Trap()))
    refused(path, "entries are not those of a model")
    np.savez(path.with_suffix(".npz"), model=trapped)
    refused(path.with_suffix(".npz"), "entries are not those of a model")
    assert Trap.opened == []


def test_sizes_are_checked_before_anything_is_read(path):
    few = np.zeros(3)
    for shape in ((10**12,), (2,), (-3, -1), (3, 0), (10**30, 10**30)):
        refused(with_array(path, 0, npy(few, shape=shape)), "not as large as it says")
    refused(with_array(path, 0, npy(few, descr="|V1000000000")), "not read")
    refused(with_array(path, 0, npy(few, descr=[("a", "<f8")])), "not read")
    rt.io.save_model(path, fitted("map sketch"))
    manifest, _ = opened(path)
    zipped(path, [("manifest.json", manifest), ("a0.npy", npy(np.zeros(10**6)))], 8)
    refused(path, "entries are compressed")  # a hundredth of what it would become
    data = bytearray(zipped(path, [("manifest.json", manifest)]).read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 20 : at + 28] = struct.pack("<LL", 2**31, 2**31)
    path.write_bytes(data)
    refused(path, "entries are larger than the file")


def test_every_truncation_is_refused(path):
    data = path.read_bytes()
    for size in {*range(0, len(data), 37), *range(len(data) - 60, len(data))}:
        path.write_bytes(data[:size])
        refused(path, "not a model of relatum")


def test_changed_bytes_are_refused_or_change_nothing(path):
    name = "map sketch"
    data, want, noticed = path.read_bytes(), said(name, fitted(name)), 0
    for at in range(0, len(data), 11):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        try:
            found = rt.io.load_model(path)
        except DataError:
            noticed += 1
        else:
            assert np.array_equal(said(name, found), want)
    assert noticed > len(data) / 11 * 0.8


def test_files_of_a_newer_version_and_foreign_files(path, tmp_path):
    manifest, arrays = opened(path)
    refused(written(path, manifest | {"version": 7}, arrays), "of version 7, .* up to version 1")
    for version in (0, -1, 1.0, "1", None, True):
        refused(written(path, manifest | {"version": version}, arrays), "version is wrong")
    refused(written(path, manifest | {"format": "relatum-estimate"}, arrays), "another format")
    refused(written(path, [manifest], arrays), "another format")
    refused(written(path, {}, []), "another format")
    problem = rt.Problem([1.0, -1.0, 1.0], rt.EQUIVALENCES)
    rt.io.save_estimate(path, problem, rt.infer(problem))
    refused(path, "not a model of relatum")
    path.write_text("u,v\n1,2\n")
    refused(path, "is not a model of relatum; write one with 'relatum fit'")
    path.write_bytes(b"")
    refused(path, "is not a model of relatum")
    refused(tmp_path, "is a folder")
    refused(tmp_path / "none", "There is no file")
    deep = "[" * 10**5 + "]" * 10**5
    refused(zipped(path, [("manifest.json", deep.encode())]), "is damaged")
    refused(zipped(path, [("manifest.json", b'{"format": NaN}')]), "no number of JSON")
    refused(zipped(path, []), "is not a model")


@pytest.mark.parametrize("lost", ["mean_", "scale_"])
def test_a_scaler_without_what_it_uses_is_refused(tmp_path, lost):
    from sklearn.preprocessing import StandardScaler

    model = rt.MapClassifier(StandardScaler()).fit(np.eye(4), [0, 1, 0, 1])
    path = tmp_path / "m.model"
    rt.io.save_model(path, model)
    rt.io.load_model(path)
    delattr(model.lifting_, lost)
    with pytest.raises(DataError, match=f"no attribute '{lost}'"):  # by the check of what is read
        rt.io.save_model(path, model)
