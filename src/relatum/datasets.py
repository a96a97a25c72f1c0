"""Data sets: small ones that come with the library, and larger ones from files or the network.

`load_digits` gives the 8 x 8 images that scikit-learn ships, `load_sentences` a hundred
short sentences written for this library (and under its licence), `load_matches` the results of
a football world cup, `load_people` invents records of persons, written down several times with
mistakes. `load_images` reads folders
in the format of MNIST, `fetch_mnist` gets MNIST through scikit-learn and keeps it,
`read_sentences` reads any text file. The environment variable RELATUM_DATA names the folder
where data sets are looked for by name.
"""

from __future__ import annotations

import gzip
import math
import os
import random
import re
import struct
import zlib
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Index
from relatum.errors import DataError

__all__ = [
    "Digits",
    "Matches",
    "People",
    "data_path",
    "fetch_mnist",
    "load_digits",
    "load_images",
    "load_matches",
    "load_mnist",
    "load_people",
    "load_sentences",
    "read_idx",
    "read_sentences",
]

_GET_MNIST = 'python -c "import relatum.datasets as d; d.fetch_mnist()"'
_IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class Digits(NamedTuple):
    """Images and what they show.

    Attributes
    ----------
    images : uint8 array (n, pixels)
        Grey values: from 0 to 16 for the embedded digits, to 255 for MNIST.
    labels : int64 array (n,)

    Examples
    --------
    >>> import relatum as rt
    >>> train, test = rt.datasets.load_digits()
    >>> train.images.shape, train.labels[:5].tolist()
    ((1000, 64), [0, 1, 2, 3, 4])
    """

    images: NDArray[np.uint8]
    labels: Index


def load_digits() -> tuple[Digits, Digits]:
    """Return the first 1,000 digits of scikit-learn's set for training, and the other 797.

    Examples
    --------
    >>> import relatum as rt
    >>> train, test = rt.datasets.load_digits()
    >>> train.images.shape, test.images.shape
    ((1000, 64), (797, 64))
    """
    from sklearn.datasets import load_digits as load

    data = load()
    images, labels = data.data.astype(np.uint8), data.target.astype(np.int64)
    return Digits(images[:1000], labels[:1000]), Digits(images[1000:], labels[1000:])


def load_sentences() -> list[list[str]]:
    """Return the embedded sentences, each as a list of words.

    Examples
    --------
    >>> import relatum as rt
    >>> sentences = rt.datasets.load_sentences()
    >>> len(sentences), " ".join(sentences[89])
    (100, 'he sings in the kitchen every morning')
    """
    text = files("relatum").joinpath("data", "sentences.txt").read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines()]


class Matches(NamedTuple):
    """Matches of two teams and their goals.

    Attributes
    ----------
    first, second : list of str
        The teams.
    goals : int64 array (matches, 2)
        Of the first and of the second team.

    Examples
    --------
    >>> import relatum as rt
    >>> cup = rt.datasets.load_matches()
    >>> cup.first[0], cup.second[0], cup.goals[0].tolist()
    ('Qatar', 'Ecuador', [0, 2])
    """

    first: list[str]
    second: list[str]
    goals: Index


def load_matches() -> Matches:
    """Return the 64 matches of the football world cup of 2022, in the order of its rounds.

    Goals count to the end of extra time: a match that a penalty shoot-out decided is a draw.

    Examples
    --------
    >>> import relatum as rt
    >>> cup = rt.datasets.load_matches()
    >>> len(cup.first), sorted(set(cup.first))[:3]
    (64, ['Argentina', 'Australia', 'Belgium'])
    """
    text = files("relatum").joinpath("data", "matches.csv").read_text(encoding="utf-8")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    goals = np.array([[int(x) for x in row[2:]] for row in rows], dtype=np.int64)
    return Matches([row[0] for row in rows], [row[1] for row in rows], goals)


def data_path(*names: str) -> Path | None:
    """Return the path of a data set in the folder that RELATUM_DATA names, if it is there.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.datasets.data_path("no such data set") is None
    True
    """
    folder = os.environ.get("RELATUM_DATA", "")
    path = Path(folder, *names)
    return path if folder and path.exists() else None


def _bytes_of(path: Any) -> bytes:
    """Return what a file holds, unzipped if it is gzipped."""
    try:
        data = Path(path).read_bytes()
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except TypeError:
        raise DataError(f"A file is named by a path, got a {type(path).__name__}.") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        told = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
        raise DataError(f"{str(path)[:200]} cannot be read: {told}; check the path.") from None


