"""Learning curves: how strong should the prior be.

A logistic measure for digits, fitted along a path of strengths of its prior, each from the one
before.
"""

import relatum as rt

train, test = rt.datasets.load_digits()
code = rt.BinaryFeatures("thermometer", thresholds=[4, 8, 12]).fit(train.images)
x, z = code.transform(train.images), code.transform(test.images)
strengths = [2.0**k for k in range(-6, 13, 3)]
measure = rt.LogisticMeasure(fit_intercept=True)
path = rt.regularization_path(x, train.labels, strengths, measure=measure)
errors = {"training": path.errors(x, train.labels), "test": path.errors(z, test.labels)}
print("smallest test error", round(100 * min(errors["test"]), 1), "%")
rt.plots.curves(strengths, errors).figure.savefig("learning_curves.png")
