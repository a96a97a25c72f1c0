"""Certificates of clusters of tables, tampered with; the truth is enumerated in fractions.

A mutant is a whole archive: claims, clusters, parts and gaps that are changed alone or so that
they fit each other, proofs that are changed, exchanged or of another problem, and archives that
say one thing in their directory and another before their data. What is accepted must be true of
the table and of what the mutant itself says of the problem.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import math
import struct
import zipfile
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
import pyarrow as pa

import relatum as rt
from campaign import mutation, trees
from campaign.row_mutation import number
from naive import all_partitions
from relatum.pair_tables import verify_clusters
from relatum.proof import Certificate

MANIFEST = "manifest.json"
PER_CERTIFICATE = 12
PROOFS = {"PACKED": 3, "ENUMERATED": 2}  # so small that parts of a few elements need proofs
MOST = 8  # elements of a component whose partitions are enumerated
BACKGROUNDS = (0.0, -0.5, -1.0, -4.0)


@dataclass
class Around:
    """What a mutation of a proof may want to know."""

    names: frozenset
    cap: int | None
    n: int
    claim: float


@dataclass
class Table:
    """A table, and what is told of it."""

    pairs: dict  # of ids, i < j, to bits
    given: dict  # arguments of `cluster_pairs`

    def arrow(self):
        left, right = zip(*self.pairs, strict=True)
        bits = list(self.pairs.values())
        return pa.table({"unique_id_l": left, "unique_id_r": right, "match_weight": bits})

    @property
    def ids(self):
        return sorted({v for pair in self.pairs for v in pair})


def random_table(rng):
    """A table of some components of up to six elements, with bits of several kinds."""
    pairs, begin = {}, 0
    for _ in range(int(rng.integers(1, 4))):
        n = int(rng.integers(2, 7))
        for a, b in itertools.combinations(range(begin, begin + n), 2):
            if b == a + 1 or rng.random() < 0.6:
                scale = float(rng.choice([1.0, 1.0, 1e-9, 1e9]))
                pairs[a, b] = float(rng.choice([rng.normal(), rng.integers(-3, 4)])) * scale
        begin += n
    given = {"background": float(rng.choice(BACKGROUNDS))}
    kind = rng.integers(5)
    if kind == 0:
        given["max_size"] = int(rng.integers(1, 4))
    elif kind == 1:
        given["one_per_group"] = {k: int(rng.integers(3)) for k in range(0, begin, 2)}
    elif kind == 2:
        a, b = sorted(rng.choice(begin, 2, replace=False).tolist())
        given["evidence"] = {rng.choice(["related", "unrelated"]): [(a, b)]}
        given["evidence"] = {"related": [], "unrelated": []} | given["evidence"]
    return Table(pairs, given)


@dataclass
class Opened:
    """An archive as its parts."""

    manifest: dict
    arrays: dict
    files: dict  # proofs, as bytes


def opened(data):
    """Read an archive without the library."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(found.pop(MANIFEST))
    arrays = {n: np.load(io.BytesIO(d)) for n, d in found.items() if n.endswith(".npy")}
    return Opened(manifest, arrays, {n: d for n, d in found.items() if n not in arrays})


def packed(parts, how=zipfile.ZIP_STORED):
    """Write an archive, with hashes that fit."""
    members = dict(parts.files)
    for name, array in parts.arrays.items():
        sink = io.BytesIO()
        np.lib.format.write_array(sink, array, version=(1, 0), allow_pickle=False)
        members[name] = sink.getvalue()
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    text = json.dumps(parts.manifest | {"members": hashes})
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", how) as archive:
        for name, data in [*members.items(), (MANIFEST, text)]:
            archive.writestr(zipfile.ZipInfo(name), data, how)
    return sink.getvalue()


# --- the truth ----------------------------------------------------------------------------------


