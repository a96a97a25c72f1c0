"""What a model must look like that was read from a file, class by class.

Kernels check no indices, and a file may come from anywhere: so types, shapes and ranges are
checked here, and that the parts fit together. What is not kept in files is made anew. Whatever is
wrong raises a ValueError, or what follows from wrong types.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relatum.problem import FeasibleSet

TABLE = "_sklearn_output_config"  # where scikit-learn keeps what set_output was told
_TABLES = {"default", "pandas", "polars"}  # that transformers may return
_LARGEST = 2**31  # of counts that no array tells
_SIZE = 1e200  # of numbers that a model has learned: times features, they are still numbers
_MONOMIALS = 2**20  # of liftings that list them all, as many as these allow by default


def is_fitted(thing: Any) -> bool:
    """Whether an object has learned anything, by the rule of scikit-learn."""
    if type(thing).__name__ == "Pipeline":
        return all(step in (None, "passthrough") or is_fitted(step) for _, step in thing.steps)
    return any(name.endswith("_") and not name.startswith("_") for name in vars(thing))


def require(holds: bool, rule: str) -> None:
    """Raise a ValueError that says what is wrong."""
    if not holds:
        raise ValueError(rule)


def _of(thing: Any, attribute: str, *types: type) -> Any:
    """Return an attribute that must be of certain types; numbers must be finite and not huge."""
    value = getattr(thing, attribute)
    fits = isinstance(value, types) and (bool in types or not isinstance(value, bool))
    finite = not isinstance(value, int | float) or abs(value) <= _SIZE
    require(fits and finite, f"{attribute} of a {_name(thing)} is wrong")
    return value


def _count(thing: Any, attribute: str, least: int = 1) -> int:
    value: int = _of(thing, attribute, int)
    require(least <= value <= _LARGEST, f"{attribute} of a {_name(thing)} is out of range")
    return value


def _array(thing: Any, attribute: str, kinds: str, *shape: int | None) -> Any:
    """Return an attribute that must be a finite array of a shape; None stands for any length."""
    value = getattr(thing, attribute)
    said = f"{attribute} of a {_name(thing)}"
    require(isinstance(value, np.ndarray) and value.dtype.kind in kinds, f"{said} is wrong")
    fits = value.ndim == len(shape) and all(
        want in (None, got) for got, want in zip(value.shape, shape, strict=True)
    )
    require(fits, f"{said} has the shape {value.shape}")
    if value.dtype.kind == "f" and value.size:  # false of NaN, too
        require(float(np.abs(value).max()) <= _SIZE, f"{said} is not finite, or too large")
    return value


def _name(thing: Any) -> str:
    return type(thing).__name__


def _one_of(thing: Any, attribute: str, *names: str | None) -> Any:
    """Return an attribute that must be a fitted object of one of some classes, or None."""
    value = getattr(thing, attribute)
    name = None if value is None else _name(value)
    fits = name in names and (name is None or is_fitted(value))
    require(fits, f"{attribute} of a {_name(thing)} is wrong")
    return value


def input_and_output(thing: Any) -> None:
    """Check what any estimator may have: the width and the names of its input, and its output."""
    if "n_features_in_" in vars(thing):
        width = _count(thing, "n_features_in_")
        if hasattr(thing, "feature_names_in_"):
            names = _array(thing, "feature_names_in_", "OU", width)
            require(all(isinstance(n, str) for n in names.tolist()), "a feature has no name")
    output = vars(thing).get(TABLE, {})
    require(isinstance(output, dict) and set(output) <= {"transform"}, "its output is unknown")
    require(set(output.values()) <= _TABLES, "its output is unknown")


# --- features ---------------------------------------------------------------------------


def binary_features(codes: Any) -> None:
    """Check `BinaryFeatures`."""
    bits = codes.code == "bits"
    require(bits or codes.code in ("thermometer", "quantiles"), "code of a BinaryFeatures is wrong")
    width, count = codes.n_features_in_, _count(codes, "n_codes_")
    require(np.dtype(codes.dtype).kind in "biuf", "dtype of a BinaryFeatures is wrong")
    if bits:
        require(count <= 64, "n_codes_ of a BinaryFeatures is out of range")
    else:
        _array(codes, "thresholds_", "f", width, count)
    codes._n_features_out = width * count


def multilinear(lifting: Any) -> None:
    """Check a `MultilinearLifting`; list the monomials anew, for which its width is enough."""
    width = lifting.n_features_in_
    _of(lifting, "binary_", bool)
    require(width <= _MONOMIALS, "a MultilinearLifting is too wide")
    fresh = type(lifting)(lifting.degree, max_components=_MONOMIALS)
    fresh.fit(np.zeros((1, width), dtype=np.uint8))
    lifting.monomials_, lifting._steps = fresh.monomials_, fresh._steps
    lifting._n_features_out = fresh._n_features_out


def _jobs(thing: Any) -> None:
    require(thing.n_jobs is None or abs(_of(thing, "n_jobs", int)) <= 1024, "n_jobs is wrong")


def random_monomials(lifting: Any) -> None:
    """Check `RandomMonomials`."""
    _jobs(lifting)
    _of(lifting, "binary_", bool)
    found = _array(lifting, "monomials_", "i", None, None)
    require(found.dtype == np.int32 and found.size > 0, "monomials_ of a RandomMonomials is wrong")
    inside = found.min() >= 0 and found.max() < lifting.n_features_in_
    require(bool(inside), "monomials_ of a RandomMonomials names features that there are not")
    lifting.monomials_, lifting._n_features_out = np.ascontiguousarray(found), len(found)


def tensor_sketch(sketch: Any) -> None:
    """Check a `TensorSketch`."""
    _jobs(sketch)
    degree, components = _count(sketch, "degree"), _count(sketch, "n_components")
    require(sketch.domain in ("signal", "fourier"), "domain of a TensorSketch is wrong")
    if sketch.batch_size is not None:
        _count(sketch, "batch_size")
    sketch._requested_dtype()
    shape = (degree, sketch.n_features_in_ + 1)
    bucket, sign = _array(sketch, "bucket_", "i", *shape), _array(sketch, "sign_", "i", *shape)
    narrow = bucket.dtype == np.int32 and sign.dtype == np.int8
    inside = narrow and bucket.min() >= 0 and bucket.max() < components
    require(bool(inside and (np.abs(sign) == 1).all()), "the hashes of a TensorSketch are wrong")
    dtype = _of(sketch, "dtype_", np.dtype)
    whole = dtype.kind == "i" and sketch.domain == "signal"
    require(whole or dtype in (np.float32, np.float64), "dtype_ of a TensorSketch is wrong")
    _of(sketch, "clip_tolerance", int, float)
    sketch.bucket_, sketch.sign_ = np.ascontiguousarray(bucket), np.ascontiguousarray(sign)
    sketch._n_features_out = components


def polynomial(lifting: Any) -> None:
    """Check a `PolynomialLifting`; list the monomials anew."""
    pca = _one_of(lifting, "pca_", "PCA")
    count = pca.n_components_
    require(pca.n_features_in_ == lifting.n_features_in_, "a PolynomialLifting is out of shape")
    require(bool((_array(lifting, "scale_", "f", count) > 0).all()), "a scale is not positive")
    cubic = min(_count(lifting, "n_cubic", 0), count)
    lifting._list_monomials(count, cubic)


def pca(pca: Any) -> None:
    """Check scikit-learn's PCA."""
    width, count = pca.n_features_in_, _count(pca, "n_components_")
    require(count <= width, "a PCA is out of shape")
    _of(pca, "_fit_svd_solver", str)
    _array(pca, "components_", "f", count, width)
    _array(pca, "mean_", "f", width)
    for name in ("explained_variance_", "singular_values_"):
        _array(pca, name, "f", count)


