"""What the server speaks of: editor, editor."""

from __future__ import annotations

from typing import Literal, TypedDict

from agentui.sdk.endpoints import Json


class ContextNames(TypedDict):
    """What templates complete to: the first names of ``[[VAR:...]]``, paths below them that every request has, and the
    filters of ``{{ path|filter }}`` with the most arguments that each takes.
    """

    names: list[str]
    paths: list[str]
    filters: dict[str, int]


class NodeType(TypedDict):
    """One node type. ``schema`` is the JSON Schema of its configuration, with ``ui`` hints. ``ports_from`` is the path
    in a configuration of the names of further ports, null for none. ``error_port``: it has one for failures;
    ``ends_run``: the run is over once it has answered; ``holds_body``: other nodes stand in it.
    """

    type: str
    title: str
    category: str
    icon: str
    help: str
    ports: list[str]
    ports_from: str | None
    error_port: bool
    ends_run: bool
    holds_body: bool
    calls_upstream: bool
    summary: str
    schema: dict[str, Json]
    defaults: dict[str, Json]


class SettingsState(TypedDict):
    """The settings in effect but for the secret ones, and what the server complains of. Where ``auth_mode`` is not
    ``off`` the callers are different people, and ``GET /auth/me`` says who asks. ``keeps_usage`` tells whether
    calls to models are written into the ledger.
    """

    version: str
    has_token: bool
    auth_mode: Literal["off", "api_key", "jwt"]
    account_mode: Literal["single", "multi"]
    keeps_usage: bool
    settings: dict[str, Json]
    complaints: list[str]


class Template(TypedDict):
    """A pipeline to begin from. Where the gallery's folder is the one that is served, it is as it was last saved
    there.
    """

    id: str
    name: str
    description: str
    document: dict[str, Json]