def best_value(table, parts):
    """The exact value of the clusters and that of the best ones, as the archive says the problem.

    None if the clusters are not allowed; the best is None where there are too many to enumerate.
    """
    ids, said = table.ids, parts.manifest
    n, background = len(ids), Fraction(said["background"])
    if background > 0:
        return None
    place = {v: k for k, v in enumerate(ids)}
    weights = {(place[a], place[b]): Fraction(w) for (a, b), w in table.pairs.items()}
    for name, rows in parts.arrays.items():
        if name.startswith("missing/"):
            weights |= {(int(i), int(j)): Fraction(float(w)) for i, j, w in rows}
    cluster = parts.arrays["cluster.npy"].tolist()
    facts = parts.arrays.get("evidence.npy", np.zeros((0, 3), int)).tolist()
    groups = parts.arrays.get("groups.npy", np.full(n, -1)).tolist()
    cap = n if said["max_size"] is None else said["max_size"]
    related = [(a, b) for a, b, yes in facts if yes]
    apart = {(a, b) for a, b, yes in facts if not yes}
    apart |= {(a, b) for a, b in itertools.combinations(range(n), 2) if groups[a] == groups[b] >= 0}
    every = {
        (a, b): weights.get((a, b), background) for a, b in itertools.combinations(range(n), 2)
    }
    value = _worth(range(n), every, related, apart, cap, cluster)
    if value is None:
        return None
    best = Fraction(0)  # nothing is gained by joining components: the background is not positive
    for members in _components(n, weights, related):
        if len(members) > MOST:
            return value, None
        inner = {pair: every[pair] for pair in itertools.combinations(members, 2)}
        worths = (
            _worth(members, inner, related, apart, cap, labels)
            for labels in all_partitions(len(members)).tolist()
        )
        best += max(worth for worth in worths if worth is not None)
    return value, best


def _components(n, weights, related):
    """Elements joined by positive pairs or evidence."""
    sets = [{v} for v in range(n)]
    for a, b in [*(pair for pair, w in weights.items() if w > 0), *related]:
        both = sets[a] | sets[b]
        for v in both:
            sets[v] = both
    return sorted({tuple(sorted(s)) for s in sets})


def _worth(members, inner, related, apart, cap, labels):
    """The value of clusters of a component, None if they are not allowed."""
    where = dict(zip(members, labels, strict=True))
    if max(map(labels.count, labels)) > cap:
        return None
    if any(where[a] != where[b] for a, b in related if a in where):
        return None
    inside = [pair for pair in inner if where[pair[0]] == where[pair[1]]]
    if any(pair in apart for pair in inside):
        return None
    return sum((inner[pair] for pair in inside), Fraction(0))


def false_of(table, data, answer):
    """What is false of what was accepted; an empty list if nothing is."""
    parts = opened(data)
    truth = best_value(table, parts)
    if truth is None:
        return ["clusters that are not allowed"]
    value, best = truth
    wrong = []
    if answer.value != float(value):
        wrong.append(f"value {answer.value!r}, it is {float(value)!r}")
    if best is None:
        return wrong
    exact = answer.bound == answer.value and best == value  # rounded together
    if Fraction(answer.bound) < best and not exact:
        wrong.append(f"bound {answer.bound!r}, the best is {float(best)!r}")
    if answer.elements != len(table.ids):
        wrong.append(f"{answer.elements} elements")
    return wrong


# --- mutants ------------------------------------------------------------------------------------


def _claims(rng, table, parts, other):
    """Other numbers, texts and types in the manifest."""
    said = dict(parts.manifest)
    name = str(rng.choice(sorted(said)))
    if isinstance(said[name], float) and rng.random() < 0.8:
        said[name] = number(rng, said[name])
        if rng.random() < 0.3:
            said["bound"] = said["value"]
    elif isinstance(said[name], int) and rng.random() < 0.7:
        said[name] += int(rng.choice([-1, 1, 2**40]))
    elif rng.random() < 0.2:
        del said[name]
    else:
        said[name] = [None, 0, "x", [], True, 1e308, {"a": 1}, 2][int(rng.integers(8))]
    return replace(parts, manifest=said)


def _lower(rng, table, parts, other):
    """Smaller gaps, and the bound that goes with them."""
    gaps = parts.arrays["gaps.npy"].copy()
    kind = rng.integers(4)
    if not len(gaps) or kind == 0:
        gaps = gaps[:0]
    elif kind == 1:
        gaps["gap"] *= rng.choice([0.0, 0.5, 1 - 2.0**-40])
        gaps = gaps[gaps["gap"] > 0] if rng.random() < 0.7 else gaps
    elif kind == 2:
        gaps["gap"][0] = number(rng, float(gaps["gap"][0]))
    else:
        gaps = np.concatenate([gaps, gaps[:1]])
    return _with_bound(replace(parts, arrays=parts.arrays | {"gaps.npy": gaps}))


def _with_bound(parts):
    """Claim the value plus the gaps as the bound."""
    gaps = [float(x) for x in parts.arrays["gaps.npy"]["gap"]]
    if not all(map(math.isfinite, gaps)):
        return parts
    bound = float(Fraction(parts.manifest["value"]) + sum(map(Fraction, gaps)))
    return replace(parts, manifest=parts.manifest | {"bound": bound})


