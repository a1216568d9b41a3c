"""A route of the server as the client calls it, and what may be said beside the route's own fields."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Generic, Literal, TypeAlias, TypedDict, TypeVar
from urllib.parse import quote

T = TypeVar("T")

Json: TypeAlias = Any
"""Any JSON value: None, bool, int, float, str, list or dict with str keys."""
Items: TypeAlias = list[T]
"""A list, where a method of that name hides the word."""
Upload: TypeAlias = bytes | Path | IO[bytes]
"""A file to send: what it holds, where it lies, or itself opened for reading; the last two are sent piece by piece."""
BodyKind: TypeAlias = Literal["none", "json", "document", "file"]
AnswerKind: TypeAlias = Literal["data", "whole", "text", "none"]


class Owner(TypedDict):
    """On whose behalf a program asks for client data."""

    owner_type: Literal["application", "plugin"]
    owner_id: str


class Options(TypedDict, total=False):
    """What every call may be told: ``timeout`` in seconds without a byte, ``extra_headers`` beside the client's."""

    account_id: str
    caller_owner: Owner
    timeout: float
    extra_headers: Mapping[str, str]


class Repeatable(TypedDict, total=False):
    """The same call with the same key is done once, and answered alike: such a call is sent again when its answer is lost."""

    idempotency_key: str


class ByPipeline(TypedDict, total=False):
    """Which pipeline answers, where it is not the one that the session has."""

    pipeline: str


class Matching(TypedDict, total=False):
    """Which version must be there (an ETag), or that none may be (``if_none_match="*"``); else 412."""

    if_match: str
    if_none_match: str


class Resumable(TypedDict, total=False):
    """The event after which to begin."""

    last_event_id: str


class FileAlone(TypedDict):
    """The file; ``filename`` where it is not known from ``file``."""

    file: Upload


class WithFile(TypedDict, total=False):
    """A file in place of the fields that hold it as JSON."""

    file: Upload
    filename: str


class ListMeta(TypedDict):
    """Which part of a list this is."""

    total: int
    limit: int
    offset: int
    has_more: bool
    sort_by: str
    sort_order: Literal["asc", "desc"]


class ListOf(TypedDict, Generic[T]):
    """A part of a list."""

    data: T
    meta: ListMeta


@dataclass(frozen=True)  # without slots, of which ``Endpoint[X](...)`` knows nothing
class Endpoint(Generic[T]):
    """One method on one path, whose answer is a ``T``.

    ``query`` names what goes into the query, everything else goes into the body. ``answer`` says where the ``T`` is: below
    ``data``, the whole answer, or its text. ``items`` names the list within the data, ``statuses`` are those beside 2xx whose
    answer is a ``T`` too, and ``by_pipeline`` says that the route also stands below the name of a pipeline. ``within`` are the
    fields that stand in an object of the body: the object's name and the field's own, by what callers name.
    """

    method: str
    path: str
    query: tuple[str, ...] = ()
    body: BodyKind = "none"
    answer: AnswerKind = "data"
    items: str = ""
    statuses: tuple[int, ...] = ()
    by_pipeline: bool = False
    within: Mapping[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent. ``file`` makes it a form with that part; ``is_repeatable`` says that it may be sent again."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    file: Upload | None = None
    filename: str = ""
    timeout: float | None = None
    is_repeatable: bool = False
    statuses: tuple[int, ...] = ()


_HEADERS: Mapping[str, str] = {
    "idempotency_key": "idempotency-key",
    "if_match": "if-match",
    "if_none_match": "if-none-match",
    "last_event_id": "last-event-id",
}
"""The header of each option that is one."""
_IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_CONDITIONS = frozenset({"if-match", "if-none-match"})


def compose(endpoint: Endpoint[Any], place: tuple[str | int, ...], given: Mapping[str, Any]) -> Request:
    """The request of a call: ``place`` fills the path, ``given`` is everything that was named.

    Raises ValueError for an id that is empty or no name (``..`` would be another path), and for values that JSON has not.
    """
    rest = dict(given)
    path = _path(endpoint.path, place)
    if endpoint.by_pipeline and rest.get("pipeline") is not None:
        path = _path("/p/{pipeline}", (rest.pop("pipeline"),)) + path
    headers = dict(rest.pop("extra_headers", {}))
    headers |= build_account_headers(rest.pop("account_id", None))
    headers |= owner_headers(rest.pop("caller_owner", None))
    headers |= {header: str(rest.pop(name)) for name, header in _HEADERS.items() if rest.get(name) is not None}
    timeout = rest.pop("timeout", None)
    params = {name: _word(rest.pop(name)) for name in endpoint.query if rest.get(name) is not None}
    file, filename = rest.pop("file", None), str(rest.pop("filename", ""))
    content, fields = None, {}
    if file is not None:
        fields = {name: _word(value) for name, value in rest.items() if value is not None}
    elif endpoint.body == "document":
        content = encoded(rest["document"])
    elif endpoint.body != "none":
        rest |= {outer: {inner: rest.pop(name)} for name, (outer, inner) in endpoint.within.items() if name in rest}
        content = encoded(rest)
    if content is not None:
        headers["content-type"] = "application/json"
    return Request(
        endpoint.method,
        path,
        params=params,
        headers=headers,
        content=content,
        fields=fields,
        file=file,
        filename=filename,
        timeout=timeout,
        is_repeatable=not hasattr(file, "read") and may_repeat(endpoint.method, headers),
        statuses=endpoint.statuses,
    )


def may_repeat(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a request does no harm by being sent twice."""
    # A write that was done and whose answer was lost would be refused the second time: what it wants there is gone.
    is_conditional = method not in ("GET", "HEAD") and not _CONDITIONS.isdisjoint(headers)
    return "idempotency-key" in headers or (method in _IDEMPOTENT and not is_conditional)


def build_account_headers(account_id: str | None) -> dict[str, str]:
    """The header that hints for which account a program asks."""
    return {} if account_id is None else {"x-account-id": account_id}


def owner_headers(owner: Owner | None) -> dict[str, str]:
    """The headers that tell on whose behalf a program asks."""
    if owner is None:
        return {}
    return {"x-client-owner-type": owner["owner_type"], "x-client-owner-id": owner["owner_id"]}


def encoded(value: Json) -> bytes:
    """A value as JSON. Raises ValueError for what JSON has not (NaN), TypeError for what is no value."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _path(template: str, place: tuple[str | int, ...]) -> str:
    """A path with its ids in place."""
    ids = iter(place)
    return "/".join(_segment(next(ids)) if part.startswith("{") else part for part in template.split("/"))


def _segment(value: str | int) -> str:
    text = str(value)
    if text in ("", ".", ".."):
        raise ValueError(f"{text!r} is no id.")
    return quote(text, safe="")


def _word(value: Json) -> str:
    """A value as queries and forms spell it; more than one are parted by commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no number that can be sent.")
    if isinstance(value, list | tuple):
        return ",".join(map(_word, value))
    return str(value)
