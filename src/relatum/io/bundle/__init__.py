"""Bundles: problem, estimate and certificate in one file, so that they can be checked later.

The layout is told in docs/certificates.md, for everyone who reads bundles without relatum.
`archive` reads and writes arrays and refuses what is too large, `nodes` writes proofs down,
`entries` problems and estimates. This room imports problem and proof. Begin with `storage`.
"""

from relatum.io.bundle.entries import fingerprint
from relatum.io.bundle.storage import load_bundle, load_estimate, save_estimate

__all__ = ["fingerprint", "load_bundle", "load_estimate", "save_estimate"]
