"""Streams of events as iterators: of a turn, of an answer, and of what goes on for as long as one listens.

Nothing is sent before the first event is asked for, but for a feed: entering its ``with`` connects, so that it tells whatever
happens from then on. Whoever stops before the end closes the stream, by ``close`` or by leaving its ``with``; that closes the
connection, which ends a turn that has no ``idempotency_key``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import Generic, Self, TypeAlias, TypeVar, cast

import httpx

from agentui.sdk.endpoints import Request
from agentui.sdk.errors import StreamFailed, TavernConnectionError
from agentui.sdk.events import Event, EventParser
from agentui.sdk.exchange import document_of, not_ours, pause_before
from agentui.sdk.feeds import AnswerEvent
from agentui.sdk.shapes.chats.common import Respond
from agentui.sdk.turnevents import TurnEvent

E = TypeVar("E")

Open: TypeAlias = Callable[[Request], AbstractContextManager[httpx.Response]]
AsyncOpen: TypeAlias = Callable[[Request], AbstractAsyncContextManager[httpx.Response]]

_BROKEN_OFF = "The stream ended before the turn did."
_DONE = "[DONE]"
"""What OpenAI's dialect has in place of a last event."""
_LAST = "run.finished"
"""The type of a run's last event."""
_NOTHING_MORE = 204
"""The status of a feed of a run that is over, behind its last event."""


class _Stream(Iterator[E], Generic[E]):
    """Events one after the other."""

    _events: Generator[E | None, None, None]
    """The events, and None where there is none yet: a feed has connected."""

    def __next__(self) -> E:
        """The next event. Raises as calls do."""
        while (event := next(self._events)) is None:
            continue
        return event

    def close(self) -> None:
        """Stop listening."""
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class _AsyncStream(AsyncIterator[E], Generic[E]):
    """Events one after the other."""

    _events: AsyncGenerator[E | None, None]
    """The events, and None where there is none yet: a feed has connected."""

    async def __anext__(self) -> E:
        """The next event. Raises as calls do."""
        while (event := await anext(self._events)) is None:
            continue
        return event

    async def close(self) -> None:
        """Stop listening."""
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class TurnStream(_Stream[TurnEvent]):
    """The events of a turn until it is done. An ``error`` event is raised as StreamFailed."""

    def __init__(self, open: Open, request: Request) -> None:
        self._open = open
        self._request = request
        self._events = self._read()

    def result(self) -> Respond:
        """What the turn came to, as the route without a stream answers it; events that nobody took are passed over."""
        with self:
            for event in self:
                if event["type"] == "done":
                    return event["payload"]
        raise TavernConnectionError("The turn's last event was taken already.")

    def _read(self) -> Generator[TurnEvent, None, None]:
        parser = EventParser()
        with self._open(self._request) as response:
            for chunk in response.iter_bytes():
                for raw in parser.feed(chunk):
                    event = _turn_event(raw.as_event(), response)
                    yield event
                    if event["type"] == "done":
                        return
        raise TavernConnectionError(_BROKEN_OFF)


class AsyncTurnStream(_AsyncStream[TurnEvent]):
    """The events of a turn until it is done. An ``error`` event is raised as StreamFailed."""

    def __init__(self, open: AsyncOpen, request: Request) -> None:
        self._open = open
        self._request = request
        self._events = self._read()

    async def result(self) -> Respond:
        """What the turn came to, as the route without a stream answers it; events that nobody took are passed over."""
        async with self:
            async for event in self:
                if event["type"] == "done":
                    return event["payload"]
        raise TavernConnectionError("The turn's last event was taken already.")

    async def _read(self) -> AsyncGenerator[TurnEvent, None]:
        parser = EventParser()
        async with self._open(self._request) as response:
            async for chunk in response.aiter_bytes():
                for raw in parser.feed(chunk):
                    event = _turn_event(raw.as_event(), response)
                    yield event
                    if event["type"] == "done":
                        return
        raise TavernConnectionError(_BROKEN_OFF)


def _turn_event(event: Event, response: httpx.Response) -> TurnEvent:
    """An event of a turn. Raises StreamFailed for ``error``."""
    if event["type"] == "error":
        told = event["payload"] if isinstance(event["payload"], dict) else {}
        raise StreamFailed(event, told, status=response.status_code, request_id=response.headers.get("x-request-id"))
    return cast(TurnEvent, {"type": event["type"], "payload": event["payload"]})


class AnswerStream(_Stream[AnswerEvent]):
    """The events of an answer, as its dialect writes them; one that was not asked to come as a stream is one event.

    An error within it is raised as StreamFailed. ``run_id`` names the run once its first event was read.
    """

    def __init__(self, open: Open, request: Request) -> None:
        self._open = open
        self._request = request
        self._events = self._read()
        self.run_id: str | None = None

    def _read(self) -> Generator[AnswerEvent, None, None]:
        parser = EventParser()
        with self._open(self._request) as response:
            self.run_id = _run_of(response)
            if not _is_stream(response):
                response.read()
                yield {"type": "message", "payload": document_of(response)}
                return
            for chunk in response.iter_bytes():
                for raw in parser.feed(chunk):
                    if raw.data != _DONE:
                        yield _answer_event(raw.as_event(), response)


