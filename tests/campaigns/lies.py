"""What an upstream may do to an answer, and what of it can still be told: the faults U1-U20, dressed and mixed by chance."""

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from agentui.jsonio import Json
from tests.campaigns.answers import Telling, failure_event, refusal, telling
from tests.campaigns.wire import Dress, Play, sliced, tortured

Transport = Literal["whole", "cut", "silent", "none"]
Content = Literal["answer", "ended", "short", "wrong", "error", "page", "any"]

MAX_REPLY = 60_000
MAX_EVENT = 30_000
MAX_REDIRECTED = (301, 302, 303, 307, 308)


@dataclass
class Lie:
    """What the requests of one case meet.

    ``transport`` is whether the HTTP message arrives whole, is cut, falls silent or never is one. ``content`` is what its body
    is: the answer; an answer whose end was said before the cut (``ended``); one without an end (``short``); no answer at all;
    an error in its place; a page; anything. ``body`` is what the body decodes to, as far as it is sent. ``visits`` are the
    fewest and the most requests that one call may make.
    """

    name: str
    plays: list[Play]
    status: int = 200
    transport: Transport = "whole"
    content: Content = "answer"
    body: bytes = b""
    visits: tuple[int, int] = (1, 1)
    is_stream: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Material:
    """What a lie is made of: chance, the honest answer, and how it would travel."""

    dice: random.Random
    told: Telling
    dress: Dress

    @property
    def content_type(self) -> str:
        """As the honest answer is announced."""
        kind = "text/event-stream" if self.told.is_stream else "application/json"
        return kind + self.dice.choice(("", "; charset=utf-8", ";charset=UTF-8"))

    def body(self) -> bytes:
        """The honest body; a stream's in any spelling."""
        told = self.told
        return tortured(self.dice, told.events) if told.is_stream and self.dice.random() < 0.5 else told.body

    def lie(self, name: str, pieces: list[bytes], ending: str, **more: object) -> Lie:
        """A lie of one play."""
        return Lie(name, [self.play(pieces, ending)], is_stream=self.told.is_stream, notes=self.dress.names, **more)  # type: ignore[arg-type]  # fields by their names

    def play(self, pieces: list[bytes], ending: str) -> Play:
        """One play of these bytes, in slices."""
        slices = sliced(self.dice, b"".join(pieces))
        return Play(slices, ending, self.dice.choice((0.0, 0.0, 0.0, 0.005, 0.02)))  # type: ignore[arg-type]  # an ending by its name

    def said(self, status: int, content_type: str, body: bytes) -> list[bytes]:
        """Any body in the dress."""
        data = self.dress.encode(body)
        head = self.dress.headers(status, content_type, len(data), lower=self.dice.random() < 0.1)
        return [head, *self.dress.body(data)]

    def end(self) -> str:
        """How a connection may end after a whole answer."""
        return "close" if self.dress.closes else self.dice.choice(("keep", "keep", "close"))


def honest(made: Material) -> Lie:
    """The whole answer, in odd ways (U18, U20)."""
    body = made.body()
    pieces = made.said(200, made.content_type, body)
    if made.dress.framing != "http10" and made.dice.random() < 0.15:
        pieces.insert(0, b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * made.dice.randint(1, 10))
    return made.lie("honest", pieces, made.end(), body=body)


def cut(made: Material) -> Lie:
    """The answer until anywhere, then the end of the connection, a reset or silence (U5, U6)."""
    body = made.body()
    data = made.dress.encode(body)
    head = made.dress.headers(200, made.content_type, len(data))
    wire = b"".join(made.dress.body(data))
    at = made.dice.randrange(len(wire))
    ending = made.dice.choice(("close", "close", "reset", "hang"))
    sent = _arrived(made, body, wire[:at])
    transport: Transport = "silent" if ending == "hang" else "cut"
    if made.dress.closes and ending == "close" and not made.dress.encoding:
        transport = "whole"  # nothing but the words can tell
    content: Content = "ended" if _says_its_end(made.told, sent) else "short"
    if at == 0 and not made.told.is_stream and transport == "whole":
        content = "wrong"
    return made.lie(f"cut at {at} by {ending}", [head, wire[:at]], ending, transport=transport, content=content, body=sent)