def scaler(scaler: Any) -> None:
    """Check the scalers of scikit-learn: what they use must be there."""
    used = {"scale_", "min_"}
    if _name(scaler) == "StandardScaler":
        used = {n for n, use in (("mean_", scaler.with_mean), ("scale_", scaler.with_std)) if use}
    for name in ("mean_", "scale_", "min_"):
        if name in used or getattr(scaler, name, None) is not None:
            _array(scaler, name, "f", scaler.n_features_in_)


def pipeline(pipeline: Any) -> None:
    """Check a pipeline of scikit-learn; its steps are checked by themselves."""
    require(pipeline.memory is None, "a Pipeline would keep its steps elsewhere")
    require(isinstance(pipeline.steps, list) and len(pipeline.steps) > 0, "a Pipeline is empty")
    for step in pipeline.steps:
        named = isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str)
        known = named and (step[1] in (None, "passthrough") or hasattr(step[1], "get_params"))
        require(bool(known), "a step of a Pipeline is wrong")


def width_after(lifting: Any, width: int) -> int | None:
    """Return how many features a fitted lifting makes of so many; None if it tells nothing."""
    if lifting is None or (isinstance(lifting, str) and lifting == "passthrough"):
        return width
    if _name(lifting) == "Pipeline":
        now: int | None = width
        for _, step in lifting.steps:
            now = None if now is None else width_after(step, now)
        return now
    require(lifting.n_features_in_ == width, f"a {_name(lifting)} takes another width")
    if _name(lifting) == "PCA":
        return int(lifting.n_components_)
    return int(getattr(lifting, "_n_features_out", width))