class AsyncAnswerStream(_AsyncStream[AnswerEvent]):
    """The events of an answer, as its dialect writes them; one that was not asked to come as a stream is one event.

    An error within it is raised as StreamFailed. ``run_id`` names the run once its first event was read.
    """

    def __init__(self, open: AsyncOpen, request: Request) -> None:
        self._open = open
        self._request = request
        self._events = self._read()
        self.run_id: str | None = None

    async def _read(self) -> AsyncGenerator[AnswerEvent, None]:
        parser = EventParser()
        async with self._open(self._request) as response:
            self.run_id = _run_of(response)
            if not _is_stream(response):
                await response.aread()
                yield {"type": "message", "payload": document_of(response)}
                return
            async for chunk in response.aiter_bytes():
                for raw in parser.feed(chunk):
                    if raw.data != _DONE:
                        yield _answer_event(raw.as_event(), response)


def _run_of(response: httpx.Response) -> str | None:
    """The run that answers."""
    id: str | None = response.headers.get("x-agentui-run")
    return id


def _is_stream(response: httpx.Response) -> bool:
    kind: str = response.headers.get("content-type", "")
    return kind.startswith("text/event-stream")


def _answer_event(event: Event, response: httpx.Response) -> AnswerEvent:
    """An event of an answer. Raises StreamFailed for an error, wherever the dialect has it."""
    payload = event["payload"]
    within = payload.get("response") if isinstance(payload, dict) and payload.get("type") == "response.failed" else payload
    if not isinstance(within, dict):
        raise not_ours(response)
    if isinstance(within.get("error"), dict):
        raise StreamFailed(event, within["error"], status=response.status_code, request_id=response.headers.get("x-request-id"))
    return {"type": event["type"], "payload": payload}


class _Place(Generic[E]):
    """How far a feed was read, and how often it broke off since the last event."""

    def __init__(self, request: Request, retries: int) -> None:
        self.last_event_id: str | None = request.headers.get("last-event-id")
        self._request = request
        self._retries = retries
        self._breaks = 0
        self._is_over = False

    def request(self) -> Request:
        """The request that goes on from here."""
        if self.last_event_id is None:
            return self._request
        return replace(self._request, headers={**self._request.headers, "last-event-id": self.last_event_id})

    def take(self, event: Event) -> E:
        """Note that an event has come."""
        self.last_event_id = event["id"] or self.last_event_id
        self._breaks = 0
        self._is_over = event["type"] == _LAST
        return cast(E, event)

    def end(self, response: httpx.Response) -> None:
        """Note that the answer has ended. Raises TavernConnectionError where the run goes on, and for feeds without an end: a
        server that stops ends them too."""
        if not self._is_over and response.status_code != _NOTHING_MORE:
            raise TavernConnectionError("The server ended the stream.")

    def pause(self, error: TavernConnectionError) -> float:
        """Seconds until the stream is opened again. Raises the error where it broke off too often."""
        if self._breaks >= self._retries:
            raise error
        self._breaks += 1
        return pause_before(self._breaks - 1)


class EventStream(_Stream[E]):
    """The events of a feed, until the run is over, or for good. One that breaks off goes on behind its last event.

    Entering its ``with`` connects, so whatever happens from then on is told, however late the first event is asked for.
    """

    def __init__(self, open: Open, request: Request, retries: int) -> None:
        self._open = open
        self._place: _Place[E] = _Place(request, retries)
        self._events = self._read()
        self._has_begun = False

    @property
    def last_event_id(self) -> str | None:
        """The id of the last event, from which another stream may go on."""
        return self._place.last_event_id

    def __enter__(self) -> Self:
        """Connect. Raises as calls do."""
        if not self._has_begun:
            next(self._events, None)
        return self

    def _read(self) -> Generator[E | None, None, None]:
        self._has_begun = True
        while True:
            try:
                parser = EventParser()
                with self._open(self._place.request()) as response:
                    yield None
                    for chunk in response.iter_bytes():
                        for raw in parser.feed(chunk):
                            yield self._place.take(raw.as_event())
                    self._place.end(response)
                return
            except TavernConnectionError as error:
                time.sleep(self._place.pause(error))


class AsyncEventStream(_AsyncStream[E]):
    """The events of a feed, until the run is over, or for good. One that breaks off goes on behind its last event.

    Entering its ``with`` connects, so whatever happens from then on is told, however late the first event is asked for.
    """

    def __init__(self, open: AsyncOpen, request: Request, retries: int) -> None:
        self._open = open
        self._place: _Place[E] = _Place(request, retries)
        self._events = self._read()
        self._has_begun = False

    @property
    def last_event_id(self) -> str | None:
        """The id of the last event, from which another stream may go on."""
        return self._place.last_event_id

    async def __aenter__(self) -> Self:
        """Connect. Raises as calls do."""
        if not self._has_begun:
            await anext(self._events, None)
        return self

    async def _read(self) -> AsyncGenerator[E | None, None]:
        self._has_begun = True
        while True:
            try:
                parser = EventParser()
                async with self._open(self._place.request()) as response:
                    yield None
                    async for chunk in response.aiter_bytes():
                        for raw in parser.feed(chunk):
                            yield self._place.take(raw.as_event())
                    self._place.end(response)
                return
            except TavernConnectionError as error:
                await asyncio.sleep(self._place.pause(error))
