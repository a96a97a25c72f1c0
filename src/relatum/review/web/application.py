"""The pages: an overview, components, questions, and what comes out.

Every page is rendered here and works without JavaScript; a form is sent, and its answer leads back
to a page. The script that comes along only does the same without loading a page anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from relatum.errors import DataError, RelatumError
from relatum.review import corrections
from relatum.review.exporting import FILES, Export, export
from relatum.review.session import Session, Told
from relatum.review.web import views

HERE = Path(__file__).parent
STATIC = {
    "icon.svg": "image/svg+xml",
    "review.css": "text/css",
    "review.js": "text/javascript",
}
MOST_FIELDS = 10_000  # of a form


class Pages:
    """What all applications share: templates, files that never change, and polite errors."""

    def __init__(self) -> None:
        self._files = {name: (HERE / "static" / name).read_bytes() for name in STATIC}
        self._pages = Environment(
            loader=FileSystemLoader(HERE / "pages"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._pages.filters |= views.FILTERS

    def get(self, path: str, page: Callable[[Request], Response]) -> Route:
        """Return the route of a page."""

        async def handle(request: Request) -> Response:
            return await run_in_threadpool(partial(self._safely, page, request))

        return Route(path, handle, methods=["GET"])

    def post(self, path: str, action: Callable[[dict[str, list[str]]], Response]) -> Route:
        """Return the route of a form."""

        async def handle(request: Request) -> Response:
            body = (await request.body()).decode("utf-8", errors="replace")
            return await run_in_threadpool(partial(self._safely, action, body))

        return Route(path, handle, methods=["POST"])

    def _safely(self, page: Callable[[Any], Response], given: Any) -> Response:
        """Call a page; what is wrong with a request becomes a page that says it."""
        try:
            if isinstance(given, str):
                given = parse_qs(given, keep_blank_values=True, max_num_fields=MOST_FIELDS)
            return page(given)
        except RelatumError as error:
            return self.render("trouble.html", 400, message=str(error))
        except ValueError as error:  # no number where there should be one, too many fields
            return self.render("trouble.html", 400, message=f"This cannot be read: {error}.")

    async def not_found(self, _request: Request, _error: Exception) -> Response:
        """Return the page of what is not there."""
        return self.render("trouble.html", 404, message="There is no such page.")

    def render(self, template: str, status: int = 200, **given: Any) -> Response:
        """Return a page."""
        return HTMLResponse(self._pages.get_template(template).render(**given), status)

    def static(self, request: Request) -> Response:
        """Return the style sheet, the script or the icon."""
        name = request.path_params["name"]
        if name not in self._files:
            raise DataError("There is no such file.")
        return Response(self._files[name], media_type=STATIC[name])


class Application(Pages):
    """The pages of a session, as an ASGI application.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.exported: Export | None = None
        self._exporting = threading.Lock()
        self._folder = session.catalogue.folder / "export"
        self._folder.mkdir(exist_ok=True)
        routes = [
            self.get("/", self.overview),
            self.get("/search", self.search),
            self.get("/component/{root}", self.component),
            self.get("/pair", self.pair),
            self.get("/questions", self.questions),
            self.get("/export", self.export_page),
            self.get("/export/{name}", self.download),
            self.get("/static/{name}", self.static),
            self.post("/answer", self.answer),
            self.post("/skip", self.skip),
            self.post("/undo", self.undo),
            self.post("/split", self.split),
            self.post("/join", self.join),
            self.post("/pin", self.pin),
            self.post("/prove", self.prove),
            self.post("/export", self.make_export),
        ]
        self.asgi = Starlette(routes=routes, exception_handlers={404: self.not_found})

    def _render(self, template: str, **given: Any) -> Response:
        return self.render(template, session=self.session, **given)

    # --- pages

    def overview(self, request: Request) -> Response:
        """Return the overview."""
        self.session.sync()
        return self._render("overview.html", **views.overview(self.session, request.query_params))

    def search(self, request: Request) -> Response:
        """Return what a search finds."""
        text = request.query_params.get("q", "")[:200]
        found = self.session.catalogue.search(text)
        rows = [(e, name, self.session.key(root)[0], told) for e, name, root, told in found]
        return self._render("search.html", text=text, rows=rows)

    def component(self, request: Request) -> Response:
        """Return the page of a component."""
        self.session.sync()
        root = self.session.key(int(request.path_params["root"]))[0]
        given = views.component(self.session, root, request.query_params)
        given["told"] = self._told(request)
        return self._render("component.html", **given)

    def pair(self, request: Request) -> Response:
        """Return what is to be said of a pair, as a part of a page."""
        a, b = (int(request.query_params.get(name, "-1")) for name in ("a", "b"))
        quick = request.query_params.get("quick") == "1"
        return self._render("pair.html", pair=views.pair(self.session, a, b, explained=not quick))

    def questions(self, request: Request) -> Response:
        """Return the next question."""
        self.session.sync()
        own = request.query_params.get("component")
        root = None if not own else self.session.key(int(own))[0]
        given = views.question(self.session, root)
        return self._render("questions.html", told=self._told(request), **given)

    def export_page(self, _request: Request) -> Response:
        """Return the page of what comes out."""
        self.session.sync()
        return self._render("export.html", made=self.exported, numbers=self.session.numbers())

    def download(self, request: Request) -> Response:
        """Return one of the files that were exported; their names are fixed."""
        name = request.path_params["name"]
        if self.exported is None or name not in FILES:
            raise DataError("There is no such file; export the clusters first.")
        path = self.exported.folder / FILES[FILES.index(name)]
        return FileResponse(path, filename=name, media_type="application/octet-stream")

    def _told(self, request: Request) -> dict[str, Any] | None:
        action = request.query_params.get("after")
        told = self.session.told.get(int(action)) if action else None
        return None if told is None else views.told(self.session, told)

    # --- actions

    def answer(self, form: dict[str, list[str]]) -> Response:
        """Take an answer."""
        a, b, verdict = _number(form, "a"), _number(form, "b"), text_of(form, "verdict")
        if verdict not in ("same", "different"):
            raise DataError("An answer is 'same' or 'different'.")
        how = "pair" if text_of(form, "how") == "pair" else "question"
        told = self.session.answer(a, b, verdict == "same", how)
        return self._back(form, told, a)

    def skip(self, form: dict[str, list[str]]) -> Response:
        """Do not ask about a pair again."""
        self.session.skip(_number(form, "a"), _number(form, "b"))
        return self._back(form, None, _number(form, "a"))

    def undo(self, form: dict[str, list[str]]) -> Response:
        """Take back an action, or the last one."""
        text = text_of(form, "action")
        told = self.session.undo(int(text) if text else None)
        return self._back(form, told, None)

    def split(self, form: dict[str, list[str]]) -> Response:
        """Split records off their cluster."""
        chosen = [int(x) for x in form.get("element", [])]
        if not chosen:
            raise DataError("Choose the records to split off.")
        cluster, _ = views.cluster_of(self.session, chosen[0])
        if not set(chosen) <= set(cluster):
            raise DataError("Choose records of one cluster to split off; they are of several.")
        told = self.session.act(corrections.split(cluster, chosen), "split")
        return self._back(form, told, chosen[0])

    def join(self, form: dict[str, list[str]]) -> Response:
        """Join two clusters, named by one record of each."""
        first, second = (self._element(form, name) for name in ("first", "second"))
        clusters = [views.cluster_of(self.session, e)[0] for e in (first, second)]
        told = self.session.act(corrections.join(*clusters), "join")
        return self._back(form, told, first)

    def _element(self, form: dict[str, list[str]], name: str) -> int:
        """Return an element by its id, if somebody wrote one, or by its number."""
        wanted = text_of(form, f"{name}_id").strip()
        if not wanted:
            return _number(form, name)
        found = [row for row in self.session.catalogue.search(wanted) if row[1] == wanted]
        if len(found) != 1:
            raise DataError(f"There is no record {wanted[:100]!r}, or more than one.")
        return found[0][0]

    def pin(self, form: dict[str, list[str]]) -> Response:
        """Keep a record where it is."""
        element = _number(form, "pinned")
        cluster, others = views.cluster_of(self.session, element)
        told = self.session.act(corrections.pin(element, cluster, others), "pin")
        return self._back(form, told, element)

    def prove(self, form: dict[str, list[str]]) -> Response:
        """Search for a proof."""
        root = _number(form, "root")
        self.session.prove(self.session.key(root)[0])
        return redirect(f"/component/{root}")

    def make_export(self, _form: dict[str, list[str]]) -> Response:
        """Make the files, one at a time."""
        self.session.sync()
        with self._exporting:
            self.exported = export(self.session, self._folder)
        return redirect("/export")

    def _back(self, form: dict[str, list[str]], told: Told | None, element: int | None) -> Response:
        """Lead back to the page that a form was on."""
        query = {} if told is None else {"after": str(told.action)}
        if text_of(form, "back") == "component":
            root = told.root if told is not None else self.session.root(element or 0)
            return redirect(f"/component/{root}", query)
        own = text_of(form, "component")
        # the action is on the disk: whatever is wrong with the way back, this is no error
        if own.isdecimal() and len(own) < 19 and int(own) in self.session.store.roots:
            query["component"] = own
        return redirect("/questions", query)


def redirect(path: str, query: dict[str, str] | None = None) -> Response:
    """Lead to another page."""
    return RedirectResponse(f"{path}?{urlencode(query)}" if query else path, 303)


def text_of(form: dict[str, list[str]], name: str) -> str:
    """Return a field of a form."""
    return form.get(name, [""])[0]


def _number(form: dict[str, list[str]], name: str) -> int:
    return int(text_of(form, name))
