"""Sending requests and waiting for their answers, on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from inspect import isawaitable
from itertools import count
from typing import Any, TypeAlias, TypeVar, cast

import httpx

from agentui.sdk.downloads import AsyncDownload
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Request, compose
from agentui.sdk.errors import TavernError, connection_error, error_of
from agentui.sdk.exchange import Policy, answer_of, built, is_good, next_part, opened
from agentui.sdk.streams import AsyncAnswerStream, AsyncEventStream, AsyncTurnStream

T = TypeVar("T")

GetHeaders: TypeAlias = Callable[[], Mapping[str, str] | Awaitable[Mapping[str, str]]]
"""Gives the headers of each request; may have to wait for them."""


class AsyncTransport:
    """Sends what the resources compose."""

    def __init__(self, http: httpx.AsyncClient, policy: Policy, get_headers: GetHeaders | None) -> None:
        self.http = http
        self.policy = policy
        self._get_headers = get_headers

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[httpx.Response]:
        """The answer's head, its body unread; leaving closes the connection. Sends once more what may be sent once more.

        Raises TavernApiError for every answer that is not the one that was asked for, and TavernConnectionError.
        """
        response = await self._head(request)
        try:
            yield response
        except httpx.RequestError as error:
            raise connection_error(error) from error
        finally:
            await response.aclose()

    async def _head(self, request: Request) -> httpx.Response:
        for attempt in count():
            failure: TavernError
            try:
                response = await self._send(request)
                if is_good(request, response):
                    return response
                try:
                    await response.aread()
                    failure = error_of(response)
                finally:
                    await response.aclose()
            except httpx.RequestError as error:
                failure = connection_error(error)
            pause = self.policy.pause(request, attempt, failure)
            if pause is None:
                raise failure
            await asyncio.sleep(pause)
        raise AssertionError("count() does not end")

    async def _send(self, request: Request) -> httpx.Response:
        own = {} if self._get_headers is None else self._get_headers()
        if isawaitable(own):
            own = await own
        with opened(request) as file:
            return await self.http.send(built(self.http, request, self.policy, own, file), stream=True)


class AsyncResource:
    """What all groups of calls have: the way to their server."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def _call(self, endpoint: Endpoint[T], place: tuple[str | int, ...], given: Mapping[str, Any]) -> T:
        """What a route answers."""
        async with self._transport.open(compose(endpoint, place, given)) as response:
            await response.aread()
            return answer_of(endpoint, response)

    async def _iterate(
        self,
        endpoint: Endpoint[ListOf[Items[T]]] | Endpoint[Items[T]],
        place: tuple[str | int, ...],
        given: Mapping[str, Any],
    ) -> AsyncIterator[T]:
        """The items of all parts of a list, each part asked for when it is needed."""
        wanted: Mapping[str, Any] | None = given
        while wanted is not None:
            part: Any = await self._call(cast(Endpoint[Any], endpoint), place, wanted)
            items, wanted = next_part(endpoint, part, wanted)
            for item in items:
                yield item

    def _turn(self, endpoint: Endpoint[Any], place: tuple[str | int, ...], given: Mapping[str, Any]) -> AsyncTurnStream:
        """The events of a turn."""
        return AsyncTurnStream(self._transport.open, compose(endpoint, place, given))

    def _answer(self, endpoint: Endpoint[Any], place: tuple[str | int, ...], given: Mapping[str, Any]) -> AsyncAnswerStream:
        """The events of an answer."""
        return AsyncAnswerStream(self._transport.open, compose(endpoint, place, given))

    def _events(self, endpoint: Endpoint[T], place: tuple[str | int, ...], given: Mapping[str, Any]) -> AsyncEventStream[T]:
        """The events of a stream that goes on where it broke off."""
        return AsyncEventStream(self._transport.open, compose(endpoint, place, given), self._transport.policy.retries)

    def _download(self, endpoint: Endpoint[Any], place: tuple[str | int, ...], given: Mapping[str, Any]) -> AsyncDownload:
        """A file."""
        return AsyncDownload(self._transport.open, compose(endpoint, place, given))
