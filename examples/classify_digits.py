"""Learn from labelled digits, then infer the most probable map from images to labels."""

import numpy as np

import relatum as rt

train, test = rt.datasets.load_digits()
lifting = rt.BinaryFeatures(code="thermometer", thresholds=[4, 8, 12])
model = rt.MapClassifier(lifting=lifting).fit(train.images, train.labels)
print(f"accuracy on {len(test.labels)} new digits: {model.score(test.images, test.labels):.3f}")

# ten images, one of each digit: a bijection uses every label exactly once
ten = np.array([np.flatnonzero(test.labels == k)[3] for k in range(10)])
log_odds = model.log_odds(test.images[ten])
free = rt.infer(rt.Problem(log_odds, rt.MAPS))
once = rt.infer(rt.Problem(log_odds, rt.BIJECTIONS))
for name, e in (("map", free), ("bijection", once)):
    right = int((e.relation.labels == np.arange(10)).sum())
    print(f"{name:10} value {e.value:7.2f} bits, {right} of 10 right, {e.status.name}")
