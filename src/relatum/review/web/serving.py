"""The server: one review on 127.0.0.1, until it is told to stop."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relatum.errors import DataError, MissingDependencyError
from relatum.pair_tables import Clusters
from relatum.problem import Problem
from relatum.review.session import Session
from relatum.review.whole import Whole

if TYPE_CHECKING:
    import uvicorn

GRACE = 5  # seconds for requests that are under way when it is told to stop


class Review:
    """A review that is being served.

    Attributes
    ----------
    address : str
        Where its page is, token included.
    session : Session or Whole
        What it shows.
    """

    def __init__(
        self, session: Session | Whole, server: uvicorn.Server, socket_: Any, address: str
    ):
        self.session, self.address = session, address
        self._server, self._socket = server, socket_
        self._thread = threading.Thread(target=self._run, name="relatum review", daemon=True)

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def start(self) -> Review:
        """Serve in a thread; return when the page can be opened."""
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.01)
        return self

    def wait(self) -> None:
        """Serve until Ctrl-C, or until `stop` is called; then close the session."""
        with contextlib.suppress(KeyboardInterrupt):
            if self._thread.is_alive():
                while self._thread.is_alive():
                    self._thread.join(0.2)
            else:
                self._run()
        self.stop()
        self.session.close()

    def stop(self) -> None:
        """Finish the requests that are under way, and stop."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(GRACE + 5)

    def __repr__(self) -> str:
        return f"Review({self.address})"


def serve(session: Session | Whole, port: int = 0) -> Review:
    """Return a review that listens on 127.0.0.1 and is not started yet.

    Parameters
    ----------
    session : Session or Whole
    port : int
        0 takes any that is free.
    """
    try:
        import uvicorn

        from relatum.review.web.application import Application
        from relatum.review.web.guard import Guard
        from relatum.review.web.whole_application import WholeApplication
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("relatum"):
            raise
        raise MissingDependencyError(
            "The review page is served by the packages starlette, uvicorn and jinja2; install "
            "relatum[review]."
        ) from None
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        own.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        own.close()
        told = getattr(error, "strerror", None) or str(error)
        raise DataError(f"Port {port} cannot be listened on: {told}; 0 takes any.") from None
    page = WholeApplication(session) if isinstance(session, Whole) else Application(session)
    guard = Guard(page.asgi, own.getsockname()[1])
    config = uvicorn.Config(
        guard,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=1 << 16,
    )
    return Review(session, uvicorn.Server(config), own, guard.address)


def review(
    found: Clusters,
    *,
    records: Any = None,
    answers: str | Path = "answers.csv",
    id: str | None = None,  # noqa: A002
    who: str | None = None,
    port: int = 0,
    browser: bool = True,
    wait: bool = True,
) -> Review:
    """Open a page on which a person looks at clusters, answers questions and corrects them.

    Parameters
    ----------
    found : Clusters
    records : table or path, optional
        Records of the elements, shown beside their ids.
    answers : path
        The file of answers, ``.csv``; made with the first answer if it is not there.
    id : str, optional
        The column of ids of the records; ``unique_id`` or ``id`` by default.
    who : str, optional
        Who answers; the name of the account by default.
    port : int
        On 127.0.0.1; 0 takes any that is free.
    browser : bool
        Open the page in the browser.
    wait : bool
        Return after Ctrl-C only; otherwise at once, and the page is served until
        `Review.stop` is called.
    """
    session = Session(found, records=records, answers=answers, id=id, who=who)
    return opened(serve(session, port), browser, wait)


def review_whole(
    problem: Problem,
    *,
    answers: str | Path = "answers.csv",
    who: str | None = None,
    port: int = 0,
    browser: bool = True,
    wait: bool = True,
) -> Review:
    """Open a page that asks about a ranking or a classification; see `review`.

    Parameters
    ----------
    problem : Problem
        Over linear orders or maps.
    answers, who, port, browser, wait
        As for `review`.
    """
    return opened(serve(Whole(problem, answers, who), port), browser, wait)


def opened(found: Review, browser: bool, wait: bool) -> Review:
    """Start a review, say where it is, and open it."""
    running = found.start()
    print(f"Review at {running.address}", flush=True)
    if browser:
        webbrowser.open(running.address)
    if wait:
        running.wait()
    return running