def _arrived(made: Material, body: bytes, wire: bytes) -> bytes:
    """What of the body is in these bytes of the wire; compressed, it is anything of it."""
    if made.dress.encoding:
        return body
    if made.dress.framing != "chunked":
        return wire
    out, at = b"", 0
    while (line := wire.find(b"\r\n", at)) >= 0:
        size = int(wire[at:line].partition(b";")[0] or b"0", 16)
        out += wire[line + 2 : line + 2 + size]
        at = line + 4 + size
        if not size or at > len(wire):
            break
    return out


def _says_its_end(told: Telling, sent: bytes) -> bool:
    """Whether a stream's words may be whole in what was sent: its last text has passed, and what says the end may have."""
    marks = {
        "openai": (b'"finish_reason":"',),
        "openai_responses": (b"response.completed",),
        "claude": (b"message_stop",),
        "gemini": (b'"finishReason"',),
    }
    return told.is_stream and any(mark in sent for mark in marks[told.dialect])


def clean_but_short(made: Material) -> Lie:
    """A stream that ends as HTTP does, and whose words do not (U6)."""
    told = made.told
    if not told.is_stream:
        return cut(made)
    events = list(told.events[: made.dice.randrange(len(told.events))])
    if made.dice.random() < 0.3 and len(events) < len(told.events):
        half = told.events[len(events)]
        events.append(half[: made.dice.randrange(1, len(half))].rstrip(b"\r\n"))
    body = b"".join(events)
    content: Content = "ended" if _says_its_end(told, body) else "short"
    name = f"{len(events)} of {len(told.events)} events"
    return made.lie(name, made.said(200, made.content_type, body), made.end(), content=content, body=body)


def garbled(made: Material) -> Lie:
    """A broken chunk, or a length that is not the body's (U16)."""
    body = made.body()
    dress = made.dress
    data = dress.encode(body)
    if dress.framing == "chunked":
        pieces = dress.body(data)
        at = made.dice.randrange(len(pieces))
        bad = [b"zz\r\n", b"-1\r\nx\r\n", b"fffffffffffffffffffff\r\n", b"\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"]
        if not dress.encoding:
            bad.append(b"5\r\nabc\r\nde")
        spoiled = [*pieces[:at], made.dice.choice(bad)]
        sent = _arrived(made, body, b"".join(pieces[:at]))
        content: Content = "ended" if _says_its_end(made.told, sent) else "short"
        head = dress.headers(200, made.content_type, 0)
        return made.lie(
            f"chunk {at} garbled", [head, *spoiled], "close", transport="cut", content=content, body=sent + b"abc\r\n"
        )
    dress.framing = "length"
    wrong = made.dice.choice((-1, 1)) * made.dice.randint(1, max(1, len(data) - 1))
    head = dress.headers(200, made.content_type, len(data) + wrong)
    name = f"length off by {wrong}"
    if wrong > 0:
        ending = made.dice.choice(("close", "hang", "reset"))
        transport: Transport = "silent" if ending == "hang" else "cut"
        content = "ended" if _says_its_end(made.told, body) else "short"
        return made.lie(name, [head, data], ending, transport=transport, content=content, body=body)
    # Too short a length cuts the body, and the rest is nobody's answer.
    sent = body if dress.encoding else body[:wrong]
    content = "ended" if _says_its_end(made.told, sent) else "short"
    transport = "cut" if dress.encoding else "whole"
    return made.lie(name, [head, data], "close", transport=transport, content=content, body=sent)


_NO_HTTP = (
    b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    b"HTTP/1.1 abc OK\r\n\r\n",
    b"HTTP/9.9 200 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX-A: b\nX-C: d\x00\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"X-Much: 1\r\n" * 3000 + b"\r\n",
    b"HTTP/1.1 200 OK\r\nX-Big: " + b"x" * 200_000 + b"\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n" * 100,
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"\x00" * 300,
    b'{"choices": []}\r\n\r\n',
)


def no_http(made: Material) -> Lie:
    """What is not HTTP, or too much of it (U16)."""
    data = made.dice.choice(_NO_HTTP)
    return made.lie(f"no HTTP {data[:30]!r}", [data], made.dice.choice(("close", "hang")), transport="none")


