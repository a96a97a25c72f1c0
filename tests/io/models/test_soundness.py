"""What a model file says is checked before anything is done with it: types, shapes, ranges."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import relatum as rt
from instances.models import fitted, opened, written
from relatum.errors import DataError
from relatum.io.models.soundness import is_fitted, width_after


def learned(manifest, *names):
    """The attributes that a model in a file has learned, or a part of it has."""
    found = manifest["model"]["object"]["learned"]
    for name in names:
        found = found[name]["object"]["learned"]
    return found


def load(path, manifest, arrays):
    return rt.io.load_model(written(path, manifest, arrays))


@pytest.fixture
def given(tmp_path, request):
    rt.io.save_model(tmp_path / "m", fitted(request.param))
    return tmp_path / "m", *opened(tmp_path / "m")


def on(name):
    return pytest.mark.parametrize("given", [name], indirect=True)


def replaced(given, part, attribute, value):
    """Write a file in which one attribute is another array or value; read it."""
    path, manifest, arrays = given
    manifest, arrays = copy.deepcopy(manifest), list(arrays)
    if isinstance(value, np.ndarray):
        arrays[learned(manifest, *part)[attribute]["array"]] = value
    else:
        learned(manifest, *part)[attribute] = value
    return load(path, manifest, arrays)


def array(given, part, attribute):
    _, manifest, arrays = given
    return arrays[learned(manifest, *part)[attribute]["array"]]


@on("map sketch")
def test_hashes_stay_within_the_sketch(given):
    part = ("lifting_",)
    bucket, sign = array(given, part, "bucket_"), array(given, part, "sign_")
    replaced(given, part, "bucket_", bucket[:, ::-1])  # another sketch, but a sound one
    for wrong in (bucket + 8, bucket - 1 - bucket.max(), bucket.astype(np.int64), bucket[:, 1:]):
        with pytest.raises(DataError, match="TensorSketch"):
            replaced(given, part, "bucket_", wrong)
    for wrong in (sign * 2, sign.astype(np.int32), sign[:1], sign * 1.0):
        with pytest.raises(DataError, match="TensorSketch"):
            replaced(given, part, "sign_", wrong)
    for wrong in ({"dtype": "|b1"}, "float32", None):
        with pytest.raises(DataError, match="dtype_ of a TensorSketch"):
            replaced(given, part, "dtype_", wrong)


@on("map monomials")
def test_monomials_are_of_features_that_there_are(given):
    found = array(given, ("lifting_",), "monomials_")
    replaced(given, ("lifting_",), "monomials_", found[::-1])
    for wrong in (found + 3, found - 5, found * 1.0, found.astype(np.int64), found[0], found[:0]):
        with pytest.raises(DataError, match="RandomMonomials"):
            replaced(given, ("lifting_",), "monomials_", wrong)
    with pytest.raises(DataError, match="do not fit together"):
        replaced(given, ("lifting_",), "monomials_", found[:1])


@on("map polynomial")
def test_components_fit_together(given):
    part = ("lifting_", "pca_")
    components = array(given, part, "components_")
    for wrong in (components.T, components[:, :2], components * np.nan, components[0]):
        with pytest.raises(DataError, match="components_ of a PCA"):
            replaced(given, part, "components_", wrong)
    for wrong in (0, 4, 10**12, "2", True):
        with pytest.raises(DataError, match="PCA"):
            replaced(given, part, "n_components_", wrong)
    with pytest.raises(DataError, match="scale is not positive"):
        replaced(given, ("lifting_",), "scale_", np.zeros(2))
    with pytest.raises(DataError, match="pca_ of a PolynomialLifting is wrong"):
        replaced(given, ("lifting_",), "pca_", None)


@on("map multilinear")
def test_a_lifting_is_no_wider_than_by_default(given):
    for width in (0, -1, 2**20 + 1, 10**15, 2.0):
        with pytest.raises(DataError, match="MultilinearLifting"):
            replaced(given, ("lifting_",), "n_features_in_", width)
    with pytest.raises(DataError, match="takes another width"):
        replaced(given, ("lifting_",), "n_features_in_", 4)
    path, manifest, arrays = given
    lifting = learned(manifest)["lifting_"]["object"]
    lifting["parameters"]["degree"], lifting["learned"]["n_features_in_"] = None, 40
    with pytest.raises(DataError, match="max_components allows 1048576 monomials, got"):
        load(path, manifest, arrays)


@on("map bits")
def test_thresholds_are_one_row_per_feature(given):
    found = array(given, ("lifting_",), "thresholds_")
    for wrong in (found[:2], found[:, :1], found * np.inf):
        with pytest.raises(DataError, match="thresholds_ of a BinaryFeatures"):
            replaced(given, ("lifting_",), "thresholds_", wrong)
    with pytest.raises(DataError, match="n_codes_ of a BinaryFeatures"):
        replaced(given, ("lifting_",), "n_codes_", 0)


@on("map none")
def test_coefficients_fit_labels_and_features(given):
    coef = array(given, ("measure_",), "coef_")
    replaced(given, ("measure_",), "coef_", coef[::-1])
    for wrong in (coef[:2], coef[:, :2], coef * np.nan, coef.astype(int), coef.ravel()):
        with pytest.raises(DataError, match="coef_ of a LogisticMeasure"):
            replaced(given, ("measure_",), "coef_", wrong)
    with pytest.raises(DataError, match="kind_ of a LogisticMeasure"):
        replaced(given, ("measure_",), "kind_", "else")
    with pytest.raises(DataError, match="labels of a MapClassifier"):
        replaced(given, (), "classes_", np.array(["x", "y"]))
    with pytest.raises(DataError, match="measure_ of a MapClassifier is wrong"):
        replaced(given, (), "measure_", learned(given[1])["lifting_"])
    path, manifest, arrays = given
    unfitted = copy.deepcopy(manifest)
    learned(unfitted)["measure_"]["object"]["learned"] = {}
    with pytest.raises(DataError, match="measure_ of a MapClassifier is wrong"):
        load(path, unfitted, arrays)


@on("sets unlabelled")
def test_neighbours_are_elements_that_there_are(given):
    part = ("measure_",)
    sets = array(given, part, "sets_")
    for wrong in (sets + 30, sets - 1 - sets.max(), sets * 1.0, sets[:-1], sets[:, :0]):
        with pytest.raises(DataError, match="sets_"):
            replaced(given, part, "sets_", wrong)
    for name, wrong in (("modes_", sets * 1.0), ("values_", np.ones(9)), ("elements_", np.eye(3))):
        with pytest.raises(DataError, match=r"_ of a DiffusionPairMeasure"):
            replaced(given, part, name, wrong)
    for name, wrong in (("time_", -1.0), ("share_", 1.0), ("shape_", 0.5), ("shape_", 10**400)):
        with pytest.raises(DataError, match=name):
            replaced(given, part, name, wrong)
    with pytest.raises(DataError, match="a scale is not positive"):
        replaced(given, part, "scale_", np.zeros(3))


@on("sets")
def test_matrices_of_pairs_are_square(given):
    matrix = array(given, ("measure_",), "matrix_")
    for wrong in (matrix[:, :-1], matrix[:-1, :-1], np.pad(matrix, 1)):
        with pytest.raises(DataError, match="matrix_ of a BilinearPairMeasure"):
            replaced(given, ("measure_",), "matrix_", wrong)
    part = ("measure_", "projection_")
    found = array(given, part, "discriminants_")
    for wrong in (found[:-1], found[:, :0], found[:, 0]):
        with pytest.raises(DataError, match="DiscriminantProjection"):
            replaced(given, part, "discriminants_", wrong)
    path, manifest, arrays = given
    for option, value in [
        ("solver", 3),
        ("time_limit", -1.0),
        ("time_limit", {"float": "nan"}),
        ("random_state", "0"),
        ("feasible", "EQUIVALENCES"),
        ("prove", "yes"),
    ]:
        wrong = copy.deepcopy(manifest)
        wrong["model"]["object"]["parameters"][option] = value
        with pytest.raises(DataError, match="damaged"):
            load(path, wrong, arrays)


@on("order")
def test_items_are_those_of_the_counts(given):
    for wrong in (["a", "b"], ["a", "b", "a"], ["a", "b", ["c"]], "abc", None):
        with pytest.raises(DataError, match="damaged"):
            replaced(given, (), "items_", wrong)
    ids = array(given, ("measure_",), "class_ids_")
    for wrong in (ids[::-1], ids - 5, ids + 9, ids * 1.0, ids[:-1]):
        with pytest.raises(DataError, match="BernoulliMeasure"):
            replaced(given, ("measure_",), "class_ids_", wrong)
    with pytest.raises(DataError, match="related_ of a BernoulliMeasure is negative"):
        replaced(given, ("measure_",), "related_", -array(given, ("measure_",), "related_") - 1)
    for jobs in (10**9, 1.5):
        path, manifest, arrays = copy.deepcopy(given)
        manifest["model"]["object"]["parameters"]["n_jobs"] = jobs
        with pytest.raises(DataError, match="n_jobs"):
            load(path, manifest, arrays)


@on("map pipeline")
def test_pipelines_keep_nothing_elsewhere(given):
    path, manifest, arrays = given
    pipeline = learned(manifest)["lifting_"]["object"]["parameters"]
    for name, value in (("memory", "/tmp"), ("steps", []), ("steps", ["x"]), ("steps", None)):
        wrong = copy.deepcopy(manifest)
        learned(wrong)["lifting_"]["object"]["parameters"] = pipeline | {name: value}
        with pytest.raises(DataError, match="damaged"):
            load(path, wrong, arrays)


@on("map none")
def test_names_and_output_of_scikit_learn(given):
    path, manifest, arrays = given
    for names in (["u", "v"], ["u", "v", 3]):
        wrong = copy.deepcopy(manifest)
        learned(wrong)["feature_names_in_"] = {"objects": names, "shape": [len(names)]}
        with pytest.raises(DataError, match="feature"):
            load(path, wrong, arrays)
    lifting = rt.MultilinearLifting(1).set_output(transform="pandas").fit([[0, 1]])
    rt.io.save_model(path, lifting)
    assert list(rt.io.load_model(path).transform([[0, 1]]).columns) == ["1", "x0", "x1"]
    manifest, arrays = opened(path)
    learned(manifest)["_sklearn_output_config"] = {"dict": [["transform", "os"]]}
    with pytest.raises(DataError, match="output is unknown"):
        load(path, manifest, arrays)


def test_widths_along_a_pipeline():
    lifting = fitted("map pipeline").lifting_
    assert is_fitted(lifting)
    assert width_after(lifting, 3) == lifting.transform(np.zeros((1, 3))).shape[1] == 6
    with pytest.raises(ValueError, match="takes another width"):
        width_after(lifting, 4)
