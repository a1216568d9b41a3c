"""What the mocks shall answer: one ``Step`` per request, by name (``scenario``) or scripted by the test."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Literal

Finish = Literal["stop", "length", "stop_sequence", "content_filter"]
Cut = Literal["clean", "half_line", "reset"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. An empty name means the first tool that the request declares; ``arguments`` is JSON text, ``""``
    stands for the vendors' ways to stream no arguments at all."""

    name: str = ""
    arguments: str = '{"city": "Paris"}'
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """Usage. ``input`` includes cached tokens, ``output`` includes reasoning."""

    input: int = 11
    output: int = 7
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes instead of an answer."""

    body: bytes
    content_type: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One answer, in no dialect.

    ``chunks`` is how the text is streamed (None: word by word). ``status`` from 400 makes it an error of that vendor,
    with ``retry_after`` seconds. In a stream ``fail_after`` events an error event follows and nothing else,
    ``cut`` ends it after ``cut_after`` events (negative: counted from the end), ``hold`` waits for ``Mock.release``
    before the headers or after so many events, ``byte_cut`` writes in pieces of that many bytes, ``forever`` repeats
    the text until the client leaves, ``bad_event`` puts an event in the middle that is not JSON.
    ``cited`` is a page that the text cites (OpenAI's two dialects). ``extras`` adds fields and events that no client knows.
    """

    text: str = "Hello from the mock."
    chunks: tuple[str, ...] | None = None
    thinking: str | None = None
    redacted: bool = False
    calls: tuple[Call, ...] = ()
    interleave: bool = False
    refusal: str | None = None
    cited: str | None = None
    finish: Finish = "stop"
    blocked: bool = False
    tokens: Tokens = Tokens()
    extras: bool = False
    status: int = 200
    retry_after: int | None = None
    quota: bool = False
    message: str = "The mock was told to fail."
    fail_after: int | None = None
    cut: Cut | None = None
    cut_after: int = -1
    hold: Literal["headers"] | int | None = None
    byte_cut: int | None = None
    pause: float = 0.0
    forever: bool = False
    bad_event: bool = False
    raw: Raw | None = None

    def pieces(self, choice: int = 0) -> Iterator[str]:
        """The text as it is streamed for one choice; endless where ``forever``."""
        pieces = list(self.chunks) if self.chunks is not None else re.findall(r"\S+\s*|\s+", self.text)
        if choice:
            pieces.append(f" ({choice + 1})")
        return cycle(pieces) if self.forever and pieces else iter(pieces)

    def words(self, choice: int = 0) -> str:
        """The whole text of one choice."""
        return "".join(replace(self, forever=False).pieces(choice))


HOSTILE_TEXT = (
    'One\u2028two\u2029three\u0085four \U0001f469\u200d\U0001f680 naïve 日本語 \\ "quoted" data: [DONE]\n\nevent: x\r\nend'
)
"""Text whose line separators, quotes and long characters break careless readers of streams."""

_CHUNKS = tuple(HOSTILE_TEXT[at : at + 5] for at in range(0, len(HOSTILE_TEXT), 5))

_PARIS = Call("", '{"city": "Paris"}')
_OSLO = Call("", '{"city": "Oslo", "note": "naïve \\u2603 \U0001f600"}')

SCENARIOS: dict[str, Step] = {
    "text": Step(),
    "empty-text": Step(text="", chunks=()),
    "unicode": Step(text=HOSTILE_TEXT, chunks=_CHUNKS, byte_cut=7),
    "unicode-bytes": Step(text=HOSTILE_TEXT, chunks=_CHUNKS, byte_cut=1),
    "tool": Step(text="", calls=(_PARIS,)),
    "text-tool": Step(text="Let me look. ", calls=(_PARIS,)),
    "tools": Step(text="", calls=(_PARIS, _OSLO)),
    "tools-interleaved": Step(text="", calls=(_PARIS, _OSLO), interleave=True),
    "tool-empty": Step(text="", calls=(Call("", ""),)),
    "thinking": Step(thinking="Let me think about this carefully.", tokens=Tokens(11, 20, reasoning=13)),
    "thinking-redacted": Step(thinking="Secret.", redacted=True, tokens=Tokens(11, 20, reasoning=13)),
    "thinking-tool": Step(text="", thinking="I need the tool.", calls=(_PARIS,), tokens=Tokens(11, 20, reasoning=13)),
    "thinking-tools": Step(text="", thinking="I need it twice.", calls=(_PARIS, _OSLO), tokens=Tokens(11, 20, reasoning=13)),
    "refusal": Step(text="", refusal="I cannot help with that."),
    "filter": Step(text="I was about to", finish="content_filter"),
    "blocked": Step(text="", blocked=True, finish="content_filter"),
    "length": Step(text="This goes on and", finish="length"),
    "stop-sequence": Step(text="Up to here", finish="stop_sequence"),
    "usage": Step(tokens=Tokens(100, 50, cache_read=60, cache_write=10, reasoning=20)),
    "extras": Step(extras=True),
    "fail-mid": Step(fail_after=3, message="Overloaded in the middle."),
    "fail-first": Step(fail_after=0, message="Overloaded at once."),
    "truncated": Step(cut="clean"),
    "truncated-early": Step(cut="clean", cut_after=3),
    "truncated-line": Step(cut="half_line", cut_after=3),
    "truncated-reset": Step(cut="reset", cut_after=3),
    "hang": Step(hold="headers"),
    "hang-mid": Step(hold=3),
    "forever": Step(text="again ", forever=True, pause=0.002),
    "slow": Step(text=" ".join(["tick"] * 50), pause=0.02),
    "bad-event": Step(bad_event=True),
    "html": Step(raw=Raw(b"<!doctype html><title>Welcome</title><p>Please log in.", "text/html; charset=utf-8")),
    "html-502": Step(raw=Raw(b"<html><h1>502 Bad Gateway</h1></html>", "text/html", 502)),
    "invalid-json": Step(raw=Raw(b'{"id": "x", "choices": [tru', "application/json")),
    "not-an-answer": Step(raw=Raw(b"[1, 2, 3]", "application/json")),
    "empty-body": Step(raw=Raw(b"", "application/json")),
    "redirect": Step(raw=Raw(b"", "text/plain", 302, (("Location", "http://127.0.0.1:9/elsewhere"),))),
    "quota": Step(status=429, quota=True, message="You exceeded your current quota."),
}
"""Answers by name. ``error-<status>`` makes errors; 429, 503 and 529 say Retry-After: 7."""

_ERROR = re.compile(r"error-(\d{3})")


def scenario(model: str) -> Step:
    """The answer that a model's name stands for: ``<scenario>`` or ``<family>--<scenario>``, plain text otherwise.

    ``gpt-5--tools`` is a reasoning model that calls two tools.
    """
    name = model.rsplit("--", 1)[-1].rsplit("/", 1)[-1]
    error = _ERROR.fullmatch(name)
    if error:
        status = int(error[1])
        return Step(status=status, retry_after=7 if status in (429, 503, 529) else None)
    return SCENARIOS.get(name, SCENARIOS["text"])
