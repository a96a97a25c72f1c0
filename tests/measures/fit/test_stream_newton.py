import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from relatum.errors import DataError
from relatum.measures.logistic import LogisticMeasure
from relatum.measures.objective import LN2


def make(labels=2, scale=1.0, n=600, width=6, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, width)) * scale
    truth = rng.normal(size=(width, labels)) / scale
    return x, (x @ truth + rng.gumbel(size=(n, labels))).argmax(axis=1)


class Stream:
    def __init__(self, x, y, size=100):
        self.x, self.y, self.size, self.readings = x, y, size, 0

    def __iter__(self):
        self.readings += 1
        for begin in range(0, len(self.y), self.size):
            yield self.x[begin : begin + self.size], self.y[begin : begin + self.size]


@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("scale", [1.0, 50.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_equals_scikit_learn(labels, scale, form):
    x, y = make(labels, scale)
    strength = 0.5
    measure = LogisticMeasure(strength, solver="newton", tol=1e-12, fit_intercept=True)
    measure.fit(Stream(form(x), y), classes=np.arange(labels))
    one = np.hstack([x, np.ones((len(x), 1))])
    for k, row in enumerate(np.column_stack([measure.coef_, measure.intercept_])):
        peer = LogisticRegression(
            C=LN2**2 / strength, fit_intercept=False, tol=1e-10, max_iter=9999
        )
        peer.fit(one, y == (k if labels > 2 else 1))
        np.testing.assert_allclose(row * LN2, peer.coef_[0], rtol=1e-4, atol=1e-6)
    assert measure.gap_is_exact_
    assert measure.n_iter_ < 20


def test_auto_chooses_it_for_few_features_only():
    x, y = make(width=6)
    few = LogisticMeasure(1.0, tol=1e-6).fit(Stream(x, y))
    assert few.n_iter_ < 12
    np.testing.assert_array_equal(
        few.coef_, LogisticMeasure(1.0, tol=1e-6, solver="newton").fit(Stream(x, y)).coef_
    )
    x, y = make(width=300, n=200)
    many = LogisticMeasure(50.0).fit(Stream(x, y))
    np.testing.assert_array_equal(
        many.coef_, LogisticMeasure(50.0, solver="sdca").fit(Stream(x, y)).coef_
    )


def test_separable_rows_and_a_weak_prior():
    """Full steps overshoot here: the objective must fall all the same, at every reading."""
    rng = np.random.default_rng(3)
    x = np.vstack([rng.normal(size=(300, 3)) * 100, np.eye(3) * 1e-3])
    y = (x[:, 0] > 0).astype(int)
    duals = []
    measure = LogisticMeasure(1e-6, solver="newton", tol=1e-6)
    measure.fit(Stream(x, y), monitor=lambda epoch, dual, gap: duals.append(dual))
    assert measure.duality_gap_ <= 1e-6
    assert max(duals) <= measure.objective_ * (1 + 1e-9)


def test_limits():
    x, y = make()
    with pytest.warns(ConvergenceWarning, match="max_epochs"):
        measure = LogisticMeasure(0.1, solver="newton", tol=1e-12, max_epochs=2).fit(Stream(x, y))
    assert measure.objective_ == pytest.approx(measure.objective(x, y))
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        LogisticMeasure(0.1, solver="newton", tol=1e-12, time_limit=1e-9).fit(Stream(x, y))
    with pytest.raises(DataError, match="several times"):
        LogisticMeasure(0.1, solver="newton").fit(iter(Stream(x, y)))


def test_a_source_that_grows_is_refused():
    x, y = make()

    class Growing(Stream):
        def __iter__(self):
            self.x, self.y = np.vstack([self.x, x[:7]]), np.append(self.y, y[:7])
            return super().__iter__()

    with pytest.raises(DataError, match="same batches every time; it had"):
        LogisticMeasure(0.1, solver="newton", tol=1e-12).fit(Growing(x, y))
