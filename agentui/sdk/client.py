"""The two clients: one waits for its answers, the other is awaited. Both have the same resources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import httpx

from agentui.sdk.asynctransport import AsyncTransport, GetHeaders
from agentui.sdk.endpoints import Owner, Request, build_account_headers, encoded, may_repeat, owner_headers
from agentui.sdk.exchange import Policy
from agentui.sdk.resources.every import AsyncResources, Resources
from agentui.sdk.transport import Transport

TIMEOUT = 600.0
"""Seconds without a byte until a call is given up: a model may think for minutes."""
RETRIES = 2
"""How often a call is sent once more, where it may be."""


class TavernClient(Resources):
    """A server's API; safe to use from several threads.

    ``get_headers`` gives the headers of each request, ``authorization`` for one. ``timeout`` is seconds without a byte,
    ``retries`` how often a call is sent once more that changes nothing by being sent twice (GET, PUT, DELETE, and whatever has
    an ``idempotency_key``), before the first byte of its answer. ``account_id`` and ``caller_owner`` are sent with each
    request; a call may name others. ``transport`` is httpx's, for proxies and tests.

    Raises ValueError for a ``base_url`` that is no address of a server.
    """

    def __init__(
        self,
        base_url: str,
        *,
        get_headers: Callable[[], Mapping[str, str]] | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        account_id: str | None = None,
        caller_owner: Owner | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        policy = Policy(timeout, retries, own_headers(account_id, caller_owner))
        http = httpx.Client(base_url=address(base_url), timeout=policy.timeouts(), transport=transport)
        self._transport = Transport(http, policy, get_headers)
        super().__init__(self._transport)

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> httpx.Response:
        """Any request of the server, ``path`` as it stands in its documents; ``body`` is sent as JSON. Gives the whole answer.

        Raises as calls do, and is sent once more as they are.
        """
        with self._transport.open(raw_request(method, path, params, body, headers, timeout)) as response:
            response.read()
            return response

    def close(self) -> None:
        """Close the connections."""
        self._transport.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class AsyncTavernClient(AsyncResources):
    """A server's API for programs on an event loop; what it is told is what ``TavernClient`` is told.

    ``get_headers`` may also be a coroutine function.
    """

    def __init__(
        self,
        base_url: str,
        *,
        get_headers: GetHeaders | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        account_id: str | None = None,
        caller_owner: Owner | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        policy = Policy(timeout, retries, own_headers(account_id, caller_owner))
        http = httpx.AsyncClient(base_url=address(base_url), timeout=policy.timeouts(), transport=transport)
        self._transport = AsyncTransport(http, policy, get_headers)
        super().__init__(self._transport)

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> httpx.Response:
        """Any request of the server, ``path`` as it stands in its documents; ``body`` is sent as JSON. Gives the whole answer.

        Raises as calls do, and is sent once more as they are.
        """
        async with self._transport.open(raw_request(method, path, params, body, headers, timeout)) as response:
            await response.aread()
            return response

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def address(base_url: str) -> httpx.URL:
    """The address of a server. Raises ValueError where it is none; the text may hold a password, so it is not repeated."""
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ValueError(f"The server's address cannot be read: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError("A server's address begins with http:// or https:// and names a host: http://127.0.0.1:7860")
    return url


def own_headers(account_id: str | None, caller_owner: Owner | None) -> dict[str, str]:
    """The headers of every request of a client."""
    return {**build_account_headers(account_id), **owner_headers(caller_owner)}


def raw_request(
    method: str,
    path: str,
    params: Mapping[str, str] | None,
    body: Any,
    headers: Mapping[str, str] | None,
    timeout: float | None,
) -> Request:
    """The request of a caller who composes it alone."""
    sent = {name.lower(): value for name, value in (headers or {}).items()}
    content = None if body is None else encoded(body)
    if content is not None:
        sent.setdefault("content-type", "application/json")
    return Request(method, path, params or {}, sent, content, timeout=timeout, is_repeatable=may_repeat(method.upper(), sent))
