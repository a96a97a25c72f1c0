"""What pages show, as plain values: templates only lay it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from relatum.errors import DataError
from relatum.explanation import pair_log_odds
from relatum.review.catalogue import ORDERS, Filter
from relatum.review.session import Session, Told
from relatum.review.warm import Solved
from relatum.review.web.drawing import READABLE, extract, graph, histogram, matrix

PAGE = 25  # components of a list
CLUSTERS = 30  # of a component, on a page
RECORDS = 400  # of a component, on a page
MOST = 10**9  # of numbers in an address
Query = Mapping[str, str]


def bits(value: float) -> str:
    """Return a number of bits as it is shown."""
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def worth(value: float) -> str:
    """Return what an answer tells."""
    return f"{value:.2f} bits"


def signed(value: float) -> str:
    """Return a number of bits with its sign."""
    return f"{value:+,.1f}" if abs(value) >= 100 else f"{value:+.3g}"


def percent(value: float) -> str:
    """Return a probability as it is shown: never 100 % of what is not certain."""
    if 0.999 < value < 1:
        return "> 99.9 %"
    return "< 0.1 %" if 0 < value < 0.001 else f"{100 * value:.3g} %"


def plural(count: int, what: str) -> str:
    """Return a number and what it counts."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def name(id_: Any) -> str:
    """Return an id as it is shown."""
    text = " ".join(map(str, id_)) if isinstance(id_, tuple) else str(id_)
    return text if len(text) <= 80 else text[:79] + "…"


FILTERS: dict[str, Any] = {"bits": bits, "signed": signed, "percent": percent, "plural": plural}
FILTERS |= {"name": name, "worth": worth}


def _whole(query: Query, key: str, default: int, least: int = 0) -> int:
    text = query.get(key, "").strip()
    return min(max(least, int(text)), MOST) if text else default


def filter_of(query: Query) -> Filter:
    """Return the filter that a query asks for."""
    text, order = query.get("sure", "").strip(), query.get("order", "doubt")
    most = query.get("most", "").strip()
    return Filter(
        least=_whole(query, "least", 2, 1),
        most=int(most) if most else None,
        sure=float(text) / 100 if text else 1.0,
        answered=query.get("answered") == "1",
        order=order if order in ORDERS else "doubt",
    )


