"""Classification of handwritten digits: test error of logistic measures on several liftings.

    RELATUM_DATA=folder python experiments/maps_mnist.py --lifting sketch --log2-strengths 12

With several strengths, a warm-started path is fitted, as for the paper's figure.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import mnist
import numpy as np
from sklearn.decomposition import PCA

from relatum.features import BinaryFeatures, PolynomialLifting, RandomMonomials, TensorSketch
from relatum.measures import LogisticMeasure, regularization_path


def bits(train, test, components, seed):
    """8 bits a pixel, as they are."""
    code = BinaryFeatures().fit(train)
    return code.transform(train), code.transform(test)


def sketch(train, test, components, seed, code=None):
    """Tensor Sketch of degree 2 of the bits."""
    code = BinaryFeatures() if code is None else code
    code.fit(train)
    lifting = TensorSketch(2, components, random_state=seed, dtype="int8", n_jobs=2)
    lifting.fit(code.transform(train[:1000]))
    out = []
    for images in (train, test):
        rows = np.empty((len(images), components), dtype=np.int8)
        for lo in range(0, len(images), 2000):  # the bits of all images are never held
            part = code.transform(images[lo : lo + 2000])
            lifting.transform_into(part, rows[lo : lo + 2000])
        out.append(rows)
    return tuple(out)


def thresholds(train, test, components, seed):
    """Tensor Sketch of degree 2 of 8 thresholds a pixel."""
    return sketch(train, test, components, seed, BinaryFeatures(code="thermometer", thresholds=8))


def monomials(train, test, components, seed):
    """Random ANDs of two thresholds, at most 6 pixels apart."""
    code = BinaryFeatures(code="thermometer", thresholds=8).fit(train)
    lifting = RandomMonomials(components, 2, seed, image_shape=(28, 28), max_distance=6.0)
    lifting.fit(code.transform(train[:5000]))
    out = []
    for images in (train, test):
        parts = (code.transform(images[lo : lo + 2000]) for lo in range(0, len(images), 2000))
        out.append(np.concatenate([lifting.transform(part) for part in parts]))
    return tuple(out)


def polynomial(train, test, components, seed):
    """All quadratics of 60 principal components, cubics of the first 25.

    Components are divided by the fourth root of their variances, half way to white ones.
    """
    train, test = train.astype(np.float32), test.astype(np.float32)
    pca = PCA(60, random_state=seed).fit(train)
    root = pca.explained_variance_**0.25
    lifting = PolynomialLifting(60, 25, random_state=seed)
    lifting.fit(pca.transform(train) / root)
    return tuple(lifting.transform(pca.transform(images) / root) for images in (train, test))


LIFTINGS = {
    "bits": (bits, 7, False),
    "sketch": (sketch, 10, False),
    "monomials": (monomials, 3, False),
    "thresholds": (thresholds, 12, False),
    "polynomial": (polynomial, -8, True),
}


def run(name, log2_strengths=None, components=16384, tol=1e-2, seed=0):
    """Fit one lifting for one or several strengths; return errors, gaps, seconds, memory."""
    lift, usual, relative = LIFTINGS[name]
    powers = [usual] if log2_strengths is None else list(log2_strengths)
    train, y = mnist.load("train")
    test, z = mnist.load("t10k")
    result = {"lifting": name, "relative strength": relative, "seed": seed}
    with mnist.clock(result, "features"):
        x_train, x_test = lift(train, test, components, seed)
    result["components"] = int(x_train.shape[1])
    template = LogisticMeasure(2.0 ** powers[0], relative=relative, tol=tol)
    with mnist.clock(result, "training"):
        path = regularization_path(
            x_train, y, 2.0 ** np.array(powers, dtype=float), measure=template
        )
    result["fits"] = [
        {
            "log2 1/sigma^2": power,
            "test error": float((measure.predict(x_test) != z).mean()),
            "training error": float((measure.predict(x_train) != y).mean()),
            "objective, bits": measure.objective_,
            "relative duality gap": measure.duality_gap_,
            "epochs": measure.n_iter_,
        }
        for power, measure in zip(powers, path.measures, strict=True)
    ]
    result["best test error"] = min(fit["test error"] for fit in result["fits"])
    result["peak memory, GiB"] = round(mnist.peak_gib(), 2)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lifting", choices=sorted(LIFTINGS), default="sketch")
    parser.add_argument("--log2-strengths", type=float, nargs="+")
    parser.add_argument("--components", type=int, default=16384)
    parser.add_argument("--tol", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    result = run(args.lifting, args.log2_strengths, args.components, args.tol, args.seed)
    name = f"maps_mnist_{args.lifting}" + (f"_seed{args.seed}" if args.seed else "")
    mnist.write(result, name, args.output)


if __name__ == "__main__":
    main()
