import pytest

from relatum.errors import DataError
from relatum.io import read_preflib

HEADER = """# FILE NAME: x.{kind}
# TITLE: Fruit
# DATA TYPE: {kind}
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: {voters}
# ALTERNATIVE NAME 1: apple
# ALTERNATIVE NAME 2: pear
# ALTERNATIVE NAME 3: plum
"""


def _write(tmp_path, kind, body, voters):
    path = tmp_path / f"x.{kind}"
    path.write_text(HEADER.format(kind=kind, voters=voters) + body)
    return path


def test_ties_and_missing_elements(tmp_path):
    rankings = read_preflib(_write(tmp_path, "toi", "3: 2,{1,3}\n2: {3}\n1: 3, 2, 1\n", 6))
    assert rankings.ranks.tolist() == [[1, 0, 1], [-1, -1, 0], [2, 1, 0]]
    assert rankings.counts.tolist() == [3, 2, 1]
    assert rankings.names == ("apple", "pear", "plum")
    assert (rankings.title, rankings.n, rankings.complete) == ("Fruit", 3, False)


@pytest.mark.parametrize(
    ("kind", "body", "voters", "message"),
    [
        ("soc", "1: 2,1\n", 1, "line 9: .*3 is missing"),
        ("soc", "1: 2,{1,3}\n", 1, "line 9: .*no ties"),
        ("soi", "1: 2,2\n", 1, "line 9: .*twice"),
        ("soi", "1: 4\n", 1, "line 9: .*1 ... 3"),
        ("soi", "x 4\n", 1, "line 9: .*count"),
        ("toc", "1: 1,{2,3\n", 1, "line 9"),
        ("soi", "1: 2,1\n", 7, "7 voters"),
        ("xyz", "1: 2,1\n", 1, "data type"),
    ],
)
def test_broken_files_are_named_with_the_line(tmp_path, kind, body, voters, message):
    with pytest.raises(DataError, match=message):
        read_preflib(_write(tmp_path, kind, body, voters))


def test_every_file_of_the_collection_reads(data_folder):
    paths = [p for p in (data_folder / "preflib").rglob("*.*o?") if p.suffix != ".csv"]
    assert len(paths) > 100
    for path in paths[::9]:
        rankings = read_preflib(path)
        assert rankings.ranks.max() < rankings.n
        assert rankings.complete or path.suffix in (".soi", ".toi")
