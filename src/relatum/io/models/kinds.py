"""The classes that a model file may name, and which of their attributes it holds.

Classes are named here and imported where a model is of one, as some stand above this room.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import Any

from relatum.io.models import soundness

Check = Callable[[Any], None]

ROUTING = "_metadata_request"  # what scikit-learn was told to pass on; left out
_INPUT = ("n_features_in_", "feature_names_in_")  # of scikit-learn, if there were names


@dataclass(frozen=True)
class Kind:
    """A class of models.

    Attributes
    ----------
    module : str
        Where it is imported from.
    learned : tuple of str
        Attributes that are kept.
    check : callable
        What a fitted object must look like.
    left_out : tuple of str
        Attributes that are not kept.
    """

    module: str
    learned: tuple[str, ...]
    check: Check
    left_out: tuple[str, ...] = ()

    def imported(self, name: str) -> Any:
        """Return the class."""
        return getattr(import_module(self.module), name)

    def restore(self, name: str, thing: Any) -> None:
        """Check an object that was read and make what was left out, unless it is not fitted."""
        for parameter in signature(type(thing)).parameters.values():
            if isinstance(parameter.default, bool):
                value = getattr(thing, parameter.name)
                soundness.require(isinstance(value, bool | int), f"{parameter.name} is wrong")
        soundness.input_and_output(thing)
        if name == "Pipeline" or soundness.is_fitted(thing):
            self.check(thing)


_LOGISTIC = ("coef_", "classes_", "kind_", "intercept_", "inverse_sigma_squared_", "objective_")
_FITTED = ("dual_objective_", "duality_gap_", "n_iter_", *_INPUT)
_ESTIMATE = ("estimate_", "joint_")  # of the training elements; bundles keep estimates
_MODEL = ("measure_", "lifting_", "gap_", *_INPUT)
_VARIANCES = (
    "explained_variance_",
    "explained_variance_ratio_",
    "noise_variance_",
    "_fit_svd_solver",
)
_PCA = ("components_", "mean_", "singular_values_", "n_components_", "n_samples_")
_SEEN = "n_samples_seen_"
_FEATURES, _MEASURES, _LEARN = "relatum.features", "relatum.measures", "relatum.estimators"
_OURS, _THEIRS = (*_INPUT, soundness.TABLE, "_n_features_out"), (*_INPUT, soundness.TABLE)

KINDS: dict[str, Kind] = {
    "MapClassifier": Kind(
        _LEARN,
        (*_MODEL, "classes_", "multilabel_", "transduction_"),
        soundness.map_classifier,
        _ESTIMATE,
    ),
    "PartitionClustering": Kind(
        _LEARN, (*_MODEL, "offset_", "labels_"), soundness.partition_clustering, _ESTIMATE
    ),
    "LinearRanker": Kind(
        _LEARN,
        ("measure_", "items_", "gap_", "completed_"),
        soundness.linear_ranker,
        (*_ESTIMATE, "_number"),
    ),
    "RecordLinker": Kind(
        "relatum.records",
        (
            *("tables_", "intercept_", "offset_", "background_", "neighbors_", "measure_"),
            *("counted_", "fields_", "told_"),
        ),
        soundness.record_linker,
    ),
    "LogisticMeasure": Kind(
        _MEASURES, (*_LOGISTIC, *_FITTED, "gap_is_exact_", "feature_columns_"), soundness.logistic
    ),
    "BernoulliMeasure": Kind(
        _MEASURES,
        ("class_ids_", "classes_", "n_classes_", "n_words_", "related_", "unrelated_"),
        soundness.bernoulli,
    ),
    "BilinearPairMeasure": Kind(
        _MEASURES, ("matrix_", "projection_", "scale_", "objective_", *_FITTED), soundness.bilinear
    ),
    "DiffusionPairMeasure": Kind(
        _MEASURES,
        (
            *("elements_", "sets_", "scale_", "modes_", "values_", "time_", "separation_"),
            *("n_modes_", "share_", "shape_", *_INPUT),
        ),
        soundness.diffusion,
    ),
    "DiscriminantProjection": Kind(
        "relatum.measures.projection",
        ("discriminants_", "lifting_", "offset_"),
        soundness.projection,
        ("_monomials",),
    ),
    "BinaryFeatures": Kind(
        _FEATURES, ("n_codes_", "thresholds_", *_OURS), soundness.binary_features
    ),
    "MultilinearLifting": Kind(
        _FEATURES, ("binary_", *_OURS), soundness.multilinear, ("monomials_", "_steps")
    ),
    "RandomMonomials": Kind(
        _FEATURES, ("monomials_", "binary_", *_OURS), soundness.random_monomials
    ),
    "PolynomialLifting": Kind(
        _FEATURES, ("pca_", "scale_", *_OURS), soundness.polynomial, ("_quadratic", "_cubic")
    ),
    "TensorSketch": Kind(
        _FEATURES, ("bucket_", "sign_", "dtype_", "clipped_share_", *_OURS), soundness.tensor_sketch
    ),
    "PCA": Kind("sklearn.decomposition", (*_PCA, *_VARIANCES, *_THEIRS), soundness.pca),
    "StandardScaler": Kind(
        "sklearn.preprocessing", ("scale_", "mean_", "var_", _SEEN, *_THEIRS), soundness.scaler
    ),
    "MinMaxScaler": Kind(
        "sklearn.preprocessing",
        ("scale_", "min_", "data_min_", "data_max_", "data_range_", _SEEN, *_THEIRS),
        soundness.scaler,
    ),
    "Pipeline": Kind("sklearn.pipeline", (), soundness.pipeline),  # its steps are a parameter
}
