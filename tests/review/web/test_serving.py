"""The server itself: on this machine only, quick to start, and stopped in order."""

from __future__ import annotations

import http.client
import socket
from urllib.parse import urlsplit

import pytest

from relatum.errors import DataError
from relatum.review import serve

pytest.importorskip("uvicorn", reason="install relatum[review]")


@pytest.fixture
def running(opened):
    found = serve(opened()).start()
    yield found
    found.stop()


def request(running, path="/", headers=None, method="GET", body=None):
    place = urlsplit(running.address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def test_it_is_served_by_its_address(running):
    place = urlsplit(running.address)
    assert place.hostname == "127.0.0.1"
    status, headers, _ = request(running, f"/?{place.query}")
    assert status == 303
    cookie = headers["set-cookie"].split(";")[0]
    status, _, body = request(running, "/", {"Cookie": cookie})
    assert status == 200
    assert b"Overview" in body
    assert request(running)[0] == 403
    assert request(running, "/../../etc/passwd", {"Cookie": cookie})[0] == 404


def test_a_body_of_100_mb_is_refused_at_once(running):
    place = urlsplit(running.address)
    with socket.create_connection((place.hostname, place.port), timeout=20) as own:
        head = (
            f"POST /split HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: {100 << 20}\r\n"
            f"Origin: http://{place.netloc}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
        )
        own.sendall(head.encode())
        assert own.recv(1000).startswith(b"HTTP/1.1 413")


def test_ports_that_are_taken_are_told(running, opened):
    port = urlsplit(running.address).port
    with pytest.raises(DataError, match=f"Port {port} cannot be listened on"):
        serve(opened(), port)
    with pytest.raises(DataError, match="cannot be listened on"):
        serve(opened(), 1 << 20)


def test_clusters_open_a_review_of_themselves(table, tmp_path, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    running = table.clusters.review(answers=tmp_path / "a.csv", wait=False)
    assert opened == [running.address]
    assert running.address in capsys.readouterr().out
    assert running.address in repr(running)
    running.stop()
    with pytest.raises(ConnectionRefusedError):
        request(running)
