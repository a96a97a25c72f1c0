"""Pages and forms: what is asked for happens, and whatever records hold stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import relatum as rt
from relatum.review.web.application import Application
from relatum.review.web.guard import Guard
from relatum.review.web.views import cluster_of

pa = pytest.importorskip("pyarrow")

HOSTILE = [
    "<script>alert(1)</script>",
    "'\"><img src=x onerror=alert(1)>",
    "</title></table></svg><script>alert(2)</script>",
    "\u202eright to left\u2066",
    "{{ 7 * 7 }} {% raw %}",
    "x" * 1_000_000,
    "null\x00byte",
    "javascript:alert(1)",
    "]]><!--",
    "a & b < c",
]


class Tags(HTMLParser):
    """Collects tags, attributes and texts of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


def require_harmless(page):
    tags = Tags(page)
    scripts = [k for k, tag in enumerate(tags.tags) if tag == "script"]
    assert len(scripts) == 1  # ours, by name
    assert not any(name.startswith("on") or name == "style" for name, _ in tags.attributes)
    assert "img" not in tags.tags
    links = [value for name, value in tags.attributes if name in ("href", "src", "action")]
    assert all(link.startswith(("/", "#", "?")) for link in links), links
    assert len(page) < 400_000


@pytest.fixture
def hostile(tmp_path):
    names = [text[:3000] for text in HOSTILE]
    left, right, bits = [], [], []
    for k in range(len(names) - 1):
        left.append(names[k])
        right.append(names[k + 1])
        bits.append(0.5 if k % 3 == 2 else 2.0)
    pairs = pa.table({"unique_id_l": left, "unique_id_r": right, "match_weight": bits})
    records = pa.table({"unique_id": names, "<b>field</b>": HOSTILE, "{{x}}": HOSTILE[::-1]})
    found = rt.cluster_pairs(pairs)
    from relatum.review import Session

    return Session(found, records=records, answers=tmp_path / "a.csv", who="<i>me</i>")


def test_hostile_records_stay_text(hostile, client):
    own = type(client)(Guard(Application(hostile).asgi, 4321))
    root = hostile.root(0)
    pages = [own.get("/"), own.get(f"/component/{root}"), own.get("/questions")]
    pages += [own.get("/search?q=script"), own.get(f"/component/{root}?a=0&b=1")]
    question = hostile.question()
    form = {"a": question.a, "b": question.b, "verdict": "same"}
    pages.append(own.follow(own.post("/answer", form)))
    hostile.answer(0, 1, True)
    hostile.answer(1, 2, True)
    hostile.answer(0, 2, False)
    pages += [own.get("/questions"), own.get("/"), own.get(f"/component/{root}")]
    for page in pages:
        assert page.status == 200
        require_harmless(page.text)
    shown = "".join(Tags(own.get(f"/component/{root}").text).texts)
    assert "<script>alert(1)</script>" in shown
    assert "{{ 7 * 7 }}" in shown


@pytest.mark.parametrize(
    "path",
    [
        "/static/../application.py",
        "/static/..%2fapplication.py",
        "/static//etc/passwd",
        "/static/%2e%2e/%2e%2e/pyproject.toml",
        "/export/../../../etc/passwd",
        "/export/answers.csv",
        "/export/clusters.csv",
        "/component/../../etc/passwd",
        "/component/x",
        "/component/-1",
        "/component/99999999999999999999999",
        "/component/" + "9" * 5000,
        "/questions?component=-1",
        "/questions?component=99999999999999999999999",
        "/pages/base.html",
        "/component/0?a=x&b=y",
        "/pair?a=0&b=0",
        "/pair?a=1e9&b=2",
        "/pair?a=0&b=99999999",
        "/questions?component=zzz",
        "/questions?after=zzz",
        "/?page=-x",
        "/?sure=abc",
    ],
)
def test_odd_addresses_are_refused_politely(client, path):
    answer = client.get(path)
    assert answer.status in (400, 404), answer.text[:300]
    assert "Traceback" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/answer", {"a": 0, "b": 1}),
        ("/answer", {"a": 0, "b": 0, "verdict": "same"}),
        ("/answer", {"a": "x", "b": 1, "verdict": "same"}),
        ("/answer", {"a": 0, "b": 10**9, "verdict": "same"}),
        ("/answer", {"a": 0, "b": 1, "verdict": "perhaps"}),
        ("/split", {}),
        ("/split", {"element": [10**12]}),
        ("/join", {"first": 0, "second": 0}),
        ("/join", {"first": 0, "second_id": "nobody"}),
        ("/pin", {}),
        ("/undo", {"action": 10**6}),
        ("/undo", {"action": "x"}),
        ("/prove", {"root": -4}),
        ("/skip", {}),
        ("/answer", {f"x{k}": 1 for k in range(20_000)}),
    ],
    ids=str,
)
def test_odd_forms_change_nothing(client, path, form):
    answer = client.post(path, form)
    assert answer.status in (400, 413)
    assert client.session.file.rows == []


