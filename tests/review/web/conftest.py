"""Requests to the application, with its guard and without a network."""

from __future__ import annotations

import asyncio
import shutil
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette", reason="install relatum[review]")

PORT = 4321
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip


class Client:
    """Sends requests to a guarded application, as a browser on the right page would."""

    def __init__(self, guard):
        self.guard = guard
        self.cookie = f"{guard.cookie}={guard.token}"

    def get(self, path, headers=None):
        return self.send("GET", path, headers)

    def post(self, path, form=(), headers=None, body=None):
        data = urlencode(form, doseq=True).encode() if body is None else body
        own = {"origin": f"http://127.0.0.1:{PORT}", "content-length": str(len(data))}
        own["content-type"] = "application/x-www-form-urlencoded"
        return self.send("POST", path, own | (headers or {}), data)

    def send(self, method, path, headers=None, body=b""):
        own = {"host": f"127.0.0.1:{PORT}", "cookie": self.cookie} | (headers or {})
        place, _, query = path.partition("?")
        scope = {
            "type": "http", "method": method, "path": place, "raw_path": place.encode(),
            "query_string": query.encode(), "http_version": "1.1", "scheme": "http",
            "root_path": "", "server": ("127.0.0.1", PORT), "client": ("127.0.0.1", 5),
            "headers": [(k.encode(), v.encode()) for k, v in own.items() if v is not None],
        }  # fmt: skip
        sent, parts = [], [body[k : k + 60_000] for k in range(0, max(1, len(body)), 60_000)]

        async def receive():
            if not parts:
                await asyncio.sleep(3600)
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message):
            sent.append(message)

        asyncio.run(self.guard(scope, receive, send))
        found = {k.decode().lower(): v.decode() for k, v in sent[0]["headers"]}
        text = b"".join(m.get("body", b"") for m in sent[1:])
        return SimpleNamespace(
            status=sent[0]["status"], headers=found, body=text, text=text.decode("utf-8", "replace")
        )

    def follow(self, answer):
        """Go where an answer leads."""
        assert answer.status == 303, answer.text
        return self.get(answer.headers["location"])


@pytest.fixture
def client(opened):
    from relatum.review.web.application import Application
    from relatum.review.web.guard import Guard

    session = opened()
    found = Client(Guard(Application(session).asgi, PORT))
    found.session = session
    return found


@pytest.fixture
def browser():
    """A real browser, or none: then what needs it is skipped, with the reason."""
    playwright = pytest.importorskip("playwright.sync_api", reason="install relatum[dev]")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on the path to test with")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield found
        found.close()


@pytest.fixture
def page(browser):
    """A page of it, on which no script may fail and no policy be broken."""
    found = browser.new_page(viewport={"width": 1000, "height": 800})
    found.set_default_timeout(20_000)
    found.trouble = []
    found.on("pageerror", lambda error: found.trouble.append(str(error)))
    found.on("console", lambda m: m.type == "error" and found.trouble.append(m.text))
    yield found
    assert found.trouble == []
