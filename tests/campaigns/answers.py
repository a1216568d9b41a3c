"""Good answers of the four dialects, as the strict mocks write them: what the campaigns then damage."""

import random
from dataclasses import dataclass

from agentui.vendors.sse import SseDecoder
from tests.upstreams.claude_mock import ClaudeMock
from tests.upstreams.exchange import Exchange, Vault, dumps
from tests.upstreams.gemini_mock import GeminiMock
from tests.upstreams.openai_mock import OpenAIMock
from tests.upstreams.responses_mock import ResponsesMock
from tests.upstreams.server import Dialect
from tests.upstreams.step import Step

_MOCKS: dict[str, Dialect] = {
    "openai": OpenAIMock(),
    "openai_responses": ResponsesMock(),
    "claude": ClaudeMock(),
    "gemini": GeminiMock(),
}
_WORDS = (
    "one ",
    "naïve ",
    "日本語 ",
    "\U0001f680 ",
    "two\n",
    'a "quoted" ',
    "back\\slash ",
    "line\u2028separator ",
    "x" * 90 + " ",
    "ok. ",
)


@dataclass(frozen=True)
class Telling:
    """One answer in one dialect: its text, and its bytes, whole (``body``) or as events."""

    dialect: str
    text: str
    body: bytes
    events: tuple[bytes, ...] = ()

    @property
    def is_stream(self) -> bool:
        """Whether it is told in events."""
        return bool(self.events)


def words(dice: random.Random) -> tuple[str, ...]:
    """The pieces of a text; nothing in it looks like any dialect's end."""
    return tuple(dice.choices(_WORDS, k=dice.randint(1, 12)))


def telling(dialect: str, pieces: tuple[str, ...], *, stream: bool, extras: bool = False, model: str = "m") -> Telling:
    """The answer that says ``pieces``; ``extras`` adds fields and events that nobody knows."""
    text = "".join(pieces)
    exchange = _exchange(dialect, model, Step(text=text, chunks=pieces, extras=extras), stream=stream)
    mock = _MOCKS[dialect]
    if not stream:
        return Telling(dialect, text, dumps(mock.answer(exchange)).encode())
    events = tuple(mock.events(exchange))
    return Telling(dialect, text, b"".join(events), events)


def failure_event(dialect: str, message: str) -> bytes:
    """The error that a dialect's stream may hold."""
    return _MOCKS[dialect].failure(_exchange(dialect, "m", Step(message=message), stream=True))


def refusal(dialect: str, status: int, message: str) -> bytes:
    """The body of a dialect's error answer."""
    refused = _MOCKS[dialect].refusal(_exchange(dialect, "m", Step(status=status, message=message), stream=False))
    return dumps(refused.body).encode()


def whole_events(body: bytes) -> int:
    """How many events with data are complete in these bytes."""
    return len(SseDecoder().feed(body))


def _exchange(dialect: str, model: str, step: Step, *, stream: bool) -> Exchange:
    """A request to a mock that nobody sent."""
    body = {"model": model, "messages": [], "stream": stream, "stream_options": {"include_usage": True}}
    if dialect == "gemini":
        body = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
    return Exchange(model, body, {}, {"alt": "sse"} if stream else {}, "chat", stream, step, Vault())
