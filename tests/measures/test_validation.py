import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from relatum.errors import DataError, NotFittedError
from relatum.measures import validation as va


def test_streams_and_tables_are_told_apart():
    assert va.is_stream(iter([]))
    assert va.is_stream(x for x in [])
    for table in ([[1.0]], np.eye(2), sparse.csr_matrix(np.eye(2)), ((1, 2),), 3.0, "text"):
        assert not va.is_stream(table)


def test_failures_restore_every_attribute():
    class Thing:
        pass

    def half_done(thing):
        with va.all_or_nothing(thing):
            thing.kept, thing.new = 2, 3
            raise KeyError

    thing = Thing()
    thing.kept = 1
    with pytest.raises(KeyError):
        half_done(thing)
    assert vars(thing) == {"kept": 1}


def test_targets():
    binary = va.encode_targets(["no", "yes", "no"], 3)
    assert binary.kind == "binary"
    assert binary.related.tolist() == [[False, True, False]]
    several = va.encode_targets([2, 0, 2], 3, classes=[0, 1, 2])
    assert several.kind == "map"
    assert several.related.tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 1]]
    relation = va.encode_targets([[1, 0], [0, 1], [0, 0]], 3)
    assert relation.kind == "relation"
    assert relation.related.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_both_libraries_know_the_error_of_an_unfitted_measure():
    with pytest.raises(NotFittedError):
        va.check_fitted(object(), "coef_")
    with pytest.raises(SklearnNotFittedError):
        va.check_fitted(object(), "coef_")


def test_batches():
    with pytest.raises(DataError, match="tuple of 3"):
        va.split_batch((1, 2, 3))
    assert va.split_batch([[1]]) == ([[1]], None)
    with pytest.raises(DataError, match="features"):
        va.checked_batch([[1.0, 2.0]], 3)
