"""Numbers and the list of components, against counting everything."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.review.catalogue import Filter


def rows_of(session):
    return {row.root: row for row in session.components(Filter(least=1), 0, 1000)[0]}


def counted(session):
    """Return (elements, clusters, answers) of every component, looked at one by one."""
    out = {}
    for root in {session.root(k) for k in range(len(session.origin.roots))}:
        solved = session.solved(root)
        out[root] = solved.base.n, solved.clusters, len(session.answers_of(root))
    return out


def test_the_list_is_right_after_joins_and_parts_in_any_order(small, tmp_path):
    session = small.opened(tmp_path / "answers.csv")
    before = rows_of(session)
    rng = np.random.default_rng(0)
    for step in range(12):
        a, b = rng.choice(session.store.roots, 2, replace=False).tolist()
        session.answer(a, b, bool(step % 3))
        actions = sorted({answer.action for answer in session.file.in_force()})
        if step % 4 == 3:
            session.undo(actions[int(rng.integers(len(actions)))])
        found = {r: (row.n, row.clusters, row.answers) for r, row in rows_of(session).items()}
        assert found == counted(session)
        assert session.numbers().components == len(found)
        assert session.numbers().clusters == sum(c for _, c, _ in found.values())
    while session.undo() is not None:
        pass
    assert rows_of(session) == before


def test_a_proof_without_answers_counts(tmp_path):
    """The bound of the whole falls by what the proof gains, and stays after looking elsewhere."""
    pytest.importorskip("pyarrow")
    import pyarrow as pa

    import relatum as rt
    from relatum.review import Session

    rng = np.random.default_rng(1)
    n = 40
    i, j = np.triu_indices(n, 1)
    bits = np.round(rng.normal(0.0, 2.0, len(i)), 2)
    pairs = pa.table({"unique_id_l": i, "unique_id_r": j, "match_weight": bits})
    session = Session(rt.cluster_pairs(pairs, prove=False), answers=tmp_path / "a.csv")
    before = session.numbers()
    assert before.gap > 0
    proved = session.prove(0, 1.0)
    assert proved.gap < before.gap
    after = session.numbers()
    assert after.bound == pytest.approx(proved.bound)
    assert after.gap == pytest.approx(proved.gap, abs=1e-6)
    assert rows_of(session)[0].gap == pytest.approx(proved.gap)
