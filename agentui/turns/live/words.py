"""Receives what the answering node of a turn says: its words as they come, without keys and without ``<summary>`` blocks."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from agentui.chat.deltas import Delta, TextDelta
from agentui.chat.messages import Part, Text
from agentui.chat.reply import Reply
from agentui.chat.request import VendorName
from agentui.chats.codes import failure
from agentui.errors import AgentUIError
from agentui.pipeline.result import RunAnswer
from agentui.pipeline.run import Run
from agentui.pipeline.sink import NullSink
from agentui.prompt.summaries import SummaryCutter
from agentui.vendors.base import StreamParser, Vendor
from agentui.vendors.sse import SseDecoder, SseEvent


class WordSink(NullSink):
    """The ``Sink`` of one attempt at a turn. ``tell`` takes each piece of text that may be shown; ``vendor`` is whose dialect
    the turn is asked in, and what is forwarded to it is read in."""

    def __init__(self, tell: Callable[[str], Awaitable[None]], vendor: Vendor, *, wants_stream: bool = True) -> None:
        super().__init__(wants_stream=wants_stream)
        self.run: Run | None = None
        """The run that answers, once it has begun."""
        self._tell = tell
        self._decoder = SseDecoder()
        self._parser: StreamParser | None = vendor.stream_parser()
        self._cutter = SummaryCutter()
        self._held = ""
        self._is_forwarded = False
        self._has_begun = False
        self._has_words = False

    @property
    def summaries(self) -> list[str]:
        """What the summary blocks held, in their order; all of them after ``finish``."""
        return list(self._cutter.summaries)

    async def send(self, vendor: VendorName | None, events: Sequence[SseEvent], deltas: Sequence[Delta]) -> None:
        """A piece of a stream."""
        for delta in deltas:
            if type(delta) is TextDelta and delta.choice == 0:
                await self._receive(delta.text)

    async def reply(self, reply: Reply, body: bytes | None = None) -> None:
        """A whole answer."""
        await self._receive(reply.text)

    async def raw(self, status: int, headers: Mapping[str, str], chunk: bytes) -> None:
        """A piece of a forwarded answer. What is no stream of the dialect tells its words at its end."""
        self._begin()
        self._is_forwarded = True
        if status >= 400 or not headers.get("content-type", "").startswith("text/event-stream") or self._parser is None:
            return
        try:
            deltas = [delta for event in self._decoder.feed(chunk) for delta in self._parser.feed(event)]
        except AgentUIError:
            self._parser = None
            return
        await self.send(None, (), deltas)

    async def finish(self, answer: RunAnswer) -> None:
        """The run is over: tell what was held back, and what was never told because nobody understood it while it passed.

        Raises 502 ``upstream_error`` for a forwarded answer that is none of the dialect: nobody said it in the chat.
        """
        was_read = self._has_words and self._parser is not None
        if self._is_forwarded and not was_read and answer.reply is None:
            raise failure("upstream_error", "The RawForward passed on what is no model's answer: check its base_url and path.")
        if not self._has_words:
            await self._receive(answer.text)
        held, self._held = self._held, ""
        last = self._cutter.feed(self._redacted(held)) + self._cutter.end()
        if last:
            await self._tell(last)

    def unsent(self, words: str) -> str:
        """What may be shown of the ``words`` of an answer that broke off, where nobody understood them while they passed."""
        return "" if self._has_words else self._cutter.feed(self._redacted(words)) + self._cutter.end()

    async def _receive(self, text: str) -> None:
        if not text:
            return
        self._has_words = True
        self._begin()
        assert self.run is not None  # nobody speaks before it has begun
        text = self._held + text
        # Half a key would not be known: it waits for its rest.
        held = self.run.redactor.unfinished(text)
        self._held = text[len(text) - held :]
        shown = self._cutter.feed(self._redacted(text[: len(text) - held]))
        if shown:
            self.run.chunks += 1
            await self._tell(shown)

    def _begin(self) -> None:
        """The answer begins: from here on only silence ends the run."""
        if not self._has_begun and self.run is not None:
            self._has_begun = True
            self.run.answer_began = time.monotonic()
            self.run.release_deadline()

    def _redacted(self, text: str) -> str:
        return self.run.redactor.redact(text) if text and self.run is not None else text


def parts_with_text(parts: Sequence[Part], text: str) -> tuple[Part, ...]:
    """The parts of an answer whose words are ``text``: it stands where the first words stood."""
    place = next((number for number, part in enumerate(parts) if isinstance(part, Text)), len(parts))
    kept = [part for part in parts if not isinstance(part, Text)]
    before = sum(1 for part in parts[:place] if not isinstance(part, Text))
    words: list[Part] = [Text(text)] if text else []
    return (*kept[:before], *words, *kept[before:])
