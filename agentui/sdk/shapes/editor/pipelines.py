"""What the server speaks of: editor, pipelines."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.editor.common import Problem


class FieldTrace(TypedDict):
    """Where the pieces of one rendered field came from; ``pointer`` is the place within a JSON body, null in a text."""

    field: str
    pointer: str | None
    segments: list[Segment]


class NewId(TypedDict):
    """The id that a document gets."""

    id: str


class Preview(TypedDict):
    """What the node would send or set, secrets replaced. ``bytes`` is the size of the body, ``tokens`` about how many
    a model would read (null where none would, or nobody can tell). ``warnings`` are sentences, ``missing`` the
    nodes before it whose results are not known, ``empty`` the macros that inserted nothing, each as ``{"field",
    "macro"}``.
    """

    preview: Json
    bytes: int
    tokens: int | None
    warnings: list[str]
    missing: list[str]
    empty: list[dict[str, str]]
    trace: list[FieldTrace]


class PreviewRequest(TypedDict):
    """Which node of which pipeline, for which request. Name a saved ``pipeline`` or give a ``document``; without
    either the run's own pipeline is meant, else the one that the request would choose. Give a ``request`` or the
    ``run_id`` of a run to take it (and the results of its nodes) from. ``out`` are results of nodes by id, ``vars``
    variables of the run.
    """

    node: str
    pipeline: NotRequired[str | None]
    document: NotRequired[dict[str, Json] | None]
    request: NotRequired[SampleRequest | None]
    run_id: NotRequired[str | None]
    out: NotRequired[dict[str, Json]]
    vars: NotRequired[dict[str, Json]]


class SampleRequest(TypedDict):
    """A caller's request. ``body`` is JSON; ``query`` is the text behind ``?``, or its parameters."""

    method: NotRequired[str]
    path: NotRequired[str]
    query: NotRequired[str | dict[str, str]]
    headers: NotRequired[dict[str, str]]
    body: NotRequired[Json]


class Segment(TypedDict):
    """A piece of a rendering: the text, and the source of the macro that it came from (None: the template's own text)."""

    text: str
    macro: str | None


class TryRequest(TypedDict):
    """Which pipeline to run on which request. Name a saved ``pipeline`` or give a ``document`` (with both, the
    document runs under the pipeline's id); without either the pipeline is meant that the request would choose, or
    that the run was of. Give a ``request``, or the ``run_id`` of a run to answer its request once more, without its
    caller's keys; ``headers`` then hold a key of your own. ``pins`` are OUT by node id. ``session`` and ``branch``
    stand for the headers ``x-agentui-session`` and ``x-agentui-branch``; a run's request joins its chat again only
    if they say so.
    """

    pipeline: NotRequired[str | None]
    document: NotRequired[dict[str, Json] | None]
    request: NotRequired[SampleRequest | None]
    run_id: NotRequired[str | None]
    headers: NotRequired[dict[str, str]]
    pins: NotRequired[dict[str, Json]]
    session: NotRequired[str | None]
    branch: NotRequired[str | None]


class ValidateRequest(TypedDict):
    """A pipeline document, of any shape, and the id under which it would be saved: pipelines that it calls may call
    that.
    """

    document: dict[str, Json]
    pipeline: NotRequired[str | None]


class Verdict(TypedDict):
    """What is wrong with a document and, where nothing is, what it means. ``reads`` names for each node those whose
    OUT it reads, ``order`` the nodes in an order of running. ``hosts`` are where keys would be sent: hosts of
    literal addresses; an address with macros as its own text.
    """

    valid: bool
    problems: list[Problem]
    reads: dict[str, list[str]]
    order: list[str]
    hosts: list[str]