# --- measures ---------------------------------------------------------------------------


def logistic(measure: Any) -> None:
    """Check a `LogisticMeasure`."""
    require(measure.kind_ in ("binary", "map", "relation"), "kind_ of a LogisticMeasure is wrong")
    classes = _array(measure, "classes_", "biufUO", None)
    rows = 1 if measure.kind_ == "binary" else len(classes)
    require(rows > 0 and (rows > 1 or len(classes) == 2 or measure.kind_ == "relation"), "no label")
    _array(measure, "coef_", "f", rows, measure.n_features_in_)
    _array(measure, "intercept_", "f", rows)
    _of(measure, "inverse_sigma_squared_", int, float)
    columns = getattr(measure, "feature_columns_", [])
    require(isinstance(columns, list) and all(isinstance(c, str) for c in columns), "no column")


def bernoulli(measure: Any) -> None:
    """Check a `BernoulliMeasure`."""
    measure._pseudo_count()
    ids = _array(measure, "class_ids_", "i", None)
    ascending = not ids.size or (int(ids[0]) >= 0 and bool((np.diff(ids) > 0).all()))
    require(ids.dtype == np.int64 and ascending, "class_ids_ of a BernoulliMeasure is wrong")
    for name in ("related_", "unrelated_"):
        counts = _array(measure, name, "f", len(ids))
        require(bool((counts >= 0).all()), f"{name} of a BernoulliMeasure is negative")
    top = measure.n_classes_
    if hasattr(measure, "n_words_"):
        words = _count(measure, "n_words_", 0)
        require(top == words * words, "n_words_ of a BernoulliMeasure is wrong")
    if top is not None:
        _of(measure, "n_classes_", int)
        require(not ids.size or int(ids[-1]) < top, "class_ids_ of a BernoulliMeasure is wrong")


def bilinear(measure: Any) -> None:
    """Check a `BilinearPairMeasure`."""
    projection = _one_of(measure, "projection_", "DiscriminantProjection", None)
    width = measure.n_features_in_
    if projection is not None:
        require(projection.lifting_.n_features_in_ == width, "a projection takes another width")
        width = projection._monomials.n_output_features_
    _array(measure, "matrix_", "f", 1 + width, 1 + width)
    require(bool((_array(measure, "scale_", "f", 1 + width) > 0).all()), "a scale is not positive")


def diffusion(measure: Any) -> None:
    """Check a `DiffusionPairMeasure`."""
    elements = _array(measure, "elements_", "f", None, measure.n_features_in_)
    sets = _array(measure, "sets_", "i", len(elements), None)
    require(sets.dtype == np.int64 and 1 <= sets.shape[1] <= len(elements), "sets_ is wrong")
    numbers = bool(((sets >= 0) & (sets < len(elements))).all())
    require(numbers, "sets_ of a DiffusionPairMeasure names elements that are not there")
    modes = _array(measure, "modes_", "f", len(elements), _count(measure, "n_modes_"))
    _array(measure, "values_", "f", modes.shape[1])
    positive = bool((_array(measure, "scale_", "f", measure.n_features_in_) > 0).all())
    require(positive, "a scale is not positive")
    require(_of(measure, "time_", int, float) > 0, "time_ is not positive")
    require(0 < _of(measure, "share_", float) < 1, "share_ is not between 0 and 1")
    require(_of(measure, "shape_", int, float) >= 1, "shape_ is less than 1")


def projection(projection: Any) -> None:
    """Check a `DiscriminantProjection`; list its monomials anew."""
    lifting = _one_of(projection, "lifting_", "PolynomialLifting")
    found = _array(projection, "discriminants_", "f", lifting._n_features_out - 1, None)
    _array(projection, "offset_", "f", found.shape[1])
    require(found.shape[1] > 0, "discriminants_ of a DiscriminantProjection is empty")
    projection._list_monomials(found.shape[1])


