"""What the server speaks of: editor, common."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class DocumentLine(TypedDict):
    """A document in a list. ``modified`` is milliseconds since 1970."""

    id: str
    name: str
    description: str
    etag: str
    valid: bool
    active: bool
    problem_count: int
    modified: int
    owner: NotRequired[Literal["server", "account"]]


class DocumentState(TypedDict):
    """A document and how it fares. ``document`` is null where the file is no JSON object; ``text`` is then what stands
    in it. ``serving`` is the ETag of the version that serves, which is an earlier one while this one has problems;
    ``notice`` says so in a sentence.
    """

    id: str
    etag: str
    modified: int
    valid: bool
    active: bool
    document: dict[str, Json] | None
    text: str | None
    problems: list[Problem]
    serving: str | None
    notice: str | None
    owner: NotRequired[Literal["server", "account"]]


class Problem(TypedDict):
    """One thing wrong with a pipeline, and where. Line and column count from 1, within the field's own text. ``facts``
    are what the message names, by what each is: ids of nodes, ports, limits. Whoever says the problem in another
    language fills its sentence from them (the page's ``server.problem.*``). The fact ``reason`` is a word of ours
    for which of several things is meant, where one code stands for several.
    """

    code: str
    message: str
    severity: NotRequired[Literal["error", "warning"]]
    node: NotRequired[str | None]
    field: NotRequired[str | None]
    line: NotRequired[int | None]
    column: NotRequired[int | None]
    facts: NotRequired[dict[str, Json]]


class Version(TypedDict):
    """One kept version. ``time`` is milliseconds since 1970, ``size`` bytes; ``name`` is "" until somebody gives one."""

    number: int
    time: int
    etag: str
    name: str
    size: int


class VersionName(TypedDict):
    """A version's name; "" takes it away."""

    name: str


class VersionState(TypedDict):
    """A kept version with its document. ``time`` is milliseconds since 1970, ``size`` bytes."""

    number: int
    time: int
    etag: str
    name: str
    size: int
    document: dict[str, Json]
