"""Facts about this server that the editor draws with: node types, the gallery, settings, and the names that templates know."""

import asyncio
from pathlib import Path

from aiohttp import web

from agentui import __version__
from agentui.api.keys import CATALOG, PIPELINES, PRESETS
from agentui.documents.document import parse_document
from agentui.errors import Problem
from agentui.http.keys import PRINCIPAL, SETTINGS
from agentui.http.route import Route, answer
from agentui.jsonio import Json
from agentui.pipeline.context import CONTEXT_NAMES, context_paths
from agentui.schemas.editor import ContextNames, NodeType, SettingsState, Template
from agentui.settings import Settings
from agentui.shipped import shipped
from agentui.templating.hadtavern.filters import FILTERS

GALLERY = shipped("pipelines")
SHIPPED = (
    "default",
    "chat",
    "director",
    "verifier",
    "system-prompt",
    "raw-forward",
    "local-model",
    "openai-to-claude",
    "openai-to-gemini",
    "translate-then-answer",
    "two-models-merge",
    "fallback-three-providers",
    "router-by-intent",
    "cheap-then-strong",
    "self-critique",
    "best-of-three",
    "translate-in-and-out",
    "summarize-long-chat",
    "guard-before-answer",
    "rules-before-a-pipeline",
    "mask-answer",
    "tool-agent",
    "answer-with-wikipedia",
    "extract-with-repair",
    "memory-keeper",
    "two-characters",
    "story-with-chance",
    "template-openai",
    "gold",
    "demo",
)
"""What ships, the simplest first. The folder itself cannot tell: in a checkout it is also where people's own pipelines are."""

_SECRET_SETTINGS = frozenset({"token", "secret_key"})


async def list_node_types(request: web.Request) -> web.Response:
    """List the node types with their forms and their help."""
    listed = answer(request.app[CATALOG].describe())
    listed.enable_compression()  # every visit begins with it
    return listed


async def list_templates(request: web.Request) -> web.Response:
    """List the pipelines that ship with agentui, each with its document."""
    return answer(await asyncio.to_thread(read_gallery, GALLERY))


def read_gallery(folder: Path) -> list[Template]:
    """The shipped pipelines in this folder; one that is not there, or can no longer be read, is left out."""
    found = []
    for id in SHIPPED:
        try:
            document = parse_document((folder / f"{id}.json").read_bytes())
        except OSError:
            continue
        if not isinstance(document, Problem):
            found.append(Template(id, _text(document, "name") or id, _text(document, "description"), document))
    return found


def _text(document: dict[str, Json], field: str) -> str:
    value = document.get(field)
    return value if isinstance(value, str) else ""


async def get_settings(request: web.Request) -> web.Response:
    """Read the version, how people get in and, for admins, the settings in effect, the secret ones left out."""
    settings, is_admin = request.app[SETTINGS], request[PRINCIPAL].role == "admin"
    return answer(
        SettingsState(
            version=__version__,
            has_token=settings.token is not None,
            auth_mode=settings.auth_mode,
            account_mode=settings.account_mode,
            keeps_usage=settings.keeps_usage,
            settings=public_settings(settings) if is_admin else {},
            complaints=[*request.app[PIPELINES].complaints, *request.app[PRESETS].complaints] if is_admin else [],
        )
    )


def public_settings(settings: Settings) -> dict[str, Json]:
    """The settings that may be shown."""
    shown: dict[str, Json] = settings.model_dump(mode="json", exclude=set(_SECRET_SETTINGS))
    return shown


async def get_context_names(request: web.Request) -> web.Response:
    """List the names that every template can read, and the filters that it can use."""
    filters = {"default": 1, **{name: each.most for name, each in FILTERS.items()}}
    return answer(ContextNames(list(CONTEXT_NAMES), context_paths(), filters))


ROUTES = (
    Route("GET", "/api/templates", list_templates, answer=list[Template]),
    Route("GET", "/api/node-types", list_node_types, answer=list[NodeType]),
    Route("GET", "/api/settings", get_settings, answer=SettingsState),
    Route("GET", "/api/context-names", get_context_names, answer=ContextNames),
)