def half_a_head(made: Material) -> Lie:
    """Headers that never end; with silence behind them, patience does (U4)."""
    head = made.dress.headers(200, made.content_type, 100)
    at = made.dice.randrange(1, len(head) - 2)
    ending = made.dice.choice(("close", "reset", "hang"))
    transport: Transport = "silent" if ending == "hang" else "none"
    # A broken connection before an answer may be tried again.
    visits = (1, 1) if ending == "hang" else (1, 3)
    return made.lie(f"half a head, {ending}", [head[:at]], ending, transport=transport, content="short", visits=visits)


def silence(made: Material) -> Lie:
    """Not a byte (U4)."""
    return made.lie("silence", [], "hang", transport="silent", content="short")


def closed_at_once(made: Material) -> Lie:
    """A connection that ends before any answer, once or always; an old one is replaced, a new one tried again (U10, U18)."""
    ending = made.dice.choice(("close", "reset"))
    lie = made.lie(f"{ending} at once", [], ending, transport="none", visits=(1, 3))
    if made.dice.random() < 0.5:
        good = honest(made)
        lie.plays.append(good.plays[0])
        lie.transport, lie.content, lie.body = "whole", "answer", good.body
        lie.notes = [*lie.notes, "then honest"]
    return lie


def refused(made: Material) -> Lie:
    """An error of the vendor's, in its words or any others (U8, U12)."""
    dice = made.dice
    status = dice.choice((400, 401, 402, 403, 404, 405, 409, 410, 413, 415, 418, 422, 451))
    content_type, body = _error_body(made, status)
    content: Content = "page" if "html" in content_type else "error"
    pieces = made.said(status, content_type, body)
    return made.lie(f"refused {status} {body[:20]!r}", pieces, made.end(), status=status, body=body, content=content)


def _error_body(made: Material, status: int) -> tuple[str, bytes]:
    """An error answer's type and body: mostly the vendor's own."""
    return made.dice.choice(
        (
            ("application/json", refusal(made.told.dialect, status, "The stage refuses.")),
            ("application/json", refusal(made.told.dialect, status, "The stage refuses.")),
            ("application/json", b'{"detail": "Not Found"}'),
            ("application/json", b'{"error": "just a text"}'),
            ("application/json", b'{"error": {"message": {"deep": [1]}, "code": [], "type": 3}}'),
            ("application/json", b"[]"),
            ("application/json", b"{broken"),
            ("text/html; charset=utf-8", b"<html><h1>Bad Gateway</h1></html>"),
            ("text/plain", b"upstream connect error"),
            ("", b""),
            ("text/event-stream", b"data: [DONE]\n\n"),
        )
    )


def troubled(made: Material) -> Lie:
    """429 and 5xx, once, twice or for ever; with or without a time to come back (U9, U10)."""
    dice = made.dice
    status = dice.choice((408, 429, 500, 502, 503, 504, 529))
    content_type, body = _error_body(made, status)
    told = dice.choice((b"", b"", b"Retry-After: 30", b"retry-after-ms: 20", b"Retry-After: soon", b"x-should-retry: false"))
    if told:
        made.dress.head.append(told)
    bad = made.play(made.said(status, content_type, body), made.end())
    if told:
        made.dress.head.remove(told)
    content: Content = "page" if "html" in content_type else "error"
    times = dice.choice((1, 2, 9))
    is_final = told in (b"Retry-After: 30", b"x-should-retry: false")
    lie = made.lie(f"{times} x {status} {told!r}", [], "keep", status=status, content=content, body=body)
    lie.plays = [bad] * min(times, 3)
    lie.visits = (1, 1 if is_final else 3)
    if times < 3 and not is_final:
        good = honest(made)
        lie.plays.append(good.plays[0])
        # Whether it is tried again often enough depends on what else was.
        lie.content, lie.notes = "any", [*lie.notes, "then honest"]
    return lie


