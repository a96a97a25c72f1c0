"""Data sets: small ones that come with the library, and larger ones from files or the network.

`load_digits` gives the 8 x 8 images that scikit-learn ships, `load_sentences` a hundred
short sentences written for this library (and under its licence), `load_matches` the results of
a football world cup, `load_people` invents records of persons, written down several times with
mistakes. `load_images` reads folders in the format of MNIST, `fetch_mnist` gets MNIST through
scikit-learn and keeps it, `read_sentences` reads any text file. The environment variable
RELATUM_DATA names the folder where data sets are looked for by name.

May import nothing of ours but the types of arrays and errors. Begin with `images`.
"""

from relatum.datasets.files import data_path
from relatum.datasets.images import (
    Digits,
    fetch_mnist,
    load_digits,
    load_images,
    load_mnist,
    read_idx,
)
from relatum.datasets.matches import Matches, load_matches
from relatum.datasets.people import People, load_people
from relatum.datasets.sentences import load_sentences, read_sentences

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