def overview(session: Session, query: Query) -> dict[str, Any]:
    """Return what the overview shows."""
    wanted, page = filter_of(query), _whole(query, "page", 0)
    rows, total = session.components(wanted, page, PAGE)
    numbers = session.numbers()
    kept = {k: v for k, v in query.items() if k != "page" and v}
    looked, doubtful = session.queue.looked_at
    told = session.catalogue.records([row.first for row in rows])
    texts = {e: " · ".join(v for v in cells.values() if v)[:120] for e, cells in told.items()}
    return {
        "numbers": numbers,
        "histogram": histogram(numbers.sizes),
        "rows": [(row, texts.get(row.first, "")) for row in rows],
        "total": total,
        "page": page,
        "pages": max(1, -(-total // PAGE)),
        "filter": wanted,
        "query": kept,
        "orders": list(ORDERS),
        "left": session.left(),
        "looked": looked,
        "doubtful": doubtful,
        "contradictions": contradictions(session),
    }


def contradictions(session: Session) -> list[dict[str, Any]]:
    """Return what contradicts itself: a sentence, and the answers that can be taken back."""
    out = []
    for found, sentence in session.contradictions():
        answers = []
        for fact in found.facts:
            names = session.names([fact.a, fact.b])
            answers.append({"fact": fact, "names": names, "aside": fact == found.fact})
        out.append({"sentence": sentence, "answers": answers})
    return out


def cluster_of(session: Session, element: int) -> tuple[list[int], list[int]]:
    """Return all elements of an element's cluster, and the others of its component."""
    solved = session.solved(session.root(element))
    own = solved.labels == solved.labels[solved.base.place(element)]
    return [[int(e) for e in solved.base.elements[chosen]] for chosen in (own, ~own)]  # type: ignore[return-value]


def component(session: Session, root: int, query: Query) -> dict[str, Any]:
    """Return what the page of a component shows."""
    solved = session.solved(root)
    focus = int(query["a"]) if query.get("a") else None
    if focus is not None and session.root(focus) != root:
        focus = None
    drawn, page = extract(solved, focus), _whole(query, "page", 0)
    clusters = clusters_of(session, solved, focus)
    shown = clusters[page * CLUSTERS : (page + 1) * CLUSTERS]
    told = None
    if query.get("a") and query.get("b"):
        told = pair(session, int(query["a"]), int(query["b"]))
    agenda = session.agenda(root)
    return {
        "solved": solved,
        "root": root,
        "sure": session.sure(solved),
        "matrix": matrix(drawn) if solved.base.n > 1 else "",
        "graph": graph(drawn) if solved.base.n > 1 else "",
        "drawn": drawn.n,
        "clusters": [records_of(session, solved, c) for c in shown],
        "choices": [(c[0], name(session.names([c[0]])[0]), len(c)) for c in clusters[:200]],
        "page": page,
        "pages": max(1, -(-len(clusters) // CLUSTERS)),
        "fields": session.catalogue.fields,
        "answers": [
            {"fact": f, "names": session.names([f.a, f.b])} for f in session.answers_of(root)
        ],
        "asked": [
            {"question": q, "names": session.names([q.a, q.b])} for q in agenda.questions[:8]
        ],
        "beside": [
            {"a": a, "b": b, "bits": x, "names": session.names([a, b])}
            for a, b, x in session.beside(root, 8)
        ],
        "left": agenda.left,
        "pair": told,
        "whole": drawn.n == solved.base.n,
        "readable": READABLE,
    }


def clusters_of(session: Session, solved: Solved, focus: int | None) -> list[list[int]]:
    """Return the clusters of a component: that of the focus first, then the largest."""
    del session
    labels, elements = solved.labels, solved.base.elements
    order = np.lexsort((elements, labels))
    cuts = np.flatnonzero(np.diff(labels[order])) + 1
    found = [[int(e) for e in part] for part in np.split(elements[order], cuts)]
    return sorted(found, key=lambda c: (focus not in c, -len(c), c[0]))


def records_of(session: Session, solved: Solved, cluster: Sequence[int]) -> dict[str, Any]:
    """Return a cluster as a table: its records, and which cells differ from the most common."""
    shown = list(cluster[:RECORDS])
    cells, names = session.catalogue.records(shown), session.names(shown)
    fields = session.catalogue.fields
    usual = {}
    for field in fields:
        texts = (_same(cells.get(e, {}).get(field, "")) for e in shown)
        values = Counter(text for text in texts if text)
        usual[field] = max(values, key=lambda v: (values[v], v)) if len(values) > 1 else None
    rows = []
    for element, own in zip(shown, names, strict=True):
        record = cells.get(element, {})
        row = [(record.get(f, ""), _differs(record.get(f, ""), usual[f])) for f in fields]
        rows.append({"element": element, "name": own, "cells": row})
    inside = solved.labels == solved.labels[solved.base.place(cluster[0])]
    return {"rows": rows, "size": len(cluster), "label": int(solved.labels[inside][0]),
            "first": cluster[0], "more": len(cluster) - len(shown)}  # fmt: skip


def _same(text: str) -> str:
    return " ".join(text.lower().split())


def _differs(text: str, usual: str | None) -> bool:
    """Say whether a cell is another one than usual; what is missing is not."""
    own = _same(text)
    return bool(own and usual and own != usual)


def pair(session: Session, a: int, b: int, explained: bool = True) -> dict[str, Any]:
    """Return what is to be said of a pair of elements."""
    if a == b:
        raise DataError("A pair is of two records.")
    root, other = session.root(a), session.root(b)
    names = session.names([a, b])
    out: dict[str, Any] = {"a": a, "b": b, "names": names, "root": root, "why": None}
    out["records"] = compared(session, a, b)
    out["known"] = session.ledger.says(a, b)
    out["fields"] = session.fields(a, b)
    out["apart"] = other != root
    if other != root and not explained:
        out["bits"], out["together"] = session.bits_between(a, b), False
        return out
    solved = session.both(a, b)
    place = solved.base.place(a), solved.base.place(b)
    out["bits"] = float(
        pair_log_odds(solved.base.problem, np.array([place[0]]), np.array([place[1]]))[0]
    )
    out["together"] = bool(solved.labels[place[0]] == solved.labels[place[1]])
    if explained:
        out["why"] = session.explain(a, b)
    return out


def compared(session: Session, a: int, b: int) -> list[tuple[str, str, str, bool]]:
    """Return the fields of two records side by side, and which differ."""
    found = session.catalogue.records([a, b])
    left, right = found.get(a, {}), found.get(b, {})
    return [
        (f, left.get(f, ""), right.get(f, ""), _differs(left.get(f, ""), _same(right.get(f, ""))))
        for f in session.catalogue.fields
    ]


def question(session: Session, root: int | None) -> dict[str, Any]:
    """Return what the page of questions shows."""
    asked = session.question(root)
    out: dict[str, Any] = {"question": asked, "component": root, "left": session.left()}
    out["answers"] = session.numbers().answers
    out["contradictions"] = contradictions(session)
    out["last"] = session.file.last_action(session.who)
    out["pair"] = None
    if root is not None:
        out["left"] = session.agenda(root).left
    if asked is not None:
        out["pair"] = pair(session, asked.a, asked.b, explained=False)
        mates = [cluster_of(session, e)[0] for e in (asked.a, asked.b)]
        out["mates"] = [
            [name(x) for x in session.names([m for m in own if m != e][:5])]
            for own, e in zip(mates, (asked.a, asked.b), strict=True)
        ]
        out["sizes"] = [len(own) for own in mates]
        out["whole"] = asked.b not in mates[0] and sum(out["sizes"]) > 2
    return out


def told(session: Session, done: Told) -> dict[str, Any]:
    """Return what an action changed, in words and names."""
    changes = []
    for change in done.changes[:20]:
        sides = [
            [[name(x) for x in session.names(c[:12])] + ["…"] * (len(c) > 12) for c in side[:12]]
            for side in (change.before, change.after)
        ]
        changes.append({"kind": change.kind, "before": sides[0], "after": sides[1]})
    more = len(done.changes) - len(changes)
    return {"action": done.action, "changes": changes, "more": more, "value": done.value,
            "contradictions": len(done.contradictions), "root": done.root}  # fmt: skip
