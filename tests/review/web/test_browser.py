"""The whole way in a real browser: by keys and by forms, through a kill, to verified files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest

from relatum.io import read_answers
from relatum.pair_tables import verify_clusters

pytest.importorskip("uvicorn", reason="install relatum[review]")
pytestmark = pytest.mark.slow


@pytest.fixture
def folder(table, tmp_path):
    from pyarrow import csv, parquet

    parquet.write_table(table.pairs, tmp_path / "pairs.parquet")
    csv.write_csv(table.records, tmp_path / "records.csv")
    return tmp_path


@pytest.fixture
def server(folder):
    """Start the command in a folder; everything that was started is ended."""
    started = []

    def start():
        command = [sys.executable, "-m", "relatum", "review", "pairs.parquet", "--no-browser"]
        process = subprocess.Popen(
            [*command, "--records", "records.csv", "--who", "ann"],
            cwd=folder, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        return process, process.stdout.readline().split()[-1]

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
            process.communicate()


def question_of(page):
    form = page.locator("form[action='/answer']")
    return [int(form.locator(f"input[name={k}]").get_attribute("value")) for k in "ab"]


def press(page, key, told):
    """Press a key on the page of questions, and wait until the page says what is expected."""
    page.keyboard.press(key)
    page.locator("main", has_text=re.compile(told)).wait_for()


def click(page, button):
    """Click a button of a form, and wait for the page that it leads to."""
    before = page.url
    button.click()
    page.wait_for_function("url => location.href !== url", arg=before)


def answer_pair(page, root, a, b, verdict):
    page.goto(f"{page.base}/component/{root}?a={a}&b={b}")
    click(page, page.locator(f"#pair button[value={verdict}]"))


def enter(page, address):
    page.base = address.split("/?")[0]
    page.goto(address)
    page.get_by_role("heading", name="Overview").wait_for()
    assert page.url == f"{page.base}/"  # the token is not in it any more


def test_the_whole_way(server, page, folder, table):
    process, address = server()
    enter(page, address)
    # search, and look at a component
    page.get_by_label("Search by id or text").fill("r010")
    page.get_by_role("button", name="Search").click()
    page.locator("main a", has_text="r010").first.click()
    picture = page.locator("svg.matrix")
    picture.wait_for()
    root = int(re.search(r"/component/(\d+)", page.url)[1])
    box = picture.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.3)
    page.locator("#tip", has_text="bits").wait_for()
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.3)
    page.locator("#pair .why").wait_for()
    assert "Forcing them together costs" in page.locator("#pair").inner_text()
    # ten questions by key, and one that is skipped
    page.get_by_role("link", name="Questions", exact=True).click()
    page.get_by_role("heading", name="Same or different?").wait_for()
    skipped = question_of(page)
    page.keyboard.press("Space")
    page.wait_for_function(
        "pair => document.querySelector('input[name=a]').value !== String(pair[0]) || "
        "document.querySelector('input[name=b]').value !== String(pair[1])", arg=skipped
    )  # fmt: skip
    for k in range(10):
        a, b = question_of(page)
        assert [a, b] != skipped
        press(page, "s" if table.truth[a] == table.truth[b] else "d", f"{k + 1} answers? so far")
    given = read_answers(folder / "answers.csv")
    assert len(given) == 10
    assert all(
        (answer.verdict == "same")
        == (table.truth[int(answer.left[1:])] == table.truth[int(answer.right[1:])])
        for answer in given
    )
    # undo by key
    press(page, "u", "9 answers so far")
    assert len(read_answers(folder / "answers.csv")) == 9
    contradict(page, root)
    split_and_join(page, root)
    # kill -9, and resume
    before = len(read_answers(folder / "answers.csv"))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    _, address = server()
    enter(page, address)
    shown = page.locator("dl.numbers div", has_text="Answers").locator("dd").inner_text()
    assert int(shown.replace(",", "")) == before
    # export, and verify
    page.get_by_role("link", name="Export").click()
    page.get_by_role("button", name="Make the files").click()
    page.get_by_role("heading", name="Verified").wait_for()
    for name in ("clusters.certificate", "clusters.parquet", "evidence.csv"):
        with page.expect_download() as got:
            page.get_by_role("link", name=name).click()
        got.value.save_as(folder / name)
    assert verify_clusters(
        folder / "pairs.parquet",
        folder / "clusters.certificate",
        clusters=folder / "clusters.parquet",
        evidence=folder / "evidence.csv",
    )


def contradict(page, root):
    """Say a ~ b, b ~ c and not a ~ c; the page names all three, and one is taken back."""
    for a, b, verdict in ((0, 1, "same"), (1, 2, "same"), (0, 2, "different")):
        answer_pair(page, root, a, b, verdict)
    page.goto(f"{page.base}/questions")
    section = page.locator(".contradictions")
    text = section.inner_text()
    assert "r000" in text
    assert "r002" in text
    take_one_back(page)


def take_one_back(page):
    found = page.locator(".contradictions .contradiction")
    count = found.count()
    found.last.get_by_role("button").last.click()
    page.wait_for_function(
        "count => document.querySelectorAll('.contradiction').length < count", arg=count
    )


def split_and_join(page, root):
    page.goto(f"{page.base}/component/{root}")
    form = page.locator("form.cluster-form").first
    chosen = form.locator("input[type=checkbox]").first
    element = chosen.get_attribute("value")
    rows = form.locator("tbody tr").count()
    assert rows > 1
    chosen.check()
    click(page, form.get_by_role("button", name="Split chosen records off"))
    own = page.locator(f"form.cluster-form:has(#r{element})")
    others = form.evaluate("f => [...f.querySelectorAll('tbody tr')].map(r => r.id)")
    mates = own.evaluate("f => [...f.querySelectorAll('tbody tr')].map(r => r.id)")
    assert f"r{element}" in mates
    assert len(mates) < rows or set(mates) != set(others)
    first, second = (page.locator(f"select[name={name}]") for name in ("first", "second"))
    values = first.evaluate("s => [...s.options].map(o => o.value)")
    first.select_option(values[0])
    second.select_option(values[1])
    click(page, page.get_by_role("button", name="Join"))
    joined = page.locator(f"form.cluster-form:has(#r{values[0]})")
    assert joined.locator(f"#r{values[1]}").count() == 1
    # what was answered before may speak against the join
    page.goto(f"{page.base}/questions")
    while page.locator(".contradictions .contradiction").count():
        take_one_back(page)


def test_without_scripts_dark_and_on_a_phone(server, folder, browser):
    _, address = server()
    context = browser.new_context(
        java_script_enabled=False, color_scheme="dark", viewport={"width": 360, "height": 700}
    )
    page = context.new_page()
    page.goto(address)
    base = address.split("/?")[0]
    page.goto(f"{base}/questions")
    page.locator("button[value=same]").click()
    assert "1 answer so far" in page.locator("main").inner_text()
    for path in ("/", "/questions", "/component/0", "/export"):
        page.goto(base + path)
        for width in (320, 360, 390, 430, 500, 660, 900):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(x) for x in re.findall(r"\d+", dark)[:3]) < 60
    assert len(read_answers(folder / "answers.csv")) == 1
