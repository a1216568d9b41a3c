"""What calls to models took and cost. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Options
from agentui.sdk.shapes.accounts.usage import UsagePage, UsageSum
from agentui.sdk.transport import Resource


class UsageListCall(Options):
    """What ``usage.list`` may be told."""

    account: NotRequired[str]
    """The account, for admins: another's, or * for all; unset: one's own."""
    start: NotRequired[int]
    """Calls from this time on, in milliseconds since 1970."""
    end: NotRequired[int]
    """Calls before this time."""
    session_id: NotRequired[str]
    """Calls for this chat."""
    floor_id: NotRequired[str]
    """Calls for this turn."""
    run_id: NotRequired[str]
    """Calls of this run."""
    key_id: NotRequired[str]
    """Calls by this client key."""
    pipeline_id: NotRequired[str]
    """Calls of this pipeline."""
    model: NotRequired[str]
    """Calls to this model."""
    purpose: NotRequired[str]
    """Calls for this purpose: answer, try, director, verifier, tool, memory."""
    floor_ids: NotRequired[str]
    """Calls for these turns: up to 100 ids, comma separated."""
    zone: NotRequired[str]
    """Where days begin and end, and times are told in: an IANA name such as Europe/Berlin."""
    format: NotRequired[Literal["json", "csv"]]
    """json, or csv for a file."""
    limit: NotRequired[int]
    """Most items in the answer, at most 1000; unset: 100, or all in a file."""
    cursor: NotRequired[str]
    """Where to go on: next_cursor of the answer before."""


class UsageSumsCall(Options):
    """What ``usage.sums`` may be told."""

    account: NotRequired[str]
    """The account, for admins: another's, or * for all; unset: one's own."""
    start: NotRequired[int]
    """Calls from this time on, in milliseconds since 1970."""
    end: NotRequired[int]
    """Calls before this time."""
    session_id: NotRequired[str]
    """Calls for this chat."""
    floor_id: NotRequired[str]
    """Calls for this turn."""
    run_id: NotRequired[str]
    """Calls of this run."""
    key_id: NotRequired[str]
    """Calls by this client key."""
    pipeline_id: NotRequired[str]
    """Calls of this pipeline."""
    model: NotRequired[str]
    """Calls to this model."""
    purpose: NotRequired[str]
    """Calls for this purpose: answer, try, director, verifier, tool, memory."""
    floor_ids: NotRequired[str]
    """Calls for these turns: up to 100 ids, comma separated."""
    zone: NotRequired[str]
    """Where days begin and end, and times are told in: an IANA name such as Europe/Berlin."""
    format: NotRequired[Literal["json", "csv"]]
    """json, or csv for a file."""
    by: NotRequired[Literal["day", "model", "key", "pipeline", "account", "session", "purpose", "floor", "node"]]
    """day, model, key, pipeline, account, session, purpose, floor or node."""


_LIST = Endpoint[UsagePage](
    "GET",
    "/usage",
    query=(
        "account",
        "start",
        "end",
        "session_id",
        "floor_id",
        "run_id",
        "key_id",
        "pipeline_id",
        "model",
        "purpose",
        "floor_ids",
        "zone",
        "format",
        "limit",
        "cursor",
    ),
    answer="whole",
)
_SUMS = Endpoint[Items[UsageSum]](
    "GET",
    "/usage/sums",
    query=(
        "account",
        "start",
        "end",
        "session_id",
        "floor_id",
        "run_id",
        "key_id",
        "pipeline_id",
        "model",
        "purpose",
        "floor_ids",
        "zone",
        "format",
        "by",
    ),
)


class UsageResource(Resource):
    """What calls to models took and cost."""

    def list(self, **given: Unpack[UsageListCall]) -> UsagePage:
        """List calls to models, the newest first. ``GET /usage``"""
        return self._call(_LIST, (), given)

    def sums(self, **given: Unpack[UsageSumsCall]) -> Items[UsageSum]:
        """Sum calls to models up. ``GET /usage/sums``"""
        return self._call(_SUMS, (), given)


class AsyncUsageResource(AsyncResource):
    """What calls to models took and cost."""

    async def list(self, **given: Unpack[UsageListCall]) -> UsagePage:
        """List calls to models, the newest first. ``GET /usage``"""
        return await self._call(_LIST, (), given)

    async def sums(self, **given: Unpack[UsageSumsCall]) -> Items[UsageSum]:
        """Sum calls to models up. ``GET /usage/sums``"""
        return await self._call(_SUMS, (), given)
