"""Hostile requests are refused, before any page sees them."""

from __future__ import annotations

import asyncio

import pytest

from relatum.review.web.guard import LONGEST_BODY, Guard


def test_the_address_lets_in_once_and_for_all(client):
    fresh = client.send("GET", "/", {"cookie": None})
    assert fresh.status == 403
    entered = client.send("GET", f"/?token={client.guard.token}", {"cookie": None})
    assert entered.status == 303
    assert entered.headers["location"] == "/"
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert client.send("GET", "/", {"cookie": cookie.split(";")[0]}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"cookie": None},
        {"cookie": "relatum_review_4321=wrong"},
        {"cookie": "relatum_review_4321="},
        {"cookie": "\x00=;;;"},
        {"host": "evil.example"},
        {"host": "evil.example:4321"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:80"},
        {"host": None},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:80"},
        {"sec-fetch-site": "cross-site"},
    ],
    ids=str,
)
def test_others_are_refused(client, headers):
    answers = len(client.session.file.rows)
    for path in ("/", "/component/0", "/static/review.js", "/export/clusters.csv"):
        assert client.get(path, headers).status in (403, 421)
    form = {"a": 0, "b": 1, "verdict": "same"}
    assert client.post("/answer", form, headers).status in (403, 421)
    assert len(client.session.file.rows) == answers


def test_a_form_without_origin_is_refused(client):
    assert client.post("/skip", {"a": 0, "b": 1}, {"origin": None}).status == 403


def test_wrong_tokens_are_refused(client):
    for token in ("", "x", client.guard.token[:-1], client.guard.token + "x", "é"):
        answer = client.send("GET", f"/?token={token}", {"cookie": None})
        assert answer.status == 403
        assert "set-cookie" not in answer.headers


def test_long_bodies_are_refused_unread(client):
    hundred = str(100 * 1024 * 1024)
    assert client.post("/split", headers={"content-length": hundred}, body=b"x").status == 413
    assert client.post("/split", headers={"content-length": "-1"}, body=b"x").status == 413
    lie = client.post("/split", headers={"content-length": "5"}, body=b"x" * (LONGEST_BODY + 1))
    assert lie.status == 413


def test_other_methods_and_kinds_are_refused(client):
    for method in ("PUT", "DELETE", "TRACE", "OPTIONS", "CONNECT"):
        assert client.send(method, "/").status == 405
    for kind in ("text/plain", "application/json", "multipart/form-data; boundary=x"):
        assert client.post("/skip", {"a": 0}, {"content-type": kind}).status == 415


def test_every_answer_carries_the_policy(client):
    for answer in (client.get("/"), client.get("/nowhere"), client.send("GET", "/", {"host": "x"})):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_sockets_are_closed():
    sent = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(None, 1)({"type": "websocket"}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_tokens_are_new_each_time():
    assert len({Guard(None, 1).token for _ in range(50)}) == 50


@pytest.mark.parametrize(
    "other",
    ['a={"x": 1}', "a b=c", "=1", "odd,name=1", 'open="x', "relatum_review_4321=old", "é=é"],
)
def test_cookies_of_other_servers_do_not_lock_anybody_out(client, other):
    assert client.get("/", {"cookie": f"{other}; {client.cookie}"}).status == 200
    assert client.get("/", {"cookie": f"{client.cookie}; {other}"}).status == 200
    assert client.get("/", {"cookie": other}).status == 403


def test_many_fields_of_an_address_are_no_error_of_ours(client):
    query = "/?" + "&".join(f"x{k}=1" for k in range(50))
    assert client.get(query).status == 200
    assert client.get(query, {"cookie": None}).status == 403