def broken_refusal(made: Material) -> Lie:
    """An error answer that is itself cut or garbled: a mix of U6, U8, U12 and U16."""
    dice = made.dice
    status = dice.choice((400, 404, 422, 500, 503))
    content_type, body = _error_body(made, status)
    made.dress.framing = dice.choice(("length", "chunked"))
    made.dress.encoding = ""
    pieces = made.said(status, content_type, body + b" " * 20)
    wire = b"".join(pieces[1:])
    ending = dice.choice(("close", "reset", "hang"))
    transport: Transport = "silent" if ending == "hang" else "cut"
    wire = wire[: dice.randrange(len(wire) - 6)] + dice.choice((b"", b"\r\nzz\r\n" if made.dress.framing == "chunked" else b""))
    lie = made.lie(f"broken {status}, {ending}", [pieces[0], wire], ending, status=status, transport=transport, content="any")
    lie.visits = (1, 3)
    return lie


def redirected(made: Material) -> Lie:
    """A redirect, which is never followed (U17)."""
    status = made.dice.choice(MAX_REDIRECTED)
    goal = made.dice.choice((b"http://127.0.0.1:9/x", b"/v1/other", b"//evil.invalid/", b"http://[", b"", b"javascript:1"))
    made.dress.head.append(b"Location: " + goal)
    return made.lie(
        f"redirect {status} {goal!r}", made.said(status, "text/plain", b"elsewhere"), made.end(), status=status, content="wrong"
    )


_WRONG = (
    b"", b"null", b"3", b'"text"', b"{}", b"[1, 2, 3]", b'{"id": "x", "choices": [tru', b"\xff\xfe", b"plain words",
    b"[" * 5000,
    b'{"choices": 3, "content": 3, "output": 3, "candidates": 3}', b'{"a": NaN}',
    b'{"choices": [{"message": null}], "content": null, "output": null, "candidates": null}',
    b'{"choices": {"0": {}}, "content": {"0": {}}, "output": {"0": {}}, "candidates": {"0": {}}}',
)  # fmt: skip
_WRONG_EVENTS = (
    b"", b"data: [1, 2]\n\n", b"data: {}\n\n", b"data: null\n\n", b"data: {\n\n", b"event: x\n\n", b": only a comment\n\n",
    b"plain words\n\n",
    b'data: {"choices": [3], "candidates": [3]}\n\n', b'data: {"type": 3}\n\n',
    b'event: content_block_delta\ndata: {"type": "nothing"}\n\n',
)  # fmt: skip


def wrong(made: Material) -> Lie:
    """What is JSON or a stream, and no answer; or neither (U7)."""
    body = made.dice.choice(_WRONG_EVENTS if made.told.is_stream else _WRONG)
    return made.lie(f"wrong {body[:30]!r}", made.said(200, made.content_type, body), made.end(), content="wrong", body=body)


def no_content(made: Material) -> Lie:
    """Statuses without a body (U7)."""
    status = made.dice.choice((204, 205, 304))
    head = b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status
    return made.lie(f"status {status}", [head], "keep", status=status, content="wrong")


def foreign(made: Material) -> Lie:
    """A good answer in another dialect (U7)."""
    told = made.told
    other = made.dice.choice([name for name in ("openai", "openai_responses", "claude", "gemini") if name != told.dialect])
    body = telling(other, (told.text,), stream=told.is_stream).body
    return made.lie(f"{other}'s answer", made.said(200, made.content_type, body), made.end(), content="wrong", body=body)


def mutated(made: Material) -> Lie:
    """A good answer with a few bytes changed: still one, or not; it must be told somehow (U7)."""
    body = bytearray(made.told.body)
    for _ in range(made.dice.randint(1, 6)):
        at = made.dice.randrange(len(body))
        match made.dice.randrange(3):
            case 0:
                body[at] = made.dice.choice(b'{}[]":,0\\nt\x00\xff')
            case 1:
                del body[at : at + made.dice.randint(1, 9)]
            case 2:
                body[at:at] = body[made.dice.randrange(len(body)) :][:9]
        if len(body) < 10:
            break
    data = bytes(body)
    return made.lie("mutated", made.said(200, made.content_type, data), made.end(), content="any", body=data)


