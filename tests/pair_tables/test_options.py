"""Options: checked when they are made, and final once the table is known."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from relatum.errors import DataError, ProblemError
from relatum.pair_tables.options import Given, Plan, Settings, Tuning, parse_memory, usual_search


def test_settings_are_checked():
    with pytest.raises(ProblemError, match="at most 0"):
        Settings(background=1.0)
    with pytest.raises(ProblemError, match=r"at least -1e\+200"):
        Settings(background=-1.7e308)
    for size in (0, 10**30):
        with pytest.raises(ProblemError, match="max_size"):
            Settings(max_size=size)
    with pytest.raises(ProblemError, match="time_limit is a positive"):
        Settings(time_limit=-1.0)
    assert Settings(max_size=3).cap == Settings(max_size=3).effort.cap == 3
    assert Settings().cap > 10**18
    assert Settings(search=7, tuning=Tuning(exact_elements=4)).effort[2:] == (128, 4, 7)


def test_memory_is_read():
    assert parse_memory("2GB") == 2 * 10**9
    assert parse_memory(" 1.5 MiB") == 3 * 2**19
    assert parse_memory(77) == 77
    with pytest.raises(DataError, match="'2GB'"):
        parse_memory("GB")


def test_given_names_find_columns():
    given = Given(None, ("a", "b", None, "p"))
    assert given.columns(["p", "b", "a"]).is_probability
    with pytest.raises(DataError, match="'a'"):
        given.columns(["p", "b"])
    with pytest.raises(DataError, match="odd_rows"):
        Given(None, odd_rows="ignore")


def test_the_search_depends_on_the_number_of_pairs_unless_it_is_given():
    many = Tuning.searched_pairs
    assert (usual_search(many), usual_search(many + 1)) == (5, 0)
    plan = Plan(Settings(-2.0, 9))
    assert plan.final(lambda: many + 1) == Settings(-2.0, 9, search=0)
    assert plan.final(lambda: many, background=-3.0) == Settings(-3.0, 9, search=5)

    def count():
        raise AssertionError("counting may take long")

    assert Plan(Settings(), search=2).final(count).search == 2


@pytest.mark.parametrize("record", [Tuning(), Settings(), Given(None), Plan(Settings())])
def test_records_are_frozen(record):
    with pytest.raises(FrozenInstanceError):
        setattr(record, fields(record)[0].name, 1)
