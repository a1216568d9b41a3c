"""Sending requests and waiting for their answers, in a thread of one's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar, cast

import httpx

from agentui.sdk.downloads import Download
from agentui.sdk.endpoints import Endpoint, Items, ListOf, Request, compose
from agentui.sdk.errors import TavernError, connection_error, error_of
from agentui.sdk.exchange import Policy, answer_of, built, is_good, next_part, opened
from agentui.sdk.streams import AnswerStream, EventStream, TurnStream

T = TypeVar("T")


class Transport:
    """Sends what the resources compose."""

    def __init__(self, http: httpx.Client, policy: Policy, get_headers: Callable[[], Mapping[str, str]] | None) -> None:
        self.http = http
        self.policy = policy
        self._get_headers = get_headers

    @contextmanager
    def open(self, request: Request) -> Iterator[httpx.Response]:
        """The answer's head, its body unread; leaving closes the connection. Sends once more what may be sent once more.

        Raises TavernApiError for every answer that is not the one that was asked for, and TavernConnectionError.
        """
        response = self._head(request)
        try:
            yield response
        except httpx.RequestError as error:
            raise connection_error(error) from error
        finally:
            response.close()

    def _head(self, request: Request) -> httpx.Response:
        for attempt in count():
            failure: TavernError
            try:
                response = self._send(request)
                if is_good(request, response):
                    return response
                try:
                    response.read()
                    failure = error_of(response)
                finally:
                    response.close()
            except httpx.RequestError as error:
                failure = connection_error(error)
            pause = self.policy.pause(request, attempt, failure)
            if pause is None:
                raise failure
            time.sleep(pause)
        raise AssertionError("count() does not end")

    def _send(self, request: Request) -> httpx.Response:
        own = {} if self._get_headers is None else self._get_headers()
        with opened(request) as file:
            return self.http.send(built(self.http, request, self.policy, own, file), stream=True)


class Resource:
    """What all groups of calls have: the way to their server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _call(self, endpoint: Endpoint[T], place: tuple[str | int, ...], given: Mapping[str, Any]) -> T:
        """What a route answers."""
        with self._transport.open(compose(endpoint, place, given)) as response:
            response.read()
            return answer_of(endpoint, response)

    def _iterate(
        self,
        endpoint: Endpoint[ListOf[Items[T]]] | Endpoint[Items[T]],
        place: tuple[str | int, ...],
        given: Mapping[str, Any],
    ) -> Iterator[T]:
        """The items of all parts of a list, each part asked for when it is needed."""
        wanted: Mapping[str, Any] | None = given
        while wanted is not None:
            part: Any = self._call(cast(Endpoint[Any], endpoint), place, wanted)
            items, wanted = next_part(endpoint, part, wanted)
            yield from items

    def _turn(self, endpoint: Endpoint[Any], place: tuple[str | int, ...], given: Mapping[str, Any]) -> TurnStream:
        """The events of a turn."""
        return TurnStream(self._transport.open, compose(endpoint, place, given))

    def _answer(self, endpoint: Endpoint[Any], place: tuple[str | int, ...], given: Mapping[str, Any]) -> AnswerStream:
        """The events of an answer."""
        return AnswerStream(self._transport.open, compose(endpoint, place, given))

    def _events(self, endpoint: Endpoint[T], place: tuple[str | int, ...], given: Mapping[str, Any]) -> EventStream[T]:
        """The events of a stream that goes on where it broke off."""
        return EventStream(self._transport.open, compose(endpoint, place, given), self._transport.policy.retries)

    def _download(self, endpoint: Endpoint[Any], place: tuple[str | int, ...], given: Mapping[str, Any]) -> Download:
        """A file."""
        return Download(self._transport.open, compose(endpoint, place, given))