def retyped(made: Material) -> Lie:
    """A good answer in which one value has another type (U7)."""
    if made.told.is_stream:
        at = made.dice.randrange(len(made.told.events))
        event = made.told.events[at].strip()
        head, _, data = event.rpartition(b"data: ")
        if not data.startswith(b"{"):
            return mutated(made)
        events = list(made.told.events)
        events[at] = head + b"data: " + _retyped(made.dice, data) + b"\n\n"
        body = b"".join(events)
    else:
        body = _retyped(made.dice, made.told.body)
    return made.lie("retyped", made.said(200, made.content_type, body), made.end(), content="any", body=body)


def _retyped(dice: random.Random, data: bytes) -> bytes:
    """JSON in which one value, anywhere, is another."""
    document = json.loads(data)
    places: list[tuple[object, object]] = []

    def walk(value: object) -> None:
        keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        for key in keys:
            places.append((value, key))
            walk(value[key])  # type: ignore[index]  # an object or a list

    walk(document)
    holder, key = dice.choice(places)
    new: Json = dice.choice((None, True, -1, 1.5, "", "x", [], {}, [[]], {"x": 1}, 10**30, "\ud800", [None], "x" * 3000))
    holder[key] = new  # type: ignore[index]  # an object or a list
    return json.dumps(document).encode()


def page(made: Material) -> Lie:
    """A web page in the answer's place (U8)."""
    body = b"<!doctype html><title>Welcome</title><h1>Please log in.</h1>"
    return made.lie("page", made.said(200, "text/html; charset=utf-8", body), made.end(), content="page", body=body)


def error_event(made: Material) -> Lie:
    """An error within the stream, first or later; in one piece, an error with status 200 (U19)."""
    told = made.told
    if not told.is_stream:
        body = refusal(told.dialect, 500, "The stage fails with 200.")
        return made.lie("error with 200", made.said(200, made.content_type, body), made.end(), content="error", body=body)
    at = made.dice.randrange(len(told.events))
    events = [*told.events[:at], failure_event(told.dialect, "The stage fails.")]
    content: Content = "any" if _says_its_end(told, b"".join(events[:at])) else "error"
    if made.dice.random() < 0.3:
        events += told.events[at:]  # as if nothing had been
        content = "any" if content == "any" else "error"
    body = b"".join(events)
    return made.lie(f"error event {at}", made.said(200, made.content_type, body), made.end(), content=content, body=body)


def too_large(made: Material) -> Lie:
    """More than the caps allow: declared, undeclared, or small and compressed (U13, U14, U15)."""
    made.dress.encoding = made.dice.choice(("", "gzip"))
    size = made.dice.randint(2, 20)
    if made.told.is_stream:
        before = b"".join(made.told.events[: made.dice.randrange(len(made.told.events))])
        content: Content = "ended" if _says_its_end(made.told, before) else "short"
        body = before + b"data: " + b"x" * MAX_EVENT * size
    else:
        content = "wrong"
        body = b'"' + b"x" * MAX_REPLY * size + b'"'
    return made.lie("too large", made.said(200, made.content_type, body), "close", transport="cut", content=content, body=body)


def bad_gzip(made: Material) -> Lie:
    """Compressed data that is damaged, or compressed in a way that nobody asked for (U14)."""
    made.dress.encoding = ""
    body = gzip.compress(made.body())
    at = made.dice.randrange(len(body))
    body = body[:at] + bytes((body[at] ^ made.dice.randint(1, 255),)) + body[at + 1 :]
    encoding = made.dice.choice((b"gzip", b"gzip", b"br", b"zstd", b"gzip, gzip"))
    made.dress.head.append(b"Content-Encoding: " + encoding)
    # A flipped bit may sit where nothing reads it (a time, a name).
    lie = made.lie(f"bad {encoding.decode()}", made.said(200, made.content_type, body), made.end(), content="any")
    lie.transport = "cut"
    return lie


LIES: tuple[tuple[int, Callable[[Material], Lie]], ...] = (
    (16, honest), (18, cut), (8, clean_but_short), (8, garbled), (6, no_http), (3, half_a_head), (2, silence),
    (4, closed_at_once),
    (6, refused), (6, troubled), (4, broken_refusal), (3, redirected), (6, wrong), (2, no_content), (3, foreign), (8, mutated),
    (8, retyped), (2, page), (6, error_event), (3, too_large), (3, bad_gzip),
)  # fmt: skip
"""How often each is told."""