def read_idx(path: str | Path) -> NDArray[np.generic]:
    """Read an array in the idx format of MNIST, plain or gzip.

    Parameters
    ----------
    path : path of a file such as ``train-images-idx3-ubyte.gz``

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.idx"
    >>> _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 6, 7]))
    >>> rt.datasets.read_idx(path).tolist()
    [5, 6, 7]
    """
    data = _bytes_of(path)
    head = data[:2] == b"\0\0" and len(data) >= 4 and len(data) >= 4 + 4 * data[3]
    if not head or data[2] not in _IDX_TYPES:
        raise DataError(
            f"{path} is not an idx file: it should begin with two zeros, a type and the number of "
            f"dimensions, got {data[:4]!r}; give the files of MNIST or of a set in its format."
        )
    begin = 4 + 4 * data[3]
    shape = struct.unpack(f">{data[3]}I", data[4:begin])
    dtype = np.dtype(_IDX_TYPES[data[2]])
    count = math.prod(shape)
    if len(data) != begin + count * dtype.itemsize:
        raise DataError(
            f"{path} should hold {count} numbers, shape {shape}, but has "
            f"{len(data) - begin} bytes after its head; it may be cut short: get it again."
        )
    return np.frombuffer(data, dtype, offset=begin).reshape(shape).astype(dtype.newbyteorder("="))


def load_images(folder: str | Path) -> tuple[Digits, Digits]:
    """Read a data set in the format of MNIST: training and test images with their labels.

    Parameters
    ----------
    folder : path
        Holds ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the same with ``t10k``,
        plain or with ``.gz`` (as Fashion-MNIST, Kuzushiji-MNIST and EMNIST come).

    Examples
    --------
    >>> import relatum as rt
    >>> train, test = rt.datasets.load_images("fashion")  # doctest: +SKIP
    """
    if not isinstance(folder, str | os.PathLike):
        raise DataError(f"A folder is named by a path, got a {type(folder).__name__}.")
    parts = []
    for part in ("train", "t10k"):
        images = read_idx(_one_of(Path(folder), f"{part}-images-idx3-ubyte"))
        labels = read_idx(_one_of(Path(folder), f"{part}-labels-idx1-ubyte"))
        if images.ndim < 2 or images.dtype != np.uint8 or labels.dtype.kind not in "iu":
            raise DataError(
                f"{folder}: the images of {part} are {images.ndim} axes of {images.dtype}, their "
                f"labels {labels.dtype}; images are bytes, one row or more for each, and labels "
                "whole numbers."
            )
        if len(images) != len(labels) or labels.ndim != 1:
            raise DataError(
                f"{folder}: {len(images)} images but labels of shape {labels.shape} in {part}; "
                f"there should be one label per image."
            )
        flat = images.reshape(len(images), -1).astype(np.uint8, copy=False)
        parts.append(Digits(flat, labels.astype(np.int64)))
    return parts[0], parts[1]


