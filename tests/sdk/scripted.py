"""A server that answers what it is told to, byte by byte, and remembers what it was asked."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread

CLOSE = b""
"""Ends the connection where it stands in a script."""
SILENCE = b"silence"
"""Says nothing more, until the client leaves."""


@dataclass
class Asked:
    """A request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Scripted:
    """Where it listens, what it was asked, and a mark for each client that left before the end."""

    origin: str
    asked: list[Asked] = field(default_factory=list)
    left: SimpleQueue[bool] = field(default_factory=SimpleQueue)


@contextmanager
def scripted(*answers: Sequence[bytes]) -> Iterator[Scripted]:
    """A server that gives one answer, in pieces, to each request."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Scripted(f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread = Thread(target=_serve, args=(listening, list(answers), server))
        thread.start()
        try:
            yield server
        finally:
            # A thread that waits for a request that nobody makes gets one that is none.
            with socket.create_connection(listening.getsockname()):
                pass
            thread.join()


def _serve(listening: socket.socket, answers: list[Sequence[bytes]], server: Scripted) -> None:
    while True:
        connection, _ = listening.accept()
        with connection:
            asked = _read(connection)
            if asked is None:
                return
            server.asked.append(asked)
            _answer(connection, answers.pop(0), server)


def _answer(connection: socket.socket, pieces: Sequence[bytes], server: Scripted) -> None:
    for piece in pieces:
        if piece == CLOSE:
            return
        if piece == SILENCE:
            server.left.put(connection.recv(1) == b"")
            return
        connection.sendall(piece)


def _read(connection: socket.socket) -> Asked | None:
    """A request; None where none comes."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        piece = connection.recv(65536)
        if not piece:
            return None
        raw += piece
    head, _, body = raw.partition(b"\r\n\r\n")
    line, *rest = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in rest)}
    if headers.get("transfer-encoding") == "chunked":
        while not body.endswith(b"0\r\n\r\n"):
            body += connection.recv(65536)
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    return Asked(line, headers, body)


def answer(body: str, status: int = 200, **headers: str) -> list[bytes]:
    """A whole answer."""
    lines = [f"HTTP/1.1 {status} Said", f"content-length: {len(body.encode())}", "content-type: application/json"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ["\r\n".join([*lines, "connection: close", "", ""]).encode(), body.encode()]


def refusal(status: int, code: str, **headers: str) -> list[bytes]:
    """An error as the server tells it."""
    said = f'{{"error": {{"code": "{code}", "message": "No.", "details": {{"a": 1}}}}}}'
    return answer(said, status, **headers)


STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
"""The head of a stream of events."""


END = b"0\r\n\r\n"
"""Behind the last event of a stream that was not broken off."""


def event(name: str, data: str, id: str = "") -> bytes:
    """An event of a stream."""
    return part((f"id: {id}\n" if id else "") + f"event: {name}\ndata: {data}\n\n")


def part(text: str) -> bytes:
    """A part of a stream."""
    return f"{len(text.encode()):x}\r\n{text}\r\n".encode()