def _moved(rng, table, parts, other):
    """Other clusters, numbered rightly or not, and their value, as if they were the best."""
    cluster = parts.arrays["cluster.npy"].copy()
    n = len(cluster)
    for _ in range(int(rng.integers(1, 3))):
        v = int(rng.integers(n))
        cluster[v] = rng.choice([v, int(cluster[int(rng.integers(n))]), int(rng.integers(n))])
    if rng.random() < 0.9:
        first = {}
        cluster = np.array([first.setdefault(c, k) for k, c in enumerate(cluster.tolist())], "<i4")
    parts = replace(parts, arrays=parts.arrays | {"cluster.npy": cluster})
    try:
        truth = best_value(table, parts)
    except (IndexError, KeyError):
        truth = None
    if truth is None:
        return parts
    said = parts.manifest | {"value": float(truth[0])}
    gaps = parts.arrays["gaps.npy"]
    if rng.random() < 0.5:
        parts = replace(parts, arrays=parts.arrays | {"gaps.npy": gaps[:0]})
    return _with_bound(replace(parts, manifest=said))


def _arrays(rng, table, parts, other):
    """Arrays of other types, lengths and entries; or left out, or taken from another archive."""
    arrays = dict(parts.arrays)
    name = str(rng.choice(sorted(arrays)))
    kind = rng.integers(7)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name] = arrays[name][:-1]
    elif kind == 2 and arrays[name].dtype.names is None:
        arrays[name] = arrays[name].astype(rng.choice(["<i8", "<f8", "<u4", ">i4", "<i2"]))
    elif kind == 3:
        arrays["part.npy"] = np.array(rng.integers(0, 3, len(table.ids)), "<i4")
    elif kind == 4:
        arrays["part.npy"] = np.arange(len(table.ids), dtype="<i4")
    elif kind == 5 and other is not None:
        arrays |= {k: v for k, v in other.arrays.items() if rng.random() < 0.5}
    else:
        n = len(table.ids)
        a, b = sorted(rng.choice(n, 2, replace=False).tolist()) if n > 1 else (0, 0)
        arrays["evidence.npy"] = np.array([[a, b, int(rng.integers(2))]], "<i4")
    return replace(parts, arrays=arrays)


def _missing(rng, table, parts, other):
    """Pairs that nobody has scored, or that are listed."""
    n, kind = len(table.ids), [("i", "<i4"), ("j", "<i4"), ("w", "<f8")]
    pairs = [tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(2)]
    rows = np.array([(*pair, float(rng.normal())) for pair in pairs], kind)
    said = parts.manifest | {"scored": len(rows)}
    return replace(parts, manifest=said, arrays=parts.arrays | {"missing/0.npy": rows})


def _proofs(rng, table, parts, other):
    """Proofs changed as trees or as bytes, exchanged, or left out; gaps and bound lowered."""
    files = dict(parts.files)
    if not files:
        return _lower(rng, table, parts, other)
    name = str(rng.choice(sorted(files)))
    kind = rng.integers(6)
    if kind == 0:
        del files[name]
    elif kind == 1:
        more = files if other is None or not other.files else other.files
        files[name] = more[str(rng.choice(sorted(more)))]
    elif kind == 2:
        data = bytearray(files[name])
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        files[name] = bytes(data)
    else:
        files[name] = _forged(rng, files[name])
    changed = replace(parts, files=files)
    return _lower(rng, table, changed, other) if rng.random() < 0.8 else changed