def _one_of(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.gz", folder / name, folder / name.replace("-idx", ".idx")):
        if path.is_file():
            return path
    raise DataError(
        f"There is no file {name} or {name}.gz in {folder}. Put the four idx files of the data "
        f"set there. For MNIST, let RELATUM_DATA name a folder that holds mnist/, or run: "
        f"{_GET_MNIST}"
    )


def load_mnist() -> tuple[Digits, Digits]:
    """Return MNIST from the folder mnist/ of RELATUM_DATA, or as `fetch_mnist` has kept it.

    Nothing is downloaded; if the data set is not there, the error says how to get it.

    Examples
    --------
    >>> import relatum as rt
    >>> train, test = rt.datasets.load_mnist()  # doctest: +SKIP
    """
    folder = data_path("mnist")
    if folder is not None:
        return load_images(folder)
    kept = _kept(None)
    if kept.is_file():
        return _split(kept)
    raise DataError(
        f"MNIST is not here: neither in mnist/ of the folder named by RELATUM_DATA "
        f"({os.environ.get('RELATUM_DATA') or 'not set'}) nor in {kept}. Set RELATUM_DATA, or "
        f"get it (about 55 MB from openml.org) by: {_GET_MNIST}"
    )


def fetch_mnist(data_home: str | Path | None = None) -> tuple[Digits, Digits]:
    """Return MNIST, downloaded once from OpenML by scikit-learn and kept.

    Parameters
    ----------
    data_home : path, optional
        Where it is kept; by default, scikit-learn's data folder.

    Examples
    --------
    >>> import relatum as rt
    >>> train, test = rt.datasets.fetch_mnist()  # doctest: +SKIP
    """
    kept = _kept(data_home)
    if not kept.is_file():
        from sklearn.datasets import fetch_openml

        try:
            data = fetch_openml(
                "mnist_784", version=1, as_frame=False, parser="liac-arff", data_home=data_home
            )
        except OSError as error:
            raise DataError(
                f"MNIST could not be downloaded from openml.org ({error}). Try again, or put its "
                f"four idx files into mnist/ of a folder and set RELATUM_DATA to that folder."
            ) from error
        images, labels = data.data.astype(np.uint8), data.target.astype(np.int64)
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(".partial")
        with partial.open("wb") as file:
            np.savez_compressed(file, images=images, labels=labels)
        partial.replace(kept)
    return _split(kept)


def _kept(data_home: str | Path | None) -> Path:
    from sklearn.datasets import get_data_home

    return Path(get_data_home(data_home)) / "relatum" / "mnist_784.npz"


def _split(path: Path) -> tuple[Digits, Digits]:
    try:
        with path.open("rb") as file, np.load(file) as data:
            images, labels = data["images"], data["labels"]
    except Exception as error:  # whatever an archive that is damaged raises
        told = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise DataError(
            f"{path}, where MNIST is kept, is damaged ({told}). Remove it, and get it again by: "
            f"{_GET_MNIST}"
        ) from None
    return Digits(images[:60000], labels[:60000]), Digits(images[60000:], labels[60000:])


def read_sentences(
    path: str | Path, dictionary: Iterable[str] | None = None, *, split: bool = False
) -> list[list[str]]:
    r"""Read sentences from a text file, plain or gzip, as lists of lower case words.

    Parameters
    ----------
    path : path
    dictionary : iterable of str, optional
        Keep only sentences made of these words.
    split : bool, default=False
        Whether lines are running text, to be cut at full stops, question and exclamation marks.
        By default, a line is a sentence.

    Returns
    -------
    list of lists of str
        Sentences of at least two words.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "some.txt"
    >>> _ = path.write_text("The old man walks home.\nHe sings.\n")
    >>> rt.datasets.read_sentences(path)
    [['the', 'old', 'man', 'walks', 'home'], ['he', 'sings']]
    """
    data = _bytes_of(path)
    try:
        text = data.decode("utf-8")
        allowed = None if dictionary is None else set(dictionary)
    except UnicodeDecodeError:
        raise DataError(f"{path} is not text in UTF-8; save it as UTF-8.") from None
    except TypeError:
        raise DataError(
            f"A dictionary is a list of words, got a {type(dictionary).__name__}."
        ) from None
    lines = re.split(r"[.!?]+\s|\n\s*\n", text) if split else text.splitlines()
    sentences = (_WORD.findall(line.lower()) for line in lines)
    return [s for s in sentences if len(s) > 1 and (allowed is None or allowed.issuperset(s))]


# --- persons --------------------------------------------------------------------------------

_GIVEN = """james mary robert patricia john jennifer michael linda david elizabeth william barbara
richard susan joseph jessica thomas sarah charles karen ann anna anne maria marie carla dmitri elena
farid grace hugo ines jonas katya liam mona nils olga peter petra ruth stefan stephen tania omar
yusuf wanda xenia zoe bruno clara dora emil frida georg hanna igor julia klaus lena marta"""
_SYLLABLES = """b br c d f g gr h k kr l m n p r s st t v w
a e i o u ai ei ou
berg dal field ford ham holm ini ka land ley man mann mont ner off per sen son stein wood
street road avenue lane square hill"""
_FIRST, _MIDDLE, _LAST, _ROADS = (line.split() for line in _SYLLABLES.splitlines())
_KEYS = "qwertyuiop asdfghjkl zxcvbnm 1234567890"


class People(NamedTuple):
    """Records of persons, and who they are.

    Attributes
    ----------
    records : Arrow table
        ``id``, ``given_name``, ``surname``, ``street``, ``town``, ``postcode``, ``born``, ``phone``
        and, where there are sources, ``source``; null where nothing is known.
    entity : int64 array (records,)
        The person of each record.

    Examples
    --------
    >>> import relatum as rt
    >>> people = rt.datasets.load_people(100)
    >>> len(people.records) == len(people.entity)
    True
    """

    records: Any
    entity: Index


def load_people(
    persons: int = 500, *, copies: int = 4, sources: int = 0, mistakes: float = 1.0, seed: int = 0
) -> People:
    """Invent records of persons, with mistakes as people and scanners make them.

    Letters are left out, doubled, swapped or those of the next key; values are missing; names
    are swapped or abbreviated; days and months are swapped; people move. Many persons share a name
    or a town, some a household. Nobody in it is real.

    Parameters
    ----------
    persons : int
    copies : int
        Each person has from one to so many records.
    sources : int
        If not 0, each person has at most one record in each of so many sources instead.
    mistakes : float
        Mean number of mistakes in a record.
    seed : int

    Examples
    --------
    >>> people = load_people(3, seed=1)
    >>> people.records.column_names[:4], people.entity.tolist()
    (['id', 'given_name', 'surname', 'street'], [0, 0, 1, 1, 1, 1, 2])
    """
    import pyarrow as pa

    rng = random.Random(seed)
    town_names = [_invented(rng) + rng.choice(("ton", "burg", "ville", "")) for _ in range(80)]
    surnames = [_invented(rng) for _ in range(max(50, int(4 * persons**0.7)))]
    rows: list[list[str | None]] = []
    entity: list[int] = []
    person: list[str] = []
    for number in range(persons):
        person = _person(rng, surnames, town_names, person)
        if sources:
            chosen = [k for k in range(sources) if rng.random() < 0.7] or [rng.randrange(sources)]
            origin = [chr(ord("a") + k) for k in chosen]
        else:
            origin = [""] * rng.randint(1, copies)
        for name in origin:
            rows.append([*_damaged(rng, person, mistakes), name])
            entity.append(number)
    order = list(range(len(rows)))
    if sources:  # each source after the other, as tables come
        order.sort(key=lambda k: (str(rows[k][-1]), k))
    names = ["given_name", "surname", "street", "town", "postcode", "born", "phone", "source"]
    columns: dict[str, Any] = {"id": pa.array(range(len(rows)), pa.int64())}
    for k, name in enumerate(names if sources else names[:-1]):
        columns[name] = pa.array([rows[row][k] for row in order], pa.string())
    return People(pa.table(columns), np.array(entity, dtype=np.int64)[order])


def _invented(rng: random.Random) -> str:
    middle = rng.choice(_MIDDLE) + rng.choice(_FIRST) + rng.choice(_MIDDLE)
    return rng.choice(_FIRST) + middle[: rng.choice((2, 9))] + rng.choice(_LAST)


def _person(
    rng: random.Random, surnames: list[str], towns: list[str], last: list[str]
) -> list[str]:
    given = rng.choice(_GIVEN.split())
    born = f"{rng.randint(1930, 2009)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    if last and rng.random() < 0.15:  # of one household
        return [given, *last[1:5], born, last[6]]
    surname = surnames[int(len(surnames) * rng.random() ** 2)]  # some are frequent
    street = f"{rng.randint(1, 200)} {_invented(rng)} {rng.choice(_ROADS)}"
    town = int(len(towns) * rng.random() ** 2)
    phone = f"0{rng.randint(100, 999)} {rng.randint(100_000, 999_999)}"
    return [given, surname, street, towns[town], str(1000 + 37 * town), born, phone]


def _damaged(rng: random.Random, person: list[str], mistakes: float) -> list[str | None]:
    """Return a person's values with mistakes, and some missing."""
    values: list[str | None] = list(person)
    for k, share in enumerate((0.02, 0.02, 0.1, 0.1, 0.15, 0.1, 0.3)):
        if rng.random() < share:
            values[k] = None
    count = 0
    while rng.random() < mistakes / (1 + mistakes):  # geometric, of that mean
        count += 1
        kind, k = rng.random(), rng.randrange(len(values))
        value = values[k]
        if kind < 0.06:
            values[0], values[1] = values[1], values[0]
        elif kind < 0.12 and values[0]:
            values[0] = values[0][:1]
        elif kind < 0.2 and values[5] and re.match(r"\d{4}-\d\d-(0\d|1[012])$", values[5]):
            year, month, day = values[5].split("-")
            values[5] = f"{year}-{day}-{month}"
        elif kind < 0.26 and values[2]:
            values[2] = f"{rng.randint(1, 200)} {_invented(rng)} {rng.choice(_ROADS)}"
        elif value:
            values[k] = _mistyped(rng, value)
    return values


def _mistyped(rng: random.Random, text: str) -> str:
    k, kind = rng.randrange(len(text)), rng.random()
    if kind < 0.25 and len(text) > 1:
        return text[:k] + text[k + 1 :]
    if kind < 0.4:
        return text[:k] + text[k] + text[k:]
    if kind < 0.6 and k + 1 < len(text):
        return text[:k] + text[k + 1] + text[k] + text[k + 2 :]
    place = _KEYS.find(text[k])
    return text[:k] + _KEYS[(place + rng.choice((-1, 1))) % len(_KEYS)].strip() + text[k + 1 :]
