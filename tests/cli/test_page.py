"""The demo page in a headless browser: everything is shown, nothing is fetched."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

pytest.importorskip("matplotlib")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=5000",
)
# Written into the page's title by the page itself, once it is loaded.
REPORT = """<script>addEventListener("load", () => {
  const images = [...document.images];
  document.title = JSON.stringify({
    shown: images.filter(i => i.complete && i.naturalWidth > 100).length,
    images: images.length,
    drawings: [...document.querySelectorAll("svg")].filter(s => s.clientWidth > 100).length,
    rows: document.querySelectorAll("tbody tr").length,
    wide: document.documentElement.scrollWidth - innerWidth,
    fetched: performance.getEntriesByType("resource")
      .filter(e => !e.name.startsWith("data:")).length
  }); });</script>"""


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


@pytest.fixture(scope="module")
def page(demo):
    return demo[1]


class _Tags(HTMLParser):
    """Every tag is closed, every picture has a text, nothing points elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag not in ("meta", "img", "source", "br"):
            self.open.append(tag)
        if tag == "img":
            self.texts.append(given["alt"])
            assert given["src"].startswith("data:image/png;base64,")
        if tag == "svg":
            self.texts.append(given["aria-label"])
        pointed = [given[x] for x in ("href", "srcset") if x in given]
        assert all(x.startswith("data:image/png;base64,") for x in pointed)
        assert not {"action", "onclick"} & set(given)
        assert tag != "script"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole(page):
    tags = _Tags()
    tags.feed(page.read_text())
    assert tags.open == []
    assert len(tags.texts) == len(set(tags.texts)) == 8
    assert page.read_text().count("<tr>") == 5
    assert page.read_text().count("is more than 2^0 = 1 times as probable. Checked") == 4
    assert "NOT VERIFIED" not in page.read_text()
    assert "prefers-color-scheme: dark" in page.read_text()
    assert "http" not in page.read_text()  # nothing is fetched


@pytest.mark.parametrize("width", [400, 1200])
def test_the_page_in_a_browser(browser, page, tmp_path, width):
    watched = tmp_path / "watched.html"
    watched.write_text(page.read_text().replace("</head>", REPORT + "</head>"))
    profile = tmp_path / "profile"
    profile.mkdir()
    done = subprocess.run(
        [
            browser,
            *FLAGS,
            f"--user-data-dir={profile}",
            f"--window-size={width},900",
            "--dump-dom",
            watched.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    title = re.search("<title>(.*?)</title>", done.stdout)
    assert title, done.stdout[:500]
    told = json.loads(title[1].replace("&quot;", '"'))
    assert told["shown"] == told["images"] == 2
    assert told["drawings"] == 6
    assert told["rows"] == 4
    assert told["fetched"] == 0
    assert told["wide"] <= 0  # nothing sticks out