def _forged(rng, data):
    """A bundle whose proof, or whose bound, is another."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        path.write_bytes(data)
        problem, estimate = rt.io.bundle.load_bundle(path)
        certificate = estimate.certificate
        n = estimate.relation.shape[0]
        around = Around(frozenset({"reflexive", "symmetric", "transitive"}), None, n, 0.0)
        proof, bound = certificate.proof, certificate.bound
        if rng.random() < 0.6:
            every = trees.nodes(proof)
            way, node = every[int(rng.integers(len(every)))]
            proof = trees.put(proof, way, mutation.change_node(rng, node, around)[0])
        if rng.random() < 0.6:
            low = estimate.value + (bound - estimate.value) * float(rng.choice([0.0, 0.5, 0.99]))
            bound = low if rng.random() < 0.8 else number(rng, bound)
        try:
            made = replace(estimate, bound=bound, certificate=Certificate(bound, proof))
            rt.io.save_estimate(path, problem, made)
        except Exception:  # what is too odd to be written is no mutant
            return data
        return path.read_bytes()


def tricked(rng, data):
    """The same archive with tricks: twice the same member, lies about sizes, zip64 and places."""
    parts = opened(data)
    kind = rng.integers(7)
    if kind == 0:
        return packed(parts, rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]))
    if kind == 1:  # a second manifest, or array, of the same name
        lower = packed(_lower(rng, None, parts, None))
        sink = io.BytesIO(data)
        with zipfile.ZipFile(io.BytesIO(lower)) as other, zipfile.ZipFile(sink, "a") as archive:
            for name in (MANIFEST, "gaps.npy"):
                archive.writestr(zipfile.ZipInfo(name), other.read(name))
        return sink.getvalue()
    if kind == 2:
        return data + packed(_lower(rng, None, parts, None))
    if kind == 3:
        return bytes(int(rng.integers(1, 40))) + data
    if kind == 4:
        return _other_places(rng, data)
    if kind == 5:
        return _zip64(rng, data)
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([int(rng.integers(256))]) + data[at + 1 :]


def _other_places(rng, data):
    """Entries of the directory that point to the data of other members, or beyond."""
    heads = [k for k in range(len(data) - 46) if data[k : k + 4] == b"PK\1\2"]
    out = bytearray(data)
    a, b = (heads[int(k)] for k in rng.integers(0, len(heads), 2))
    where = int(rng.choice([42, 20, 24, 16]))  # place, packed size, size, checksum
    new = data[b + where : b + where + 4]
    if rng.random() < 0.3:
        new = struct.pack("<I", int(rng.choice([0, 1, 2**32 - 1, len(data)])))
    out[a + where : a + where + 4] = new
    return bytes(out)


def _zip64(rng, data):
    """Sizes and places in 64 bits that say something else than those in 32 bits."""
    head = data.rfind(b"PK\1\2")
    name, extra = struct.unpack("<HH", data[head + 28 : head + 32])
    sizes = [0, 1, len(data), 2**32, 2**63, 2**64 - 1]
    three = struct.pack("<3Q", *(int(sizes[int(k)]) for k in rng.integers(0, len(sizes), 3)))
    field = struct.pack("<HH", 1, len(three)) + three
    out = bytearray(data)
    out[head + 30 : head + 32] = struct.pack("<H", extra + len(field))
    out[head + 46 + name : head + 46 + name] = field
    for where in rng.choice([20, 24, 42], int(rng.integers(1, 4)), replace=False).tolist():
        out[head + where : head + where + 4] = b"\xff" * 4
    end = out.rfind(b"PK\5\6")
    size = struct.unpack("<I", out[end + 12 : end + 16])[0] + len(field)
    out[end + 12 : end + 16] = struct.pack("<I", size)
    return bytes(out)


MAKERS = (_claims, _lower, _moved, _moved, _arrays, _missing, _proofs, _proofs)


def mutant(rng, table, data, other):
    """Return a mutant as bytes, and a word for what was done to it."""
    if rng.random() < 0.2:
        return tricked(rng, data), "tricked"
    make = MAKERS[int(rng.integers(len(MAKERS)))]
    parts = make(rng, table, opened(data), other)
    if rng.random() < 0.2:
        parts = _lower(rng, table, parts, other) if "gaps.npy" in parts.arrays else parts
    return packed(parts), make.__name__.strip("_")


def run(rng, counts, pool, count=PER_CERTIFICATE, check=None):
    """One table, its certificate, and so many mutants; return what is wrong, as failures."""
    table, failures = random_table(rng), []
    limits = PROOFS if rng.random() < 0.5 else {"PACKED": 128}
    with (
        TemporaryDirectory() as folder,
        mock.patch.multiple("relatum.pair_tables.check.gaps", **limits),
    ):
        path = Path(folder) / "c.cert"
        try:
            found = rt.cluster_pairs(
                table.arrow(), certificate=path, prove=bool(rng.random() < 0.5), **table.given
            )
        except rt.errors.RelatumError:
            counts["tables refused"] += 1
            return failures
        data = path.read_bytes()
        counts["tables"] += 1
        counts["proofs"] += len(opened(data).files)
        cases = [(data, "the true one")]
        other = pool[int(rng.integers(len(pool)))] if pool else None
        cases += [mutant(rng, table, data, other) for _ in range(count)]
        for changed, word in cases:
            path.write_bytes(changed)
            wrong = _judged(table, changed, word, path, counts, check)
            if wrong:
                failures.append({"wrong": wrong, "words": word, "objects": (table, changed)})
        assert found.summary.elements == len(table.ids)
    pool.append(opened(data))
    del pool[:-8]
    return failures


def _judged(table, data, word, path, counts, check):
    told = {"background": table.given["background"], "offset": 0.0}
    true = word == "the true one"
    try:
        answer = (check or verify_clusters)(table.arrow(), path, **told)
    except rt.errors.RelatumError:
        answer = None
    except Exception as error:
        return [f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"]
    if not answer:
        counts["true refused" if true else f"refused, {word}"] += 1
        return ["the true certificate is refused"] if true else []
    counts["true accepted" if true else f"accepted, {word}"] += 1
    return false_of(table, data, answer)