def test_answers_by_form(client):
    page = client.get("/questions").text
    a, b = (int(x) for x in re.findall(r'name="[ab]" value="(\d+)"', page)[:2])
    after = client.follow(client.post("/answer", {"a": a, "b": b, "verdict": "same"}))
    assert "1 answer so far" in after.text
    assert "What changed" in after.text
    (answer,) = client.session.file.in_force()
    assert (answer.verdict, answer.who, answer.how) == ("same", "ann", "question")
    undone = client.follow(client.post("/undo"))
    assert "0 answers so far" in undone.text
    skipped = client.follow(client.post("/skip", {"a": a, "b": b})).text
    assert re.findall(r'name="[ab]" value="(\d+)"', skipped)[:2] != [str(a), str(b)]


@pytest.mark.parametrize("own", ["x", "-1", "999999", "9" * 5000, "²"])
def test_what_was_recorded_is_not_told_to_be_an_error(client, own):
    form = {"a": 0, "b": 1, "verdict": "same", "component": own}
    page = client.follow(client.post("/answer", form))
    assert page.status == 200
    assert "1 answer so far" in page.text
    assert len(client.session.file.in_force()) == 1


def test_a_contradiction_can_be_taken_back_by_form(client):
    for a, b, verdict in ((0, 1, "same"), (1, 2, "same"), (0, 2, "different")):
        page = client.follow(client.post("/answer", {"a": a, "b": b, "verdict": verdict})).text
    assert "1 contradiction" in page
    assert page.count('action="/undo"') == 4  # the last one, and three that contradict each other
    page = client.follow(client.post("/undo", {"action": 2})).text
    assert "contradiction" not in page.lower()


def test_split_join_and_pin_by_form(client):
    session = client.session
    found = [session.solved(session.root(k)) for k in range(60)]
    solved = max(found, key=lambda s: s.base.n)
    root = session.root(int(solved.base.elements[0]))
    own = solved.base.elements[solved.labels == 0].tolist()
    page = client.follow(client.post("/split", {"element": own[:1], "back": "component"}))
    assert page.status == 200
    assert "<title>Component" in page.text
    now = session.solved(root)
    others = [
        e for e in own[1:] if now.labels[now.base.place(e)] == now.labels[now.base.place(own[0])]
    ]
    assert others == []
    form = {"first": own[0], "second": own[1], "back": "component"}
    client.follow(client.post("/join", form))  # who answers again means the last answer
    now = session.solved(root)
    assert now.labels[now.base.place(own[0])] == now.labels[now.base.place(own[1])]
    client.post("/undo", {"back": "component"})
    client.post("/undo", {"back": "component"})
    assert session.file.in_force() == []
    name = session.names([own[-1]])[0]
    form = {"first": own[0], "second": "", "second_id": name, "back": "component"}
    other = next(e for e in solved.base.elements.tolist() if e not in own)
    form["second_id"] = session.names([other])[0]
    client.follow(client.post("/join", form))
    now = session.solved(root)
    assert now.labels[now.base.place(own[0])] == now.labels[now.base.place(other)]
    assert client.follow(client.post("/pin", {"pinned": other, "back": "component"})).status == 200


def test_export_by_form(client, tmp_path):
    client.session.answer(0, 1, True)
    page = client.follow(client.post("/export"))
    assert "Verified" in page.text
    got = client.get("/export/clusters.csv")
    assert got.text.splitlines()[0].split(",")[0].strip('"') == "unique_id"
    assert len(got.text.splitlines()) == 61
    certificate = tmp_path / "c"
    certificate.write_bytes(client.get("/export/clusters.certificate").body)
    from relatum.pair_tables import verify_clusters

    origin = client.session.origin
    assert verify_clusters(origin.given.pairs, certificate, evidence=client.session.file.path)


def test_overview_search_and_filters(client):
    page = client.get("/").text
    assert "Questions left" in page
    assert "<svg" in page
    assert client.get("/?least=3&most=9&sure=50&answered=1&order=size").status == 200
    found = client.get("/search?q=r007").text
    assert "/component/" in found
    assert "r007" in found


def test_a_pair_is_explained(client):
    session = client.session
    solved = session.solved(session.root(0))
    a, b = (int(e) for e in solved.base.elements[:2])
    text = client.get(f"/pair?a={a}&b={b}").text
    why = session.explain(a, b)
    assert why.sentence in "".join(Tags(text).texts)
    assert "Forcing them together costs" in text
    assert "Forcing" not in client.get(f"/pair?a={a}&b={b}&quick=1").text


def test_proof_by_form(client):
    root = client.session.root(0)
    page = client.follow(client.post("/prove", {"root": root}))
    assert "0: proven" in page.text


