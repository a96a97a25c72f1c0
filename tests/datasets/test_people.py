"""Invented persons are written down several times, with mistakes, and the same for a seed."""

from __future__ import annotations

import numpy as np

from relatum.datasets import load_people


def test_invented_people_are_written_down_several_times():
    people = load_people(300, seed=1)
    assert people.records.num_rows == len(people.entity)
    sizes = np.bincount(people.entity)
    assert sizes.min() == 1
    assert sizes.max() == 4
    same = [
        people.records["surname"][int(k)].as_py()
        for k in np.flatnonzero(np.isin(people.entity, np.flatnonzero(sizes == 4)))
    ]
    alike = np.array(same).reshape(-1, 4)
    assert 0.4 < (alike[:, 0] == alike[:, 1]).mean() < 1  # mistakes are made, but not always
    again = load_people(300, seed=1)
    assert again.records.equals(people.records)
    assert not load_people(300, seed=2).records.equals(people.records)


def test_people_of_several_sources_are_in_each_at_most_once():
    people = load_people(200, sources=3)
    seen = list(zip(people.records["source"].to_pylist(), people.entity.tolist(), strict=True))
    assert len(seen) == len(set(seen))
    assert {source for source, _ in seen} == {"a", "b", "c"}
    assert [source for source, _ in seen] == sorted(source for source, _ in seen)
    clean = load_people(50, mistakes=0.0, copies=2)
    assert clean.records["id"].to_pylist() == list(range(len(clean.entity)))
