"""What both clients decide alike: how a request is built, when it is sent once more, and what an answer says."""

from __future__ import annotations

import json
import mimetypes
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import httpx

from agentui.sdk.endpoints import Endpoint, Request
from agentui.sdk.errors import TavernApiError, TavernConnectionError, TavernError

T = TypeVar("T")

CONNECT_SECONDS = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_LONGEST_WISH = 60.0
"""A server that wants to be left alone for longer gets no second request."""
_PASSING = frozenset({429, 502, 503, 504})
"""Statuses of what may be over soon."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How long to wait, how often to try, and what every request says of its sender."""

    timeout: float
    retries: int
    headers: Mapping[str, str]

    def timeouts(self, request: Request | None = None) -> httpx.Timeout:
        """The limits of one request: so long without a byte, and less for a connection."""
        seconds = self.timeout if request is None or request.timeout is None else request.timeout
        return httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))

    def pause(self, request: Request, attempt: int, error: TavernError) -> float | None:
        """Seconds until the next attempt (the first is 0); None where there is none: what is not repeatable is sent once."""
        if attempt >= self.retries or not request.is_repeatable:
            return None
        if isinstance(error, TavernApiError):
            if error.status not in _PASSING:
                return None
            if error.retry_after is not None:
                return error.retry_after if error.retry_after <= _LONGEST_WISH else None
        return pause_before(attempt)


def pause_before(attempt: int) -> float:
    """Seconds that grow with every attempt, each a little different."""
    longest: float = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
    return longest * random.uniform(0.5, 1.0)


@contextmanager
def opened(request: Request) -> Iterator[bytes | IO[bytes] | None]:
    """The request's file; one that is named is open meanwhile."""
    if isinstance(request.file, Path):
        with request.file.open("rb") as file:
            yield file
    else:
        yield request.file


def built(
    http: httpx.Client | httpx.AsyncClient,
    request: Request,
    policy: Policy,
    own: Mapping[str, str],
    file: bytes | IO[bytes] | None,
) -> httpx.Request:
    """The request of httpx; ``own`` are the headers that the program gives to each, ``file`` is the request's."""
    common: dict[str, Any] = {
        "params": request.params,
        "headers": {**policy.headers, **own, **request.headers},
        "timeout": policy.timeouts(request),
    }
    if file is None:
        return http.build_request(request.method, request.path, content=request.content, **common)
    own_name = request.file if isinstance(request.file, Path) else getattr(file, "name", None)
    name = request.filename or (Path(own_name).name if isinstance(own_name, str | Path) else "file")
    part = (name, file, mimetypes.guess_type(name)[0] or "application/octet-stream")
    return http.build_request(request.method, request.path, files={"file": part}, data=dict(request.fields), **common)


def is_good(request: Request, response: httpx.Response) -> bool:
    """Whether the answer is what was asked for."""
    return response.is_success or response.status_code in request.statuses


def answer_of(endpoint: Endpoint[T], response: httpx.Response) -> T:
    """What an answer says, whose body was read. Raises TavernConnectionError where it is not the server's."""
    if endpoint.answer == "none":
        return cast(T, None)
    if endpoint.answer == "text":
        return cast(T, response.text)
    document = document_of(response)
    if endpoint.answer == "whole":
        return cast(T, document)
    if not isinstance(document, dict) or "data" not in document:
        raise not_ours(response)
    return cast(T, document["data"])


def document_of(response: httpx.Response) -> Any:
    """The JSON of an answer whose body was read. Raises TavernConnectionError where it is none."""
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError) as error:
        raise not_ours(response) from error


def not_ours(response: httpx.Response) -> TavernConnectionError:
    """The error of an answer that is no answer of this server's."""
    kind = response.headers.get("content-type", "nothing")
    if kind.startswith("text/event-stream"):
        return TavernConnectionError("The answer is a stream, which the method ..._stream reads.")
    return TavernConnectionError(
        f"{response.request.method} {response.request.url.path} answered with {kind}, not as agentui does."
    )


def next_part(endpoint: Endpoint[Any], answer: Any, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any] | None]:
    """The items of a part of a list, and what to ask for the next part with; None behind the last.

    Lists with ``meta`` go on by ``offset``; those without go on by ``before``, the last item's id, until nothing comes.
    """
    if isinstance(answer, list):
        return answer, {**given, "before": answer[-1]["id"]} if answer else None
    items, meta = answer["data"], answer["meta"]
    items = items[endpoint.items] if endpoint.items else items
    if not meta["has_more"] or not items:
        return items, None
    return items, {**given, "offset": meta["offset"] + len(items)}