# --- estimators -------------------------------------------------------------------------


def _options(model: Any) -> None:
    """Check what says how to search."""
    require(model.feasible is None or isinstance(model.feasible, FeasibleSet), "no feasible set")
    _of(model, "solver", str)
    require(_of(model, "time_limit", int, float) > 0, "time_limit is not positive")
    if model.random_state is not None:
        _count(model, "random_state", 0)


def map_classifier(model: Any) -> None:
    """Check a `MapClassifier`."""
    _options(model)
    _of(model, "multilabel_", bool)
    measure = _one_of(model, "measure_", "LogisticMeasure")
    classes = _array(model, "classes_", "biufUO", None)
    require(len(measure.classes_) == len(classes), "the labels of a MapClassifier are wrong")
    require((measure.kind_ == "relation") >= model.multilabel_, "its measure is of other labels")
    width = width_after(_one_of(model, "lifting_", *LIFTINGS), model.n_features_in_)
    require(width == measure.n_features_in_, "the parts of a MapClassifier do not fit together")


def partition_clustering(model: Any) -> None:
    """Check a `PartitionClustering`."""
    _options(model)
    _of(model, "offset_", int, float)
    measure = _one_of(
        model, "measure_", "BilinearPairMeasure", "DiffusionPairMeasure", "LogisticMeasure"
    )
    width = width_after(_one_of(model, "lifting_", *LIFTINGS), model.n_features_in_)
    pairs = 2 if _name(measure) == "LogisticMeasure" else 1
    fits = width is not None and pairs * width == measure.n_features_in_
    require(fits, "the parts of a PartitionClustering do not fit together")
    require(pairs == 1 or len(measure.coef_) == 1, "its measure has several labels")


def linear_ranker(model: Any) -> None:
    """Check a `LinearRanker`; number its items anew."""
    _options(model)
    _jobs(model)
    measure = _one_of(model, "measure_", "BernoulliMeasure")
    items = _of(model, "items_", list)
    model._number = {item: k for k, item in enumerate(items)}
    require(len(model._number) == len(items), "an item of a LinearRanker stands twice")
    require(getattr(measure, "n_words_", -1) == len(items), "the items of a LinearRanker are wrong")


LIFTINGS = (
    *("BinaryFeatures", "MultilinearLifting", "RandomMonomials", "PolynomialLifting"),
    *("TensorSketch", "PCA", "StandardScaler", "MinMaxScaler", "Pipeline", None),
)


# --- records ------------------------------------------------------------------------------


def record_linker(linker: Any) -> None:
    """Check a `RecordLinker`: that its tables fit its fields, and its counts their places."""
    from importlib import import_module

    records = import_module("relatum.records")  # which stands above this room
    fields = _of(linker, "fields_", dict)
    require(fields == linker.fields and bool(fields), "fields_ of a RecordLinker are wrong")
    scales = records.scales_of(records.checked_fields(fields))
    tables, counted = _of(linker, "tables_", list), _of(linker, "counted_", dict)
    require(len(tables) == len(scales), "tables_ of a RecordLinker are wrong")
    for table, scale in zip(tables, scales, strict=True):
        _numbers(table, "a table of a RecordLinker", len(scale.levels))
    for name in ("intercept_", "offset_", "background_"):
        _of(linker, name, int, float)
    require(linker.background_ <= 0, "background_ of a RecordLinker is wrong")
    _count(linker, "neighbors_")
    _one_of(linker, "measure_", "LogisticMeasure", None)
    require(set(counted) == set(records.terms_of(fields)), "counted_ of a RecordLinker is wrong")
    for name, (places, counts, total) in counted.items():
        _numbers(places, "a place of a RecordLinker", None, "i")
        _numbers(counts, "a count of a RecordLinker", len(places))
        bits = 18 if name.endswith("/letters") else 20
        inside = not len(places) or (places.min() >= 0 and places.max() < 1 << bits)
        require(bool(inside), "a place of a RecordLinker is out of range")
        require(isinstance(total, int | float) and 0 <= total < 1e15, "a total is wrong")
    require(isinstance(linker.told_, dict), "told_ of a RecordLinker is wrong")
    str(linker.report_)


def _numbers(value: Any, said: str, length: int | None, kinds: str = "f") -> None:
    fits = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in kinds
    require(fits and length in (None, len(value)), f"{said} is wrong")
    require(value.dtype.kind != "f" or bool(np.isfinite(value).all()), f"{said} is not finite")