def test_pages_far_behind_the_last_one_are_empty(client):
    for page in (10**6, 10**18, 10**30):
        assert "There is none." in client.get(f"/?page={page}").text
        assert client.get(f"/component/{client.session.root(0)}?page={page}").status == 200


def test_a_pair_of_two_components_is_told_so(client):
    session = client.session
    near = session.queue.near
    a, b, bits = int(near.i[0]), int(near.j[0]), float(near.bits[0])
    assert session.root(a) != session.root(b)
    shown = f"{bits:+.3g} bits"
    for more in ("", "&quick=1"):
        text = client.get(f"/pair?a={a}&b={b}{more}").text
        assert "two components" in text
        assert shown in text
    page = client.get(f"/component/{session.root(a)}?a={a}&b={b}")
    assert "Forcing them together costs" in page.text
    assert "Near, in other components" in page.text
    far = next(
        k for k in range(60) if session.root(k) != session.root(a) and near.bits_of(a, k) is None
    )
    assert "no score near 0 is listed" in client.get(f"/pair?a={a}&b={far}&quick=1").text


def test_an_answer_that_joins_two_components_shows_everywhere(client):
    session = client.session
    near = session.queue.near
    a, b = int(near.i[0]), int(near.j[0])
    names = [str(x) for x in session.names([a, b])]
    count = session.numbers().components
    page = client.follow(
        client.post("/answer", {"a": a, "b": b, "verdict": "same", "back": "component"})
    )
    assert all(name in page.text for name in names)
    for name in names:  # both are found in one component
        found = client.get(f"/search?q={name}").text
        assert f"/component/{session.root(a)}?" in found
    assert session.numbers().components == count - 1
    listed = client.get("/?least=1&answered=1").text
    assert "<p>1 component</p>" in listed
    made = client.follow(client.post("/export"))
    assert "Verified" in made.text
    rows = dict(
        line.replace('"', "").split(",")[:2]
        for line in client.get("/export/clusters.csv").text.splitlines()
    )
    assert rows[names[0]] == rows[names[1]]


def test_whole_clusters_are_joined_by_one_key(client):
    for _ in range(40):
        text = client.get("/questions").text
        a, b = (int(x) for x in re.findall(r'name="[ab]" value="(\d+)"', text)[:2])
        if 'data-key="j"' in text:
            break
        client.post("/skip", {"a": a, "b": b})
    session = client.session
    clusters = [cluster_of(session, e)[0] for e in (a, b)]
    page = client.follow(client.post("/join", {"first": a, "second": b}))
    assert "1 answer" not in page.text or len(clusters[0] + clusters[1]) == 2
    own = set(cluster_of(session, a)[0])
    assert set(clusters[0] + clusters[1]) <= own
    assert "joined" in page.text


def test_how_an_answer_came_about_is_ours_to_say(client):
    form = {"a": 0, "b": 1, "verdict": "same"}
    for how in ("x" * 200_000, "=1+1", "pair"):
        assert client.post("/answer", form | {"how": how}).status == 303
    assert [row.answer.how for row in client.session.file.rows] == ["question", "question", "pair"]


def test_an_id_that_somebody_wrote_is_what_is_joined(client):
    session = client.session
    wanted = next(k for k in range(60) if session.root(k) != session.root(0))
    chosen = next(
        k for k in range(60) if session.root(k) not in (session.root(0), session.root(wanted))
    )
    form = {"first": 0, "second": chosen, "second_id": session.names([wanted])[0]}
    assert client.post("/join", form | {"back": "component"}).status == 303
    assert session.root(wanted) == session.root(0) != session.root(chosen)


def test_chosen_records_are_not_what_is_pinned(client):
    session = client.session
    solved = next(s for s in map(session.solved, map(session.root, range(60))) if s.base.n > 2)
    chosen, pinned = (int(e) for e in solved.base.elements[:2])
    client.post("/pin", {"element": [chosen], "pinned": pinned, "back": "component"})
    facts = session.answers_of(session.root(pinned))
    assert facts
    assert all(pinned in (fact.a, fact.b) for fact in facts)


def test_what_splink_says_of_fields_is_shown_and_escaped(tmp_path, client):
    import pyarrow as pa

    from relatum.review import Session

    pairs = pa.table(
        {
            "unique_id_l": ["b"], "unique_id_r": ["a"], "match_weight": [2.0],
            "bf_<script>x</script>": [8.0], "gamma_<script>x</script>": [2],
        }
    )  # fmt: skip
    session = Session(rt.cluster_pairs(pairs), answers=tmp_path / "splink.csv")
    page = type(client)(Guard(Application(session).asgi, 4321))
    text = page.get("/pair?a=0&b=1&quick=1").text
    assert "What the fields say" in text
    assert "level 2" in text
    assert "+3" in text
    assert "<script>x" not in text
