"""The shapes of the editor's API but for runs, checks and previews, which show the pipeline's own."""

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from agentui.documents.versions import MAX_VERSION_NAME
from agentui.errors import Problem
from agentui.jsonio import Json


class StrictForm(BaseModel):
    """A body whose fields are all known and of exactly their types."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


Owner: TypeAlias = Literal["server", "account"]
"""Whose a document or a key is: the server's, which who may edit changes, or the caller's own."""


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A document in a list. ``modified`` is milliseconds since 1970."""

    id: str
    name: str
    description: str
    etag: str
    valid: bool
    active: bool
    problem_count: int
    modified: int
    owner: Owner = "server"


@dataclass(frozen=True, slots=True)
class DocumentState:
    """A document and how it fares.

    ``document`` is null where the file is no JSON object; ``text`` is then what stands in it. ``serving`` is the ETag of
    the version that serves, which is an earlier one while this one has problems; ``notice`` says so in a sentence.
    """

    id: str
    etag: str
    modified: int
    valid: bool
    active: bool
    document: dict[str, Json] | None
    text: str | None
    problems: tuple[Problem, ...]
    serving: str | None
    notice: str | None
    owner: Owner = "server"


@dataclass(frozen=True, slots=True)
class VersionState:
    """A kept version with its document. ``time`` is milliseconds since 1970, ``size`` bytes."""

    number: int
    time: int
    etag: str
    name: str
    size: int
    document: dict[str, Json]


class VersionName(StrictForm):
    """A version's name; "" takes it away."""

    name: str = Field(max_length=MAX_VERSION_NAME)


class NewId(StrictForm):
    """The id that a document gets."""

    id: str


@dataclass(frozen=True, slots=True)
class NodeType:
    """One node type. ``schema`` is the JSON Schema of its configuration, with ``ui`` hints.

    ``ports_from`` is the path in a configuration of the names of further ports, null for none. ``error_port``: it has one for
    failures; ``ends_run``: the run is over once it has answered; ``holds_body``: other nodes stand in it.
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


@dataclass(frozen=True, slots=True)
class Template:
    """A pipeline to begin from. Where the gallery's folder is the one that is served, it is as it was last saved there."""

    id: str
    name: str
    description: str
    document: dict[str, Json]


@dataclass(frozen=True, slots=True)
class SettingsState:
    """The settings in effect but for the secret ones, and what the server complains of. Where ``auth_mode`` is not ``off`` the
    callers are different people, and ``GET /auth/me`` says who asks.
    ``keeps_usage`` tells whether calls to models are written into the ledger."""

    version: str
    has_token: bool
    auth_mode: Literal["off", "api_key", "jwt"]
    account_mode: Literal["single", "multi"]
    keeps_usage: bool
    settings: dict[str, Json]
    complaints: list[str]


@dataclass(frozen=True, slots=True)
class SecretLine:
    """A provider key by its name: where it is kept, and where it may be sent (null: anywhere)."""

    name: str
    source: Literal["environment", "store", "account"]
    origins: list[str] | None


class NewSecret(StrictForm):
    """A provider key to store. Without ``origins`` it is bound to those that are known for its name."""

    value: str = Field(min_length=1, max_length=20_000)
    origins: list[str] | None = None


@dataclass(frozen=True, slots=True)
class RuleLine:
    """
    A skill rule: what it is and when it is of use, whether every system prompt holds it, and whether it comes with the
    server. A file that is no rule has a problem.
    """

    group: str
    name: str
    desc: str
    when: str
    always_load: bool
    shipped: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class RuleText:
    """A skill rule as its file holds it, with the hash that ``If-Match`` takes."""

    group: str
    name: str
    text: str
    version: str
    shipped: bool


class NewRule(StrictForm):
    """A skill rule's file: fields between two lines of ---, then the rule in Markdown."""

    text: str = Field(min_length=1, max_length=256 * 1024)


@dataclass(frozen=True, slots=True)
class SecretUse:
    """The ids of the pipelines and presets that name a key."""

    name: str
    pipelines: list[str] = field(default_factory=list)
    presets: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ContextNames:
    """
    What templates complete to: the first names of ``[[VAR:...]]``, paths below them that every request has, and the filters of
    ``{{ path|filter }}`` with the most arguments that each takes.
    """

    names: list[str]
    paths: list[str]
    filters: dict[str, int]


class ModelsRequest(StrictForm):
    """Whose models are listed: the fields of a ProviderCall that say where it calls, templates and ``[[SECRET:name]]`` too."""

    provider: str
    base_url: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    proxy: str = ""


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model of a provider's list; ``display_name`` is null where it says none."""

    id: str
    display_name: str | None


class ValidateRequest(StrictForm):
    """A pipeline document, of any shape, and the id under which it would be saved: pipelines that it calls may call that."""

    document: dict[str, Any]
    pipeline: str | None = None


class SampleRequest(StrictForm):
    """A caller's request. ``body`` is JSON; ``query`` is the text behind ``?``, or its parameters."""

    method: str = Field("POST", pattern="^[A-Z]{1,20}$")
    path: str = Field("/v1/chat/completions", pattern="^/")
    query: str | dict[str, str] = ""
    headers: dict[str, str] = Field(default_factory=dict)
    body: Any = None


class PreviewRequest(StrictForm):
    """Which node of which pipeline, for which request.

    Name a saved ``pipeline`` or give a ``document``; without either the run's own pipeline is meant, else the one that the
    request would choose. Give a ``request`` or the ``run_id`` of a run to take it (and the results of its nodes) from.
    ``out`` are results of nodes by id, ``vars`` variables of the run.
    """

    node: str
    pipeline: str | None = None
    document: dict[str, Any] | None = None
    request: SampleRequest | None = None
    run_id: str | None = None
    out: dict[str, Any] = Field(default_factory=dict)
    vars: dict[str, Any] = Field(default_factory=dict)


class TryRequest(StrictForm):
    """Which pipeline to run on which request.

    Name a saved ``pipeline`` or give a ``document`` (with both, the document runs under the pipeline's id); without either
    the pipeline is meant that the request would choose, or that the run was of. Give a ``request``, or the ``run_id`` of a run
    to answer its request once more, without its caller's keys; ``headers`` then hold a key of your own. ``pins`` are OUT by
    node id. ``session`` and ``branch`` stand for the headers ``x-agentui-session`` and ``x-agentui-branch``; a run's request
    joins its chat again only if they say so.
    """

    pipeline: str | None = None
    document: dict[str, Any] | None = None
    request: SampleRequest | None = None
    run_id: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    pins: dict[str, Any] = Field(default_factory=dict)
    session: str | None = None
    branch: str | None = None
