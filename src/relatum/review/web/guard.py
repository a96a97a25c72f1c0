"""Who may ask: only this machine's browser, with the token, from our own pages.

Every request must name our own host, which keeps out pages that had their name resolved to this
machine; carry the token as a cookie, which only the address that was printed gives; and, if it
changes anything, come from our own origin. Bodies are short, and no page may load or run anything
from elsewhere.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LONGEST_BODY = 1 << 18  # bytes: a correction of thousands of records
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
FORM = b"application/x-www-form-urlencoded"


class Guard:
    """Lets only those requests through to an application that may ask.

    Parameters
    ----------
    app : ASGI application
    port : int
        Where it listens, on 127.0.0.1.
    token : str, optional
        A new one by default.
    """

    def __init__(self, app: App, port: int, token: str | None = None) -> None:
        self.app, self.port = app, port
        self.token = secrets.token_urlsafe(24) if token is None else token
        # cookies do not know ports: several reviews at a time need names of their own
        self.cookie = f"relatum_review_{port}"
        self.hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}

    @property
    def address(self) -> str:
        """The address, token included."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no sockets here
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _plain(send, *refusal)
            return
        given = _token(scope)
        if given is not None:
            await self._enter(send, given)
            return
        if not self._knows(headers):
            text = "This page opens with the address, token included, that relatum review printed."
            await _plain(send, 403, text)
            return
        body = await _body(receive)
        if body is None:
            await _plain(send, 413, "The request is too long.")
            return
        await self.app(scope, _once(body, receive), _with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> tuple[int, str] | None:
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 421, "This host is not served here."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "Only GET and POST are answered."
        length = headers.get(b"content-length", [b"0"])
        if len(length) != 1 or not length[0].isdigit() or int(length[0]) > LONGEST_BODY:
            return 413, "The request is too long."
        own = b"http://" + hosts[0].lower()
        origins = headers.get(b"origin", [])
        foreign = [origin for origin in origins if origin.lower() != own]
        if foreign or (scope["method"] == "POST" and not origins):
            return 403, "Requests come from the pages of this review only."
        site = headers.get(b"sec-fetch-site", [b"same-origin"])
        if site[0] == b"cross-site":
            return 403, "Requests come from the pages of this review only."
        if scope["method"] == "POST":
            kind = headers.get(b"content-type", [b""])[0].split(b";")[0].strip().lower()
            if kind != FORM:
                return 415, "Only forms are taken."
        return None

    async def _enter(self, send: Send, given: str) -> None:
        """Take the token out of the address and into a cookie."""
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            await _plain(send, 403, "This is not the token of this review.")
            return
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        more = ((b"location", b"/"), (b"set-cookie", cookie.encode()))
        await _plain(send, 303, "", more)

    def _knows(self, headers: dict[bytes, list[bytes]]) -> bool:
        # by hand: other servers of this machine set cookies that parsers stop at
        own = f"{self.cookie}={self.token}".encode()
        given = [part.strip() for h in headers.get(b"cookie", []) for part in h.split(b";")]
        return any(hmac.compare_digest(part, own) for part in given)


def _token(scope: Scope) -> str | None:
    """Return the token in an address, if there is one."""
    if scope["method"] != "GET" or scope["path"] != "/":
        return None
    query = scope["query_string"][:1000].decode("latin-1")
    try:
        found = parse_qs(query, max_num_fields=20).get("token")
    except ValueError:  # more fields than any address of ours has
        return None
    return found[0] if found else None


async def _body(receive: Receive) -> bytes | None:
    """Read a body; None if it is too long."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LONGEST_BODY:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


def _once(body: bytes, receive: Receive) -> Receive:
    """Return how an application receives a body that was read already."""
    given = False

    async def again() -> MutableMapping[str, Any]:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return again


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sending


async def _plain(
    send: Send, status: int, text: str, more: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        *HEADERS,
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
